"""Opening a database file, with each setting's reason, and turning SQLite's exceptions into ours, once.

One connection writes. Readers have a connection per thread (``Readers``): in WAL mode they never wait for the writer
and never hold it up.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unicodedata import normalize
from weakref import WeakSet

import apsw
import sqlite_vec

from vaultrag.errors import StoreCorrupt, StoreError, StoreFull

_PRAGMAS = (
    # Two processes meet here only in a hand-over between daemons; waiting is right, failing at once is not. First of
    # all, because even the next line may have to wait.
    "PRAGMA busy_timeout = 5000",
    # Readers go on while one connection writes, and a crash at any moment leaves a whole file.
    "PRAGMA journal_mode = WAL",
    # A power cut may cost the last commit, never the file; what is lost is read from the notes again.
    "PRAGMA synchronous = NORMAL",
    # Vector rows are read at random places: through a map that is ten times faster than through read calls.
    "PRAGMA mmap_size = 1073741824",
    # Sorting a long result list must not go through files.
    "PRAGMA temp_store = MEMORY",
    # 8 MB of pages a connection: the upper levels of every tree.
    "PRAGMA cache_size = -8000",
    # Reset the log at 8 MB, so that it does not keep the size of the first index run for ever.
    "PRAGMA journal_size_limit = 8388608",
)

_damaged: set[Path] = set()
"""Files that proved damaged in this process: none of them is ever marked as closed well."""


def connect(path: Path, *, readonly: bool = False) -> apsw.Connection:
    """Open a database file with sqlite-vec loaded.

    Raises:
        StoreError, StoreCorrupt, StoreFull
    """
    with translating(path):
        flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = apsw.Connection(str(path), flags=flags)
        try:
            for pragma in _PRAGMAS:
                if not (readonly and "journal_" in pragma):
                    connection.execute(pragma).fetchall()
            connection.enable_load_extension(True)
            connection.load_extension(sqlite_vec.loadable_path())
            connection.enable_load_extension(False)
            # SQLite's own lower() knows ASCII only. No table or index depends on this function.
            connection.create_scalar_function("casefold", _casefold, 1, deterministic=True)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def translating(path: Path) -> Iterator[None]:
    """Turn an apsw exception into a ``StoreError`` that names the file and what to do."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise corrupt(path, str(error)) from error
    except (apsw.FullError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.IOError) as error:
        raise StoreFull(
            f"{path.name} cannot be written: {error}",
            hint=f"make room, or make {path.parent} writable; the notes themselves are not touched",
            path=str(path),
        ) from error
    except apsw.Error as error:
        raise StoreError(f"{path.name}: {error}", path=str(path)) from error


def corrupt(path: Path, why: str) -> StoreCorrupt:
    """The fault of a damaged file; it is checked, set aside and built again at the next start."""
    _damaged.add(path)
    return StoreCorrupt(f"{path.name} is damaged: {why}", hint="vaultrag stop && vaultrag up", path=str(path))


@contextmanager
def writing(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    """One transaction. It takes the write lock at once: a lock that is asked for half-way may be refused."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):  # SQLite has rolled back by itself after some errors
            connection.execute("ROLLBACK")
        raise


def mark_open(connection: apsw.Connection, path: Path) -> None:
    """The file is in use: should the process die, its next start looks at the file before trusting it."""
    with translating(path):
        connection.execute("DELETE FROM meta WHERE key = 'clean'")


def mark_clean(connection: apsw.Connection, path: Path) -> None:
    """The file is about to be closed in good order, so that the next start need not look through all of it."""
    if path not in _damaged:
        with suppress(apsw.Error):
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('clean', '1')")


def check(path: Path) -> None:
    """Look at the file's structure, thoroughly unless it was closed well.

    Raises:
        StoreCorrupt
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    connection = connect(path)
    try:
        with translating(path):
            if _closed_well(connection, path):
                return
            found = scalar(connection, "PRAGMA quick_check(1)")
            if found != "ok":
                raise corrupt(path, str(found))
    finally:
        connection.close()
    _damaged.discard(path)


def _closed_well(connection: apsw.Connection, path: Path) -> bool:
    if path in _damaged or not scalar(connection, "SELECT count(*) FROM sqlite_master WHERE name = 'meta'"):
        return False
    if scalar(connection, "SELECT value FROM meta WHERE key = 'clean'") != "1":
        return False
    # A copy that was cut short says so by its size.
    pages, size = scalar(connection, "PRAGMA page_count"), scalar(connection, "PRAGMA page_size")
    return int(pages) * int(size) <= path.stat().st_size


def forget_damage(path: Path) -> None:
    """Another file stands at this path now."""
    _damaged.discard(path)


def _casefold(*texts: Any) -> str | None:
    return normalize("NFC", str(texts[0])).casefold() if texts[0] is not None else None


class Readers:
    """Read-only connections to one file, one a thread, opened when first asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        # Weak: the connection of a thread that has ended goes with it.
        self._all: WeakSet[apsw.Connection] = WeakSet()
        self._lock = threading.Lock()
        self._closed = False

    def get(self) -> apsw.Connection:
        """This thread's connection."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self._path, readonly=True)
            with self._lock:
                if self._closed:
                    connection.close()
                    raise StoreError(f"{self._path.name} is closed")
                self._all.add(connection)
            self._local.connection = connection
        return connection

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """This thread's connection, inside one snapshot: all that is read belongs together."""
        connection = self.get()
        with translating(self._path):
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    def close(self) -> None:
        with self._lock:
            self._closed = True
            connections, self._all = list(self._all), WeakSet()
        for connection in connections:
            connection.close()


def rows(connection: apsw.Connection, sql: str, bindings: Any = ()) -> list[Any]:
    """All rows of a statement."""
    return connection.execute(sql, bindings).fetchall()


def scalar(connection: apsw.Connection, sql: str, bindings: Any = ()) -> Any:
    """The first column of the first row, or None."""
    return connection.execute(sql, bindings).get
