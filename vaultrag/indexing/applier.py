"""Carrying out a plan: read, parse, write to the note index. Needs no model, so words are searchable at once.

A file that disappears in one place and appears in another with the same bytes has moved: it keeps its id. Its vector is
named by the text that was embedded, so a folder move costs no model call. A rename that changes the title costs one: it
stands in front of every passage. The old vector serves until the new one is made.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, takewhile
from pathlib import PurePosixPath

from vaultrag.domain import (
    Content,
    DiskEntry,
    Gone,
    IndexedEntry,
    NoteId,
    NotePath,
    NoteValues,
    Skipped,
    Unreadable,
)
from vaultrag.errors import VaultragError
from vaultrag.indexing.planner import Plan
from vaultrag.markdown import parse_note
from vaultrag.protocols import NoteIndex, VaultReader

log = logging.getLogger(__name__)

BATCH = 128
"""Notes in one transaction: enough to make commits cheap, few enough that a crash costs little."""

LARGEST_BATCH = 2048
"""Of thousands of notes so many. Each batch touches nearly every page of the indexes by name, tag and link, and each
page that it touches is written twice: with a quarter as many, 100,000 notes take a quarter longer. Twice as many gain
nothing more, for then the reading of the notes is what is waited for."""

BATCH_BYTES = 16_000_000
"""A batch ends here too: so much text is held in memory at once."""

FEW = 8
"""Notes that are read before the processor is offered to whoever waits for an answer."""

_Moves = list[tuple[NoteId, IndexedEntry]]
_Notes = list[NoteValues]


@dataclass(slots=True)
class Applied:
    """The outcome of a plan."""

    wanted: dict[NoteId, str] = field(default_factory=dict)
    """Notes whose embedded text is new, with its hash."""
    deleted: list[NoteId] = field(default_factory=list)
    skipped: dict[NotePath, Skipped] = field(default_factory=dict)
    unreadable: dict[NotePath, str] = field(default_factory=dict)
    faulty: set[NotePath] = field(default_factory=set)
    """Those among ``skipped`` that are notes and should not be: what is known of them is kept."""
    read: int = 0
    written: int = 0
    moved: int = 0


@dataclass(frozen=True, slots=True)
class _Fresh:
    """One file, read."""

    entry: DiskEntry
    data: bytes
    problem: str
    content_hash: str


@dataclass(slots=True)
class Prepared:
    """One note, read and parsed, that is still to be written."""

    moves: _Moves
    notes: _Notes
    applied: Applied


class Applier:
    """Applies plans to one note index, in the thread that calls."""

    def __init__(
        self, reader: VaultReader, index: NoteIndex, yield_to_queries: Callable[[], None] = lambda: None
    ) -> None:
        """Write to this index.

        Args:
            yield_to_queries: Called between a few notes and the next; waits while somebody waits for an answer.
        """
        self._give_way = yield_to_queries
        self._reader = reader
        self._index = index

    def apply(
        self,
        plan: Plan,
        indexed: Mapping[NotePath, IndexedEntry],
        *,
        before_delete: Callable[[list[NoteId]], None] = lambda ids: None,
        progress: Callable[[int], None] = lambda done: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Applied:
        """Carry out ``plan``.

        Args:
            plan: From ``indexing.planner``.
            indexed: The entries the plan was made from.
            before_delete: Called with ids about to be deleted (the vectors go first).
            progress: Called with the number of files done so far.
            stop: Asked between batches; True ends early, and what is left differs again at the next look.
        """
        applied = Applied()
        leaving = _Leaving(plan.delete)
        done = 0
        # While SQLite writes one batch, the next one is read and parsed: it lets other threads run meanwhile.
        with ThreadPoolExecutor(1, "vaultrag-writing") as writer:
            before: Future[None] | None = None
            for batch in _batches(_newest_first(plan.read)):
                prepared = self._prepare(batch, indexed, leaving, applied)
                if before is not None:
                    before.result()
                    progress(done)
                if stop():
                    return applied
                before = writer.submit(self._write, *prepared, applied)
                done += len(batch)
            if before is not None:
                before.result()
                progress(done)
        self._delete(leaving.rest(), indexed, applied, before_delete)
        return applied

    def prepare(self, entry: DiskEntry, known: IndexedEntry | None, origin: IndexedEntry | None) -> Prepared:
        """Read and parse one note, in any thread.

        Args:
            entry: The file.
            known: The note in the index at the same path.
            origin: The note in the index that was moved here, if its bytes are the same.
        """
        applied = Applied()
        leaving = _Leaving([origin] if origin else [])
        moves, notes = self._prepare([entry], {entry.path: known} if known else {}, leaving, applied)
        return Prepared(moves, notes, applied)

    def write(
        self,
        prepared: Prepared,
        indexed: Mapping[NotePath, IndexedEntry],
        before_delete: Callable[[list[NoteId]], None],
    ) -> Applied:
        """Write a note that ``prepare`` returned; see ``apply``."""
        self._write(prepared.moves, prepared.notes, prepared.applied)
        self._delete([], indexed, prepared.applied, before_delete)
        return prepared.applied

    def _delete(
        self,
        gone: list[IndexedEntry],
        indexed: Mapping[NotePath, IndexedEntry],
        applied: Applied,
        before_delete: Callable[[list[NoteId]], None],
    ) -> None:
        # A note that turns out to be none any more (binary, say) goes like one that was deleted.
        skipped = applied.skipped.keys() - applied.faulty
        gone = gone + [indexed[path] for path in sorted(skipped) if path in indexed]
        if gone:
            applied.deleted = [entry.note_id for entry in gone]
            before_delete(applied.deleted)
            self._index.delete(applied.deleted)

    def _read(self, entries: Iterable[DiskEntry], applied: Applied) -> Iterable[_Fresh]:
        for entry in entries:
            result = self._reader.read(entry.path)
            applied.read += 1
            if isinstance(result, Content):
                named = result.data + b"\0" + result.problem.encode() if result.problem else result.data
                yield _Fresh(result.entry, result.data, result.problem, content_hash(named))
            elif isinstance(result, Skipped):
                applied.skipped[result.path] = result
            elif isinstance(result, Unreadable):
                applied.unreadable[result.path] = result.reason
            elif isinstance(result, Gone):
                pass  # it went between the scan and now; its own event will follow

    def _prepare(
        self,
        batch: Sequence[DiskEntry],
        indexed: Mapping[NotePath, IndexedEntry],
        leaving: _Leaving,
        applied: Applied,
    ) -> tuple[_Moves, _Notes]:
        moves: _Moves = []
        notes: _Notes = []
        for number, file in enumerate(self._read(batch, applied)):
            if number % FEW == 0:
                self._give_way()
            known = indexed.get(file.entry.path)
            if known is not None and known.content_hash == file.content_hash:
                moves.append((known.note_id, _entry(known.note_id, file, known.text_hash)))
                continue
            origin = leaving.take(file) if known is None else None
            applied.moved += origin is not None
            try:
                notes.append(self._prepared(file, known, origin))
            except Exception as fault:
                _pass_by(file.entry, fault, applied)
        return moves, notes

    def _write(self, moves: _Moves, notes: _Notes, applied: Applied) -> None:
        self._give_way()
        if moves:
            self._index.move(moves)
        if notes:
            self._upsert(notes, applied)

    def _upsert(self, notes: _Notes, applied: Applied) -> None:
        """Write a batch; where it cannot be written for what is in it, each note by itself, so that one stays out."""
        try:
            ids = self._index.upsert(notes)
        except VaultragError:
            raise  # the disk or the file: no note's fault
        except Exception as fault:
            if len(notes) == 1:
                entry = notes[0].entry
                _pass_by(DiskEntry(entry.path, entry.size, entry.mtime_ns, entry.inode, entry.ctime_ns), fault, applied)
                return
            for note in notes:
                self._upsert([note], applied)
            return
        applied.written += len(ids)
        for note_id, values in zip(ids, notes, strict=True):
            applied.wanted[note_id] = values.entry.text_hash

    def _prepared(self, file: _Fresh, known: IndexedEntry | None, origin: IndexedEntry | None) -> NoteValues:
        """Also what the index makes of a note is made here, so that the other thread does nothing but write."""
        note = parse_note(file.entry.path, file.data)
        if file.problem:
            note = replace(note, problems=(*note.problems, file.problem))
        before = origin or known
        return self._index.prepare(_entry(before.note_id if before else NoteId(0), file, note.text.hash), note)


def _pass_by(entry: DiskEntry, fault: Exception, applied: Applied) -> None:
    """One strange note never stops the rest."""
    log.error("%s cannot be indexed", entry.path, exc_info=fault)
    applied.faulty.add(entry.path)
    applied.skipped[entry.path] = Skipped(
        entry.path, "it cannot be indexed, by a fault in vaultrag; the log has it", entry.size, entry.mtime_ns
    )


class _Leaving:
    """Notes about to be deleted, findable by their bytes: one that reappears elsewhere has moved."""

    def __init__(self, entries: Iterable[IndexedEntry]) -> None:
        self._by_hash: dict[str, list[IndexedEntry]] = {}
        for entry in entries:
            self._by_hash.setdefault(entry.content_hash, []).append(entry)

    def take(self, file: _Fresh) -> IndexedEntry | None:
        """Return the note that this file was before, if any; the same inode or name first, where several are alike."""
        alike = self._by_hash.get(file.content_hash)
        if not alike:
            return None
        name = PurePosixPath(file.entry.path).name
        best = max(
            alike, key=lambda e: (e.inode == file.entry.inode and e.inode != 0, PurePosixPath(e.path).name == name)
        )
        alike.remove(best)
        return best

    def rest(self) -> list[IndexedEntry]:
        return [entry for entries in self._by_hash.values() for entry in entries]


def _newest_first(entries: Sequence[DiskEntry]) -> Sequence[DiskEntry]:
    """Sort by time where there is more than one batch; within a batch all notes are found at once."""
    return sorted(entries, key=lambda entry: -entry.mtime_ns) if len(entries) > BATCH else entries


def _batches(entries: Sequence[DiskEntry]) -> Iterator[Sequence[DiskEntry]]:
    """Split the files into growing batches.

    Each is as large as all before it, and at most half of what is left: the first notes are soon found, and the last
    batch, beside which nothing is read, is soon written.
    """
    start = 0
    while start < len(entries):
        most = max(BATCH, min(LARGEST_BATCH, start, (len(entries) - start) // 2))
        sizes = accumulate(entry.size for entry in islice(entries, start, start + most))
        count = max(1, sum(1 for _ in takewhile(lambda total: total <= BATCH_BYTES, sizes)))
        yield entries[start : start + count]
        start += count


def content_hash(data: bytes) -> str:
    """Names a file's bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _entry(note_id: NoteId, file: _Fresh, text_hash: str) -> IndexedEntry:
    entry = file.entry
    stat = (entry.size, entry.mtime_ns, entry.inode)
    times = (entry.ctime_ns, entry.birth_ns)
    return IndexedEntry(note_id, entry.path, *stat, file.content_hash, text_hash, *times)
