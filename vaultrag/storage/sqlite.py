"""Opening a database file, with each setting's reason, and turning SQLite's exceptions into ours, once.

One connection writes. Readers have a connection per thread (``Readers``): in WAL mode they never wait for the writer
and never hold it up.
"""

from __future__ import annotations

import json
import re
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

import apsw
import msgspec

from vaultrag.errors import StoreCorrupt, StoreError, StoreFull
from vaultrag.storage.integrity import senseless
from vaultrag.storage.notes.property_match import shows

BUSY_S = 5.0

CHECKSUM = "-crc"
"""Suffix of the file that holds a closed database's checksum."""

SUFFIXES = ("-wal", "-shm", CHECKSUM, "")
"""Of all files that belong to one database, itself last."""

_PRAGMAS = (
    # Two processes meet here only in a hand-over between daemons; waiting is right, failing at once is not. First of
    # all, because even the next line may have to wait.
    f"PRAGMA busy_timeout = {int(BUSY_S * 1000)}",
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
    # What is deleted is overwritten with zeros. Writing 10,000 notes takes as long as before, within the noise.
    "PRAGMA secure_delete = ON",
)

# vec0 tells a damaged page and a full disk alike, in words of its own and with no code.
_VEC0_FAULT = re.compile(r"\bblob\b|sqlite-vec error|size doesn't match", re.IGNORECASE)

# No statement of ours has these fail in a sound file: schema and statements are fixed, and rows are written whole.
_SENSELESS = re.compile(
    r"malformed|no such table|has no column|vtable constructor|fts5 file format|constraint failed|not supported for"
    r"|internal error|unexpected|vec0 error|could not initialize|mismatch",
    re.IGNORECASE,
)


class InvalidRow(Exception):
    """Stored bytes that no reader can make sense of. ``translating`` turns it into ``StoreCorrupt``."""


_damaged: dict[Path, str] = {}
"""Files that proved damaged in this process, and how: none of them is marked as closed well, or opened again."""

_listeners: dict[Path, Callable[[], None]] = {}
"""Who is told, by folder, when a file proves damaged in use."""


def connect(path: Path, *, readonly: bool = False, in_use: bool = False, with_vectors: bool = True) -> apsw.Connection:
    """Open a database file.

    Args:
        in_use: Others have it open, and found it sound; see ``translating``.
        with_vectors: Load sqlite-vec. The index of notes does not need it, and must open where it cannot be loaded.

    Raises:
        StoreError, StoreCorrupt, StoreFull
    """
    with translating(path, in_use=in_use):
        flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = apsw.Connection(str(path), flags=flags)
        try:
            for pragma in _PRAGMAS:
                if not (readonly and "journal_" in pragma):
                    _set(connection, pragma)
            if with_vectors:
                _load_sqlite_vec(connection)
            # SQLite's own lower() knows ASCII only, and no links. No table or index depends on this function.
            connection.create_scalar_function("shows", _shows, 2, deterministic=True)
        except BaseException:
            connection.close()
            raise
        return connection


def _load_sqlite_vec(connection: apsw.Connection) -> None:
    try:
        import sqlite_vec  # here, so that words are served without it

        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
    except (ImportError, apsw.ExtensionLoadingError, AttributeError) as error:
        raise StoreError(
            f"the library sqlite-vec cannot be loaded, so there is no search by meaning: {error}",
            hint="pip install --force-reinstall apsw 'sqlite-vec>=0.1.9,<0.1.10'",
        ) from error


def _set(connection: apsw.Connection, pragma: str) -> None:
    """Make a setting; patiently, for SQLite does not wait by itself when several change a new file to WAL at once."""
    until = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute(pragma).fetchall()
            return
        except apsw.BusyError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


_PROOFS = (
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.TooBigError,
    apsw.ConstraintError,
    apsw.MismatchError,
    UnicodeDecodeError,
    json.JSONDecodeError,
    msgspec.DecodeError,
    InvalidRow,
)
"""What only a damaged file raises."""


def _proof(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "text in it is not UTF-8"
    if isinstance(error, json.JSONDecodeError | msgspec.DecodeError):
        return "JSON in it cannot be read"
    return str(error)


@contextmanager
def translating(path: Path, *, in_use: bool = True) -> Iterator[None]:
    """Turn an apsw exception into a ``StoreError`` that names the file and what to do.

    Args:
        in_use: The file was opened before, and found sound; False while it is being opened, when damage is mended by
            whoever opens it.
    """
    try:
        yield
    except _PROOFS as error:
        raise corrupt(path, _proof(error), in_use=in_use) from error
    except (apsw.FullError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.IOError) as error:
        raise _full(path, error) from error
    except apsw.Error as error:
        if _SENSELESS.search(str(error)):
            raise corrupt(path, str(error), in_use=in_use) from error
        if _VEC0_FAULT.search(str(error)):
            if damage := _damage(path):
                raise corrupt(path, damage, in_use=in_use) from error
            if "write" in str(error):
                raise _full(path, error) from error
        raise StoreError(f"{path.name}: {error}", path=str(path)) from error
    except (TypeError, ValueError, OverflowError, LookupError, AttributeError) as error:
        # A caller's mistake, or a value of a kind that is never stored: the file itself knows.
        if not isinstance(error, UnicodeEncodeError) and (damage := _damage(path)):
            raise corrupt(path, damage, in_use=in_use) from error
        raise


def _full(path: Path, error: apsw.Error) -> StoreFull:
    if path.is_dir():
        return StoreFull(
            f"{path.name} cannot be opened: a folder stands in its place",
            hint=f"move {path} away; the file is made again from the notes",
            path=str(path),
        )
    return StoreFull(
        f"{path.name} cannot be written: {error}",
        hint=f"make room, or make {path.parent} writable; the notes themselves are not touched",
        path=str(path),
    )


def _damage(path: Path) -> str:
    """Return what a look through the file finds wrong with its structure; empty when nothing is."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            found = str(scalar(connection, "PRAGMA quick_check(1)"))
            if found == "ok":
                found = senseless(connection) or found
        finally:
            connection.close()
    except UnicodeDecodeError:
        return "text in it is not UTF-8"
    except apsw.Error as error:
        return str(error) if isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.TooBigError) else ""
    return "" if found == "ok" else found


def corrupt(path: Path, why: str, *, in_use: bool = True) -> StoreCorrupt:
    """Return the fault of a damaged file, to be raised; it is set aside and built again when it is next opened."""
    _damaged[path] = why
    if in_use and (listener := _listeners.pop(path.parent, None)):
        listener()
    return StoreCorrupt(
        f"{path.name} is damaged: {why}",
        hint="vaultrag status (it is built again; the notes themselves are safe)",
        path=str(path),
    )


def listen(folder: Path, listener: Callable[[], None] | None) -> None:
    """Have it called, once and in any thread, when a file of this folder proves damaged in use; None: no longer."""
    if listener is None:
        _listeners.pop(folder, None)
    else:
        _listeners[folder] = listener


def inode(path: Path) -> int:
    """Of a file that was just opened."""
    return path.stat().st_ino


def in_place(path: Path, expected: int) -> None:
    """Find out whether the file that is open is still the one at its path. SQLite goes on writing to one that is not.

    Raises:
        StoreCorrupt
    """
    try:
        found = inode(path)
    except OSError:
        found = -1
    if found != expected:
        raise corrupt(path, "it was removed or replaced while it was in use")


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
    """Mark the file as in use: after a crash the next start checks it before trusting it."""
    with translating(path, in_use=False):
        connection.execute("DELETE FROM meta WHERE key = 'clean'")


def close_clean(connection: apsw.Connection, path: Path) -> None:
    """Close the last connection in good order, and keep the file's checksum beside it.

    The next start compares the checksum, so that no byte that changes meanwhile goes unseen.
    """
    clean, version = path not in _damaged, ""
    if clean:
        with suppress(apsw.Error):
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('clean', '1')")
            version = str(scalar(connection, "PRAGMA user_version"))
    connection.close()
    beside = path.with_name(path.name + CHECKSUM)
    with suppress(OSError):
        beside.unlink(missing_ok=True)
        if clean and not path.with_name(path.name + "-wal").exists():
            beside.write_text(f"{_file_checksum(path)} {version}")
            beside.chmod(0o600)


def _file_checksum(path: Path) -> str:
    value = 0
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            value = zlib.crc32(chunk, value)
    return f"{value:08x}"


def check(path: Path, *, with_vectors: bool = True) -> None:
    """Look at the file's structure, thoroughly unless it was closed well.

    Args:
        with_vectors: See ``connect``.

    Raises:
        StoreCorrupt
    """
    if path in _damaged:  # what was seen in use, a check may well overlook
        raise corrupt(path, _damaged[path], in_use=False)
    if not path.exists() or path.stat().st_size == 0:
        return
    connection = connect(path, with_vectors=with_vectors)
    try:
        with translating(path, in_use=False):
            if _closed_well(connection, path):
                if not _changed(connection, path):
                    return
                # Vectors have a checksum each, and cost the model: the sound ones of a file from a backup are kept.
                if not with_vectors:
                    raise corrupt(path, "its checksum is not what it was when it was closed", in_use=False)
            found = scalar(connection, "PRAGMA quick_check(1)")
            if found != "ok":
                raise corrupt(path, str(found), in_use=False)
    finally:
        connection.close()


def _changed(connection: apsw.Connection, path: Path) -> bool:
    """Return whether a file that was closed well is no longer what it was; False without a checksum of it.

    A file of another version was written by another vaultrag, which may not know of checksums.
    """
    try:
        value, _, version = path.with_name(path.name + CHECKSUM).read_text().partition(" ")
    except (OSError, UnicodeDecodeError):
        return False
    return version == str(scalar(connection, "PRAGMA user_version")) and value != _file_checksum(path)


def _closed_well(connection: apsw.Connection, path: Path) -> bool:
    if not scalar(connection, "SELECT count(*) FROM sqlite_master WHERE name = 'meta'"):
        return False
    if scalar(connection, "SELECT value FROM meta WHERE key = 'clean'") != "1":
        return False
    # A copy that was cut short says so by its size.
    pages, size = scalar(connection, "PRAGMA page_count"), scalar(connection, "PRAGMA page_size")
    return int(pages) * int(size) <= path.stat().st_size


def forget_damage(path: Path) -> None:
    """Another file stands at this path now."""
    _damaged.pop(path, None)


def _shows(*texts: Any) -> bool:
    return texts[0] is not None and shows(str(texts[0]), str(texts[1]))


class Readers:
    """Read-only connections to one file, one a thread, opened when first asked for."""

    def __init__(self, path: Path, *, with_vectors: bool = True) -> None:
        """Open connections to this file as threads need them.

        Args:
            with_vectors: See ``connect``.
        """
        self._path = path
        self._with_vectors = with_vectors
        self._local = threading.local()
        # Weak: the connection of a thread that has ended goes with it.
        self._all: WeakSet[apsw.Connection] = WeakSet()
        self._lock = threading.Lock()
        self._closed = False

    def get(self) -> apsw.Connection:
        """Return this thread's connection."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            if not self._closed and not self._path.exists():
                raise corrupt(self._path, "it was removed while it was in use")
            connection = connect(self._path, readonly=True, in_use=True, with_vectors=self._with_vectors)
            with self._lock:
                if self._closed:
                    connection.close()
                    raise StoreError(f"{self._path.name} is closed")
                self._all.add(connection)
            self._local.connection = connection
        return connection

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Open this thread's connection in a snapshot: all that is read belongs together."""
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
            with suppress(apsw.ThreadingViolationError):  # its thread is in the middle of something, and drops it then
                connection.close()


def rows(connection: apsw.Connection, sql: str, bindings: Any = ()) -> list[Any]:
    """All rows of a statement."""
    return connection.execute(sql, bindings).fetchall()


def scalar(connection: apsw.Connection, sql: str, bindings: Any = ()) -> Any:
    """Return the first column of the first row, or None."""
    return connection.execute(sql, bindings).get
