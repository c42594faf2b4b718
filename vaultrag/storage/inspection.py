"""Looking at a vault's two files without a daemon and without changing them: whether they are sound, what they say.

A file is opened for reading only. That a daemon has it open at the same time does no harm to either.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from vaultrag.domain import HeldVector, Identity, NoteId, NotePath, Skipped
from vaultrag.errors import StoreError
from vaultrag.storage.folder import NOTES_FILE, VECTORS_FILE
from vaultrag.storage.notes.note_index import problems_in, skipped_in
from vaultrag.storage.schema import NOTE_STEPS, VECTOR_STEPS
from vaultrag.storage.sqlite import Readers, connect, corrupt, scalar, translating
from vaultrag.storage.vectors.vector_rows import holding, identity_in

__all__ = ["NOTES_FILE", "VECTORS_FILE", "SqliteInfo", "Inspection", "NotesFile", "VectorsFile", "look", "try_engine"]


@dataclass(frozen=True, slots=True)
class SqliteInfo:
    """The database as it is installed: versions of SQLite, its binding and sqlite-vec."""

    sqlite: str
    apsw: str
    vec: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """A file that was read through and found sound.

    Attributes:
        rows: Notes, or vectors.
        schema: Its version; ``newest`` is the one that this vaultrag writes.
        identity: Of the vectors; None for the file of notes, or one never filled.
    """

    rows: int
    schema: int
    newest: int
    bytes: int
    identity: Identity | None = None


def try_engine() -> SqliteInfo:
    """Load sqlite-vec and use it, and the full-text table.

    A package that can be imported may still hold a library for another machine.

    Raises:
        StoreError
    """
    memory = Path(":memory:")
    try:
        with contextlib.closing(connect(memory)) as connection, translating(memory):
            connection.execute("CREATE VIRTUAL TABLE words USING fts5 (body)")
            connection.execute("INSERT INTO words VALUES ('the mechanical seal')")
            found = scalar(connection, "SELECT count(*) FROM words WHERE words MATCH 'seal'")
            connection.execute("CREATE VIRTUAL TABLE near USING vec0 (embedding float[4] distance_metric=cosine)")
            connection.execute("INSERT INTO near (rowid, embedding) VALUES (7, '[1, 0, 0, 0]'), (8, '[0, 1, 0, 0]')")
            nearest = scalar(connection, "SELECT rowid FROM near WHERE embedding MATCH '[0.9, 0.1, 0, 0]' AND k = 1")
            if (found, nearest) != (1, 7):
                raise StoreError("full-text and vector search do not find what was just stored")
            return SqliteInfo(
                apsw.sqlite_lib_version(), apsw.apsw_version(), str(scalar(connection, "SELECT vec_version()"))
            )
    except StoreError as error:
        raise StoreError(
            f"the database engine does not work here: {error.message}",
            hint="pip install --force-reinstall apsw 'sqlite-vec>=0.1.9,<0.1.10'",
        ) from error


def look(path: Path) -> Inspection | None:
    """Read a file through; None where there is none.

    Raises:
        StoreCorrupt: It is damaged, with what is wrong.
        StoreError
    """
    if not path.exists():
        return None
    notes = path.name == NOTES_FILE
    with (
        contextlib.closing(connect(path, readonly=True, with_vectors=not notes)) as connection,
        translating(path, in_use=False),
    ):
        said = str(scalar(connection, "PRAGMA quick_check(1)"))
        if said != "ok":
            raise corrupt(path, said, in_use=False)
        schema = int(scalar(connection, "PRAGMA user_version"))
        newest = len(NOTE_STEPS if notes else VECTOR_STEPS)
        count = f"SELECT count(*) FROM {'notes' if notes else 'vector_notes'}"
        return Inspection(
            rows=int(scalar(connection, count)) if schema else 0,
            schema=schema,
            newest=newest,
            bytes=size_of(path),
            identity=None if notes or schema > newest else identity_in(connection, path),
        )


def size_of(path: Path) -> int:
    """Return the bytes that a database takes: its file, and the write-ahead log beside it, which may be the larger."""
    parts = (path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm"))
    return sum(part.stat().st_size for part in parts if part.exists())


class NotesFile:
    """``hybrid-fts.db`` for reading only, under an index that nobody writes to."""

    def __init__(self, folder: Path) -> None:
        """Open a file for reading.

        Args:
            folder: The vault's own, in the data folder.
        """
        self.readers = Readers(folder / NOTES_FILE, with_vectors=False)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[tuple[apsw.Connection, int | None]]:
        """See ``NoteIndex.snapshot``; what others write is not counted here."""
        with self.readers.reading() as connection:
            yield connection, None

    def skipped(self) -> dict[NotePath, Skipped]:
        with self.readers.reading() as connection:
            return skipped_in(connection)

    def problems(self) -> list[Skipped]:
        with self.readers.reading() as connection:
            return problems_in(connection)

    def text_hash(self, note_id: NoteId) -> str:
        with self.readers.reading() as connection:
            return str(scalar(connection, "SELECT text_hash FROM notes WHERE id = ?", (note_id,)) or "")

    def close(self) -> None:
        self.readers.close()


class VectorsFile:
    """``obsidian_notes.db`` for reading only."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / VECTORS_FILE

    def identity(self) -> Identity | None:
        """Return what the vectors were made with; None where there are none."""
        if not self._path.exists():
            return None
        with self._reading() as connection:
            return identity_in(connection, self._path)

    def holding(self, note_id: NoteId, text_hash: str) -> HeldVector | str | None:
        """Return the note's vector if it is of this text; else why it has none; None where it is to be made."""
        if not self._path.exists():
            return None
        with self._reading() as connection:
            if scalar(connection, "SELECT text_hash FROM vector_notes WHERE note_id = ?", (note_id,)) == text_hash:
                return holding(connection, note_id)
            reason = scalar(connection, "SELECT reason FROM failures WHERE text_hash = ?", (text_hash,))
            return str(reason) if reason else None

    @contextlib.contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        with contextlib.closing(connect(self._path, readonly=True)) as connection, translating(self._path):
            yield connection
