"""The passages' vectors of one file, compared with a query at every size.

As long as there is room they are held in memory as int8. A large vault has a dozen times as many passages as notes,
more than should be held: then memory keeps one bit a number, every passage is compared by those, and the passages of
the notes that come out best are read from the disk and compared as int8.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import NoteId
from vaultrag.storage.vectors.matrix import Matrix, MatrixScan, Vector, compare

log = logging.getLogger(__name__)

_CHUNK = 1_000  # notes whose passages are read at once

ROOM_BYTES = 96_000_000
"""Memory for passages' vectors: those of 20,000 notes, with 384 numbers each."""

READ_FACTOR = 2
"""With one bit a number, so many times the notes asked for are read from the disk."""

Ids = NDArray[np.int64]
Cosines = NDArray[np.float64]
Nearest = Callable[[int], tuple[Ids, Cosines]]


class PassageRow(NamedTuple):
    """A note's passages as they are stored: int32[n, 2] body lines, int8[n, dim] codes, float32[n] scales."""

    note_id: NoteId
    lines: bytes
    codes: bytes
    scales: bytes


Read = Callable[[Sequence[NoteId]], Sequence[PassageRow]]
"""The rows of these notes that have one."""


class PassageScan(Protocol):
    """Matches of one query with passages."""

    def nearest(self, k: int, allowed: frozenset[NoteId] | None, near: Nearest) -> tuple[Ids, Cosines]:
        """Return the ``k`` notes with the best passages, best first.

        While a note's passages are still to be made, its own vector stands in for them: to count as nothing beside
        notes that have theirs would put it behind all of these.

        Args:
            k: Notes at most.
            allowed: Only these.
            near: Gives so many of the notes nearest by their own vectors.
        """
        ...

    def best_of(self, ids: Ids) -> Cosines:
        """Return the cosine of each note's best passage, float64[len(ids)]; NaN for a note without."""
        ...

    def counts(self, ids: Ids) -> Ids:
        """Return how many passages each note has, int64[len(ids)]."""
        ...

    def place(self, note_id: NoteId) -> tuple[float, int, int] | None:
        """Return the note's best passage: cosine, first and last body line (0-based, inclusive)."""
        ...


class Passages:
    """All passages of a file. Callable from any thread."""

    def __init__(self, dimension: int, read: Read, room_bytes: int = ROOM_BYTES) -> None:
        self._dimension = dimension
        self._read = read
        self._room = room_bytes
        self._matrix = Matrix(dimension)
        self._lines: dict[NoteId, NDArray[np.int32]] = {}
        self._whole = True

    @property
    def in_memory(self) -> bool:
        """Return whether memory holds the codes, not only their signs."""
        return self._whole

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._matrix.nbytes

    def expect(self, code_bytes: int) -> None:
        """Make ready for so many bytes of codes: with more than there is room for, only their signs are kept."""
        if code_bytes > self._room:
            self._keep_signs(())

    def take(self, found: Iterable[PassageRow]) -> None:
        """Remember notes' passages, in place of any they had."""
        found = list(found)
        if not found:
            return
        if self._whole:
            for row in found:
                self._lines[row.note_id] = np.frombuffer(row.lines, np.int32).reshape(-1, 2)
        self._put(self._matrix, found)
        if self._whole and self._matrix.nbytes > self._room:
            self._keep_signs(list(self._lines))

    def _put(self, matrix: Matrix, found: Sequence[PassageRow]) -> None:
        matrix.put_many(
            [row.note_id for row in found],
            [len(row.scales) // 4 for row in found],
            np.frombuffer(b"".join(row.codes for row in found), np.int8).reshape(-1, self._dimension),
            np.frombuffer(b"".join(row.scales for row in found), np.float32),
        )

    def forget(self, note_ids: Iterable[NoteId]) -> None:
        ids = list(note_ids)
        self._matrix.delete(ids)
        for note_id in ids:
            self._lines.pop(note_id, None)

    def clear(self) -> None:
        """There are none any more."""
        self._matrix, self._lines, self._whole = Matrix(self._dimension), {}, True

    def scan(self, query: Vector, notes: int) -> PassageScan:
        """Compare a query with all passages, or be ready to compare it with some.

        Args:
            query: float32[dim], L2-normalised.
            notes: How many notes have a vector.
        """
        whole, matrix, lines = self._whole, self._matrix, self._lines
        if not whole:
            return _OnDisk(query, self._read, matrix.scan(query))
        return _InMemory(matrix.scan(query), lines, some_waiting=notes > len(lines))

    def _keep_signs(self, known: Sequence[NoteId]) -> None:
        """Let go of the codes of these notes, all that are held, and keep one bit a number."""
        log.info("the passages take more than %d MB: memory keeps one bit a number", self._room // 1_000_000)
        small = Matrix(self._dimension, bits=True)
        for first in range(0, len(known), _CHUNK):
            rows = [row for row in self._read(known[first : first + _CHUNK]) if row.scales]
            if rows:
                self._put(small, rows)
        self._matrix, self._lines, self._whole = small, {}, False


class _InMemory:
    def __init__(self, scan: MatrixScan, lines: Mapping[NoteId, NDArray[np.int32]], *, some_waiting: bool) -> None:
        self._scan = scan
        self._lines = lines
        self._some_waiting = some_waiting

    def nearest(self, k: int, allowed: frozenset[NoteId] | None, near: Nearest) -> tuple[Ids, Cosines]:
        owners, scores = self._scan.nearest(k, allowed)
        cosines = scores.astype(np.float64)
        if not len(owners) or not self._some_waiting:
            return owners, cosines
        own, own_cosines = near(k)
        waiting = np.array([owner not in self._lines for owner in own.tolist()], np.bool_)
        return _best(np.concatenate([owners, own[waiting]]), np.concatenate([cosines, own_cosines[waiting]]), k)

    def best_of(self, ids: Ids) -> Cosines:
        return self._scan.best_of(ids)

    def counts(self, ids: Ids) -> Ids:
        return self._scan.counts(ids)

    def place(self, note_id: NoteId) -> tuple[float, int, int] | None:
        found, lines = self._scan.best_row(note_id), self._lines.get(note_id)
        if found is None or lines is None or found[1] >= len(lines):
            return None
        first, last = lines[found[1]]
        return found[0], int(first), int(last)


class _OnDisk:
    """Reads the passages of the notes it is asked about, once."""

    def __init__(self, query: Vector, read: Read, likely: MatrixScan) -> None:
        """Read passages from the disk.

        Args:
            likely: The query against the signs of all passages.
        """
        self._query = query
        self._read = read
        self._likely = likely
        self._known: dict[int, tuple[float, int, int] | None] = {}  # None: they are still to be made
        self._counts: dict[int, int] = {}

    def nearest(self, k: int, allowed: frozenset[NoteId] | None, near: Nearest) -> tuple[Ids, Cosines]:
        likely, _ = self._likely.nearest(READ_FACTOR * k, allowed)
        own, own_cosines = near(k)
        ids = np.union1d(likely, own)
        best = self.best_of(ids)
        waiting = np.array([self._known[note_id] is None for note_id in own.tolist()], np.bool_)
        best[np.searchsorted(ids, own[waiting])] = own_cosines[waiting]
        having = ~np.isnan(best)
        return _best(ids[having], best[having], k)

    def best_of(self, ids: Ids) -> Cosines:
        self._look_at([note_id for note_id in ids.tolist() if note_id not in self._known])
        found = (self._known[note_id] for note_id in ids.tolist())
        return np.fromiter((np.nan if one is None else one[0] for one in found), np.float64, len(ids))

    def counts(self, ids: Ids) -> Ids:
        self._look_at([note_id for note_id in ids.tolist() if note_id not in self._known])
        return np.fromiter((self._counts.get(note_id, 0) for note_id in ids.tolist()), np.int64, len(ids))

    def place(self, note_id: NoteId) -> tuple[float, int, int] | None:
        self._look_at([note_id] if note_id not in self._known else [])
        found = self._known[note_id]
        return None if found is None or np.isnan(found[0]) else found

    def _look_at(self, note_ids: Sequence[int]) -> None:
        if not note_ids:
            return
        self._known.update(dict.fromkeys(note_ids))
        rows = self._read([NoteId(note_id) for note_id in note_ids])
        self._known.update({row.note_id: (np.nan, 0, 0) for row in rows})  # what is empty stays so
        self._counts.update({row.note_id: len(row.scales) // 4 for row in rows})
        rows = [row for row in rows if row.scales]
        if not rows:
            return
        codes = np.frombuffer(b"".join(row.codes for row in rows), np.int8).reshape(-1, len(self._query))
        scores = compare(self._query, codes, np.frombuffer(b"".join(row.scales for row in rows), np.float32))
        start = 0
        for row in rows:
            end = start + len(row.scales) // 4
            place = int(scores[start:end].argmax())
            first, last = np.frombuffer(row.lines, np.int32).reshape(-1, 2)[place]
            self._known[row.note_id] = float(scores[start + place]), int(first), int(last)
            start = end


def _best(ids: Ids, cosines: Cosines, k: int) -> tuple[Ids, Cosines]:
    order = np.argsort(-cosines, kind="stable")[:k]
    return ids[order], cosines[order]
