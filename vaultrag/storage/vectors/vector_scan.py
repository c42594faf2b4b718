"""One query against the vectors of a file. Fits ``ports.VectorScan``; ``Vectors.scan`` makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from vaultrag.domain import REFERENCE, NoteId, Scale, VectorMatches
from vaultrag.storage.vectors.matrix import MatrixScan
from vaultrag.storage.vectors.passages import Cosines, Ids, PassageScan

_RESCORED = 16
"""So many of the best are compared again in float32: more than anyone looks at, and a fraction of a millisecond."""


class VectorScan:
    """A query compared with the vectors at one moment: notes and passages."""

    def __init__(
        self,
        notes: MatrixScan,
        passages: PassageScan,
        exact: Callable[[Sequence[NoteId]], Mapping[NoteId, float]] = lambda ids: {},
        scale: Scale = REFERENCE,
    ) -> None:
        self.scale = scale
        self._notes = notes
        self._passages = passages
        self._exact = exact
        self._ahead: dict[int, tuple[Ids, Cosines, Ids, Cosines]] = {}  # by how many, among all notes

    def look_ahead(self, k: int) -> None:
        """Look for the ``k`` nearest of all notes now: ``matches`` then knows them."""
        self._ahead[k] = (*self._near(k, None), *self._near_passages(k, None))

    def notes(self, k: int, allowed: frozenset[NoteId] | None = None) -> list[tuple[NoteId, float]]:
        """Return the ``k`` nearest notes by their own vectors: (note, cosine), best first."""
        return _pairs(*self._near(k, allowed))

    def passages(self, k: int, allowed: frozenset[NoteId] | None = None) -> list[tuple[NoteId, float]]:
        """Return the ``k`` notes with the nearest passages: (note, cosine of its best passage), best first."""
        return _pairs(*self._near_passages(k, allowed))

    def matches(self, k: int, allowed: frozenset[NoteId] | None, others: Ids) -> VectorMatches:
        """See ``ports.VectorScan``."""
        if allowed is None and k in self._ahead:
            near, cosines, near_passages, passage_cosines = self._ahead[k]
        else:
            near, cosines = self._near(k, allowed)
            near_passages, passage_cosines = self._near_passages(k, allowed)
        ids = np.unique(np.concatenate([near, near_passages, others]))
        own, best = self._notes.best_of(ids), self._passages.best_of(ids)
        own[np.searchsorted(ids, near)] = cosines  # the first of them are exact
        best[np.searchsorted(ids, near_passages)] = passage_cosines
        return VectorMatches(ids, own, best, self._passages.counts(ids))

    def passage(self, note_id: NoteId) -> tuple[float, int, int] | None:
        """Return the note's best passage: cosine, first and last body line (0-based, inclusive)."""
        return self._passages.place(note_id)

    def background(self, without: frozenset[NoteId] = frozenset()) -> tuple[float, float]:
        """Mean and standard deviation of the cosines of all notes but these."""
        return self._notes.background(without)

    def _near(self, k: int, allowed: frozenset[NoteId] | None) -> tuple[Ids, Cosines]:
        owners, scores = self._notes.nearest(max(k, _RESCORED), allowed)
        cosines = scores.astype(np.float64)
        exact = self._exact([NoteId(owner) for owner in owners[:_RESCORED].tolist()])
        for place, owner in enumerate(owners[:_RESCORED].tolist()):
            cosines[place] = exact.get(owner, cosines[place])
        order = np.argsort(-cosines, kind="stable")[:k]
        return owners[order], cosines[order]

    def _near_passages(self, k: int, allowed: frozenset[NoteId] | None) -> tuple[Ids, Cosines]:
        def near(count: int) -> tuple[Ids, Cosines]:
            owners, scores = self._notes.nearest(count, allowed)
            return owners, scores.astype(np.float64)

        return self._passages.nearest(k, allowed, near)


def _pairs(owners: Ids, cosines: Cosines) -> list[tuple[NoteId, float]]:
    return list(zip(map(NoteId, owners.tolist()), cosines.tolist(), strict=True))
