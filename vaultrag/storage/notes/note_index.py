"""``hybrid-fts.db``: what notes exist, and every word, name, tag and link in them. It needs no model.

``NoteIndex`` writes, and opens the readers that the arms share. Each call that writes is one transaction: a crash
leaves whole batches.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from vaultrag.domain import IndexedEntry, Note, NoteId, NotePath, NoteValues, Skipped
from vaultrag.markdown.note_dates import DateReader
from vaultrag.storage.integrity import check_sample, disagreement
from vaultrag.storage.lexical.index_delta import GONE, MOST_AT_ONCE, MOST_CHARS_AT_ONCE, IndexDelta
from vaultrag.storage.lexical.postings import Counted, counted
from vaultrag.storage.notes import note_writer
from vaultrag.storage.notes.note_values import path_forms, signed, values_of
from vaultrag.storage.schema import NOTE_STEPS, migrate, renew
from vaultrag.storage.sqlite import (
    InvalidRow,
    Readers,
    close_clean,
    connect,
    in_place,
    inode,
    mark_open,
    rows,
    scalar,
    translating,
    writing,
)

log = logging.getLogger(__name__)

FORGOTTEN = "forgotten"
"""In ``meta``: notes were deleted or changed since the last purge."""

PURGE_S, PURGE_REST = 300.0, 200.0
"""A purge is made when there is nothing else to do: every five minutes at most, and in half a percent of the time."""

MOST_FREE_PAGES = 1_000
"""Of 4 KB. A file with more that are free than taken is written anew, small, at the end of a purge."""

_MOVING = (
    "UPDATE notes SET (path, path_nfc, path_key, size, mtime_ns, inode, ctime_ns, birth_ns)"
    " = (?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?"
)
_ENTRY = "id, path, size, mtime_ns, inode, content_hash, text_hash, ctime_ns"
_IN_SCOPE = "path = ?1 OR (path >= ?1 || '/' AND path < ?1 || '0')"  # "0" follows "/": what lies below, by the index


class NoteIndex:
    """The index of notes and words. Make one with ``open``; one writing thread, any number of readers."""

    def __init__(self, path: Path, writer: apsw.Connection, dates: DateReader) -> None:
        self.path = path
        self._dates = dates
        self.readers = Readers(path, with_vectors=False)
        self._writer = writer
        self._lock = threading.RLock()
        self._closed = False
        self._forgotten = scalar(writer, "SELECT 1 FROM meta WHERE key = ?", (FORGOTTEN,)) is not None
        self._purging, self._purge_at, self._purge_took = False, 0.0, 0.0
        self._purged_stem = ""  # whose forms were looked at last, while a purge is under way
        self._verified = 0
        self._changing: dict[NoteId, Counted] | None = {}  # by the write under way; None for too much
        self._inode = inode(path)
        with translating(path, in_use=False):
            self._untidy = note_writer.needs_merge(writer)
        self.generation = 0
        """Counts the beginnings and the ends of writes, and so is odd while something is written; see ``snapshot``."""
        self.changes = IndexDelta()

    @classmethod
    def open(cls, path: Path, dates: DateReader = DateReader()) -> NoteIndex:  # noqa: B008 - frozen
        """Open or create the file.

        Args:
            path: The file.
            dates: Reads the notes' own dates.

        Raises:
            StoreError: See ``storage.sqlite``.
        """
        writer = connect(path, with_vectors=False)
        try:
            migrate(writer, NOTE_STEPS, path)
            if renew(writer, path, dates.recipe):
                log.info("%s: this version reads notes otherwise than the one before; they are read again", path.name)
            with translating(path, in_use=False):
                note_writer.set_hash_size(writer)
            mark_open(writer, path)
        except BaseException:
            writer.close()
            raise
        return cls(path, writer, dates)

    def close(self) -> None:
        """Close every connection; the write-ahead log is folded into the file."""
        self.readers.close()
        with self._lock:
            if not self._closed:
                self._closed = True
                close_clean(self._writer, self.path)

    @contextmanager
    def snapshot(self) -> Iterator[tuple[apsw.Connection, int | None]]:
        """Open this thread's connection in a snapshot, and yield it with the generation that the snapshot shows.

        What was read in one snapshot may be used in another of the same generation. None where it cannot be said: for
        a snapshot that was begun while something was written, or before this call.
        """
        nested = self.readers.get().in_transaction
        before = self.generation
        with self.readers.reading() as connection:
            rows(connection, "SELECT 1 FROM meta LIMIT 1")  # the snapshot begins with what is read first
            known = not nested and before % 2 == 0 and before == self.generation
            yield connection, before if known else None

    # -- what is known -------------------------------------------------------------------------------------------

    def entries(self, scopes: Sequence[NotePath] = ()) -> dict[NotePath, IndexedEntry]:
        with self._lock, translating(self.path):
            in_place(self.path, self._inode)
            if not scopes or "" in scopes:
                found = rows(self._writer, f"SELECT {_ENTRY} FROM notes ORDER BY id")
            else:
                sql = f"SELECT {_ENTRY} FROM notes WHERE {_IN_SCOPE}"
                found = [row for scope in scopes for row in rows(self._writer, sql, (scope,))]
        return {row[1]: _entry(row) for row in found}

    def entries_of(self, note_ids: Iterable[NoteId]) -> dict[NoteId, IndexedEntry]:
        with self._lock, translating(self.path):
            sql = f"SELECT {_ENTRY} FROM notes WHERE id = ?"
            found = [row for note_id in note_ids for row in rows(self._writer, sql, (note_id,))]
        return {row[0]: _entry(row) for row in found}

    def text_hashes(self) -> dict[NoteId, str]:
        """Return the hash of the embedded text of every note, the most recently changed note first."""
        with self._lock, translating(self.path):
            return dict(rows(self._writer, "SELECT id, text_hash FROM notes ORDER BY mtime_ns DESC"))

    def skipped(self) -> dict[NotePath, Skipped]:
        with self.readers.reading() as connection:
            return skipped_in(connection)

    def problems(self) -> list[Skipped]:
        """Return notes that are indexed but not as their writer meant, with the reason."""
        with self.readers.reading() as connection:
            return problems_in(connection)

    def verify(self) -> None:
        """Compare the tables with each other, and read some rows; each call goes on where the last one ended.

        Raises:
            StoreCorrupt
        """
        with self._lock, translating(self.path):
            why, self._verified = check_sample(self._writer, self._verified)
            if why := disagreement(self._writer) or why:
                raise InvalidRow(why)

    def count(self) -> int:
        with self.readers.reading() as connection:
            return int(scalar(connection, "SELECT count(*) FROM notes"))

    # -- changes -------------------------------------------------------------------------------------------------

    def prepare(self, entry: IndexedEntry, note: Note) -> NoteValues:
        return values_of(entry, note, self._dates)

    def upsert(self, notes: Iterable[NoteValues]) -> list[NoteId]:
        made = list(notes)
        words = self._counted(made)
        with self._writing() as connection:
            ids = note_writer.write(connection, made)
            if any(values.entry.note_id for values in made):
                self._mark_forgotten(connection)
            self._changing = None if words is None else dict(zip(ids, words, strict=True))
        self._untidy = self._untidy or note_writer.merged_later(made)
        return ids

    def merge_segments(self) -> bool:
        if not self._untidy and self._purge_is_due():
            with self._lock, translating(self.path):
                in_place(self.path, self._inode)
                self._purge_step()
            return self._purging
        if self._untidy:
            # No change of the generation: what was read before is as true as after.
            with self._lock, translating(self.path):
                in_place(self.path, self._inode)
                with writing(self._writer) as connection:
                    self._untidy = note_writer.merge_segments(connection)
        return self._untidy

    def _purge_is_due(self) -> bool:
        return self._purging or (self._forgotten and time.monotonic() >= self._purge_at)

    def _purge_step(self) -> None:
        """Take a step; after the last one nothing of what was forgotten is in the file or in its log any more."""
        started = time.monotonic()
        with writing(self._writer) as connection:
            self._purging = self._purge_a_little(connection)
            if not self._purging:
                connection.execute("DELETE FROM meta WHERE key = ?", (FORGOTTEN,))
                self._forgotten = False
        self._purge_took += time.monotonic() - started
        if not self._purging:
            free, pages = (int(scalar(self._writer, f"PRAGMA {name}_count")) for name in ("freelist", "page"))
            if free > MOST_FREE_PAGES and 2 * free > pages:
                self._writer.execute("VACUUM")
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._purge_at = time.monotonic() + max(PURGE_S, PURGE_REST * self._purge_took)
            self._purge_took = 0.0

    def _purge_a_little(self, connection: apsw.Connection) -> bool:
        """Purge the words first, then the forms of words that are gone; whether there is more."""
        if not self._purged_stem and note_writer.purge(connection, begin=not self._purging):
            return True
        self._purged_stem = note_writer.purge_forms(connection, self._purged_stem)
        return bool(self._purged_stem)

    def _mark_forgotten(self, connection: apsw.Connection) -> None:
        """Remember that there is something to purge, also beyond a restart."""
        if not self._forgotten:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", (FORGOTTEN,))
            self._forgotten = True

    def move(self, moves: Iterable[tuple[NoteId, IndexedEntry]]) -> None:
        with self._writing() as connection:
            for note_id, entry in moves:
                stat = (entry.size, entry.mtime_ns, signed(entry.inode), entry.ctime_ns, entry.birth_ns)
                connection.execute(_MOVING, (entry.path, *path_forms(entry.path), *stat, note_id))

    def delete(self, note_ids: Iterable[NoteId]) -> None:
        gone = list(note_ids)
        with self._writing() as connection:
            note_writer.forget(connection, gone)
            self._mark_forgotten(connection)
            connection.executemany("DELETE FROM notes WHERE id = ?", [(note_id,) for note_id in gone])
            self._changing = dict.fromkeys(gone, GONE) if len(gone) <= MOST_AT_ONCE else None

    def set_skipped(self, skipped: Mapping[NotePath, Skipped], scopes: Sequence[NotePath] = ()) -> None:
        places = [] if "" in scopes else scopes
        known = {path: old for path, old in self.skipped().items() if not places or _in_scope(path, places)}
        if known == dict(skipped):
            return  # a look that found nothing new writes nothing
        with self._writing() as connection:
            connection.executemany("DELETE FROM skipped WHERE path = ?", [(path,) for path in known])
            connection.executemany(
                "INSERT OR REPLACE INTO skipped VALUES (?, ?, ?, ?)",
                [(s.path, s.reason, s.size, s.mtime_ns) for s in skipped.values()],
            )

    def _counted(self, notes: Sequence[NoteValues]) -> list[Counted] | None:
        """Return the words of each note, before the write begins; None where there are too many to count."""
        if len(notes) > MOST_AT_ONCE or sum(len(text) for note in notes for text in note.words) > MOST_CHARS_AT_ONCE:
            return None
        with self._lock, translating(self.path):
            return [counted(self._writer, note.words) for note in notes]

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        """One transaction."""
        with self._lock, translating(self.path):
            in_place(self.path, self._inode)
            self.generation += 1
            self._changing = {}
            try:
                with writing(self._writer):
                    yield self._writer
            except BaseException:
                self._changing = None
                raise
            finally:
                # Known before the generation is that shows it.
                if self._changing is None:
                    self.changes.lose(self.generation + 1)
                else:
                    self.changes.add(self.generation + 1, self._changing)
                self.generation += 1


def skipped_in(connection: apsw.Connection) -> dict[NotePath, Skipped]:
    """See ``ports.Census``."""
    found = rows(connection, "SELECT path, reason, size, mtime_ns FROM skipped ORDER BY path")
    return {row[0]: Skipped(*row) for row in found}


def problems_in(connection: apsw.Connection) -> list[Skipped]:
    """See ``ports.Census``."""
    # Sorted by an expression, so that the few are found by their own index and not by walking all notes by path.
    found = rows(connection, "SELECT path, problems FROM notes WHERE problems != '[]' ORDER BY +path")
    return [Skipped(path, "; ".join(json.loads(problems))) for path, problems in found]


def _entry(row: Sequence[Any]) -> IndexedEntry:
    note_id, path, size, mtime_ns, inode, content_hash, text_hash, ctime_ns = row
    inode &= 0xFFFF_FFFF_FFFF_FFFF
    return IndexedEntry(note_id, path, size, mtime_ns, inode, content_hash, text_hash, ctime_ns)


def _in_scope(path: str, scopes: Sequence[str]) -> bool:
    return any(path == scope or path.startswith(f"{scope}/") for scope in scopes)
