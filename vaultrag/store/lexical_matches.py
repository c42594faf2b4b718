"""What the lexical retriever knows of one query: the best notes, and of any note how well its words fit.

Made inside one snapshot of the index; what it holds afterwards are arrays, so that it may be asked about notes that
another retriever brings later.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vaultrag.model import ClauseCount, LexicalFeatures, NoteId
from vaultrag.retrieval.proximity import OFFSET_BITS, POSITION_BITS, Places, nearness
from vaultrag.store.postings import K1, Postings

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class LexicalMatches:
    """Fits ``ports.LexicalMatches``.

    Attributes:
        counts: What is known of each clause.
        ranking: The clauses that rank, with the notes that hold them; None for one that no note holds.
        notes: How many there are to search.
        ids: The best notes, int64[n], best first.
        bm25: Their scores, float64[n].
    """

    counts: list[ClauseCount]
    ranking: list[tuple[ClauseCount, Postings | None]]
    notes: int
    ids: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    bm25: Floats = field(default_factory=lambda: np.zeros(0))

    def best(self, k: int, allowed: frozenset[NoteId] | None, hidden: frozenset[NoteId]) -> LexicalMatches:
        """Rank: the ``k`` best of the notes that may be found, best first; of equal ones those known longest."""
        sums = self._sums()
        ids = np.flatnonzero(sums > 0.0)
        if allowed is not None:
            ids = ids[np.isin(ids, np.fromiter(allowed, np.int64, len(allowed)), assume_unique=True)]
        if hidden:
            ids = ids[np.isin(ids, np.fromiter(hidden, np.int64, len(hidden)), assume_unique=True, invert=True)]
        scores = sums[ids]
        if k < len(ids):
            top = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
            ids, scores = ids[top], scores[top]
        order = np.lexsort((ids, -scores))[:k]
        return LexicalMatches(self.counts, self.ranking, self.notes, ids[order], scores[order])

    def features(self, ids: Ids) -> LexicalFeatures:
        """Tell of each of these notes how well the query's words fit it.

        Args:
            ids: int64[n].
        """
        total = sum(count.idf for count, _ in self.ranking)
        bm25, coverage = np.zeros(len(ids)), np.zeros(len(ids))
        if total <= 0.0:
            return LexicalFeatures(bm25, coverage, coverage.copy(), coverage.copy())
        places: list[Places] = []
        for count, postings in self.ranking:
            if postings is None:
                continue
            rows, held = postings.find(ids)
            notes = np.flatnonzero(held)
            rows = rows[notes]
            bm25[notes] += postings.scores[rows] * count.idf
            coverage[notes] += count.idf / total
            places.append(_places(postings, rows, notes, count.idf / total, len(ids)))
        near, titled = nearness(places, len(ids))
        return LexicalFeatures(bm25 / ((K1 + 1.0) * total), coverage, near, titled)

    def holding(self, ids: Ids) -> NDArray[np.bool_]:
        """Tell which of the clauses stand in each note: bool[len(ids), len(counts)]."""
        held = np.zeros((len(ids), len(self.counts)), np.bool_)
        for count, postings in self.ranking:
            if postings is not None:
                held[:, self.counts.index(count)] = postings.within(ids)
        return held

    def _sums(self) -> Floats:
        """BM25 of every note, by its id."""
        present = [(count, postings) for count, postings in self.ranking if postings is not None and len(postings.ids)]
        sums = np.zeros(1 + max((int(postings.ids[-1]) for _, postings in present), default=0))
        for count, postings in present:
            sums[postings.ids] += postings.scores * count.idf
        return sums


def _places(postings: Postings, rows: Ids, notes: Ids, weight: float, size: int) -> Places:
    titled = np.zeros(size, np.bool_)
    if not len(postings.positions) or not len(rows):
        return Places(_NOTHING, weight, titled)
    first, counts = postings.starts[rows], postings.starts[rows + 1] - postings.starts[rows]
    # The positions of some rows: every row's run, one after the other.
    steps = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    positions = postings.positions[np.repeat(first, counts) + steps].astype(np.int64)
    owners = np.repeat(notes, counts)
    titled[owners[positions >> OFFSET_BITS == 0]] = True
    return Places(owners << POSITION_BITS | positions, weight, titled)
