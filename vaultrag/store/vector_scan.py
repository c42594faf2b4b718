"""One query against the vectors in memory. Fits ``ports.VectorScan``; ``Vectors.scan`` makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vaultrag.model import NoteId
from vaultrag.store.matrix import MatrixScan

_RESCORED = 16
"""So many of the best are compared again in float32: more than anyone looks at, and a fraction of a millisecond."""


class VectorScan:
    """What the vectors say of one query, at one moment: about notes as wholes and about their passages."""

    def __init__(
        self,
        notes: MatrixScan,
        passages: MatrixScan,
        lines: Mapping[NoteId, NDArray[np.int32]],
        exact: Callable[[Sequence[NoteId]], Mapping[NoteId, float]] = lambda ids: {},
        *,
        some_waiting: bool = False,
    ) -> None:
        self._notes = notes
        self._passages = passages
        self._lines = lines
        self._exact = exact
        self._some_waiting = some_waiting

    def notes(self, k: int, allowed: frozenset[NoteId] | None = None) -> list[tuple[NoteId, float]]:
        """The ``k`` nearest notes by their own vectors: (note, cosine), best first."""
        near = [(NoteId(owner), score) for owner, score in self._notes.nearest(max(k, _RESCORED), allowed)]
        exact = self._exact([note_id for note_id, _ in near[:_RESCORED]])
        scored = [(note_id, exact.get(note_id, score)) for note_id, score in near]
        return sorted(scored, key=lambda pair: -pair[1])[:k]

    def passages(self, k: int, allowed: frozenset[NoteId] | None = None) -> list[tuple[NoteId, float]]:
        """The ``k`` notes with the nearest passages: (note, cosine of its best passage), best first.

        While a note's passages are still to be made, its own vector stands in for them: to count as nothing beside
        notes that have theirs would put it behind all of these.
        """
        found = [(NoteId(owner), score) for owner, score in self._passages.nearest(k, allowed)]
        if not found or not self._some_waiting:
            return found
        own = self._notes.nearest(k, allowed)
        found += [(NoteId(owner), score) for owner, score in own if owner not in self._lines]
        return sorted(found, key=lambda pair: -pair[1])[:k]

    def cosines(self, note_ids: Sequence[NoteId]) -> tuple[dict[NoteId, float], dict[NoteId, float]]:
        """Of these notes, those that have one: their own cosines, and those of their best passages."""
        own, best = self._notes.best_of(note_ids), self._passages.best_of(note_ids)
        return {NoteId(owner): score for owner, score in own.items()}, {NoteId(owner): s for owner, s in best.items()}

    def passage(self, note_id: NoteId) -> tuple[float, int, int] | None:
        """The note's best passage: cosine, first and last body line (0-based, inclusive)."""
        found = self._passages.best_row(note_id)
        lines = self._lines.get(note_id)
        if found is None or lines is None or found[1] >= len(lines):
            return None
        first, last = lines[found[1]]
        return found[0], int(first), int(last)

    def background(self, without: frozenset[NoteId] = frozenset()) -> tuple[float, float]:
        """Mean and standard deviation of the cosines of all notes but these."""
        return self._notes.background(without)
