"""What the lexical retriever knows of one query: the best notes, and of any note how well its words fit.

Made inside one snapshot of the index; what it holds afterwards are arrays, so that it may be asked about notes that
another retriever brings later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import ClauseCount, LexicalFeatures, NoteId
from vaultrag.retrieval.proximity import OFFSET_BITS, POSITION_BITS, Places, nearness, verbatim
from vaultrag.storage.lexical.postings import K1, Postings, count_visible

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

FEW = 3
"""Notes that hold a query of one word as it was typed, and so come first; of more of them the score tells the best."""

MOST_WITH_ALL = 100
"""Notes that hold all of the words, and are brought however long they are."""

MOST_COMPARED = 3_000
"""Notes that hold all of the words and are looked through for a quotation."""

_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class LexicalMatches:
    """Fits ``ports.LexicalMatches``.

    Attributes:
        counts: What is known of each clause.
        ranking: The clauses that rank, with the notes that hold them; None for one that no note holds.
        notes: How many there are to search.
        closer: What a word as it was typed is worth beyond its other forms, with the notes that hold it so.
        row: Which of the ranking clauses stand where in the query, in words.
        hidden: Notes that do not exist for the reader.
        ids: The best notes, int64[n], best first.
        bm25: Their scores, float64[n].
    """

    counts: list[ClauseCount]
    ranking: list[tuple[ClauseCount, Postings | None]]
    notes: int
    closer: list[tuple[float, Postings]] = field(default_factory=list)
    row: list[tuple[int, int]] = field(default_factory=list)
    hidden: frozenset[NoteId] = frozenset()
    ids: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    bm25: Floats = field(default_factory=lambda: np.zeros(0))

    def best(self, k: int, allowed: frozenset[NoteId] | None) -> LexicalMatches:
        """Rank: the ``k`` best of the notes that may be found, best first; of equal ones those known longest."""
        sums = self._sums()
        ids = np.flatnonzero(sums > 0.0)
        if allowed is not None:
            ids = ids[np.isin(ids, np.fromiter(allowed, np.int64, len(allowed)), assume_unique=True)]
        if self.hidden:
            hidden = np.fromiter(self.hidden, np.int64, len(self.hidden))
            ids = ids[np.isin(ids, hidden, assume_unique=True, invert=True)]
        scores = sums[ids]
        if k < len(ids):
            best = scores >= np.partition(scores, -k)[-k]
            top = np.flatnonzero(best | self._holding_all(ids))
            ids, scores = ids[top], scores[top]
        order = np.lexsort((ids, -scores))
        return replace(self, ids=ids[order], bm25=scores[order])

    def features(self, ids: Ids) -> LexicalFeatures:
        """Tell of each of these notes how well the query's words fit it.

        Args:
            ids: int64[n].
        """
        wanted = sum(count.idf for count, _ in self.ranking)
        total = wanted + sum(more for more, _ in self.closer)
        bm25, coverage = np.zeros(len(ids)), np.zeros(len(ids))
        if total <= 0.0:
            return LexicalFeatures(bm25, coverage, coverage.copy(), coverage.copy(), np.zeros(len(ids), np.bool_))
        places: list[Places] = []
        for weight, postings, in_any_form in self._weighted():
            rows, held = postings.find(ids)
            notes = np.flatnonzero(held)
            rows = rows[notes]
            bm25[notes] += postings.scores[rows] * weight
            if in_any_form:
                coverage[notes] += weight / wanted
            places.append(_places(postings, rows, notes, weight / total, len(ids)))
        near, titled = nearness(places, len(ids))
        return LexicalFeatures(bm25 / ((K1 + 1.0) * total), coverage, near, titled, self._literal(ids, places))

    def _literal(self, ids: Ids, places: Sequence[Places]) -> NDArray[np.bool_]:
        """Tell which notes hold the query as typed: its only word, where few do, or all of its words in a row."""
        literal = np.zeros(len(ids), np.bool_)
        if len(self.counts) == 1:
            postings = self.closer[0][1] if self.closer else self.ranking[0][1]
            if postings is not None and count_visible(postings.ids, self.hidden) <= FEW:
                literal = postings.within(ids)
        elif all(postings is not None for _, postings in self.ranking):
            literal[verbatim([(places[place], offset) for place, offset in self.row])] = True
        return literal

    def _holding_all(self, ids: Ids) -> NDArray[np.bool_]:
        """Tell which of these notes hold all of a query of several words; of many, those that hold them in a row."""
        lists = [postings for _, postings in self.ranking]
        held = np.zeros(len(ids), np.bool_)
        if len(lists) < 2 or None in lists:
            return held
        some, *others = sorted((one for one in lists if one is not None), key=lambda postings: len(postings.ids))
        among = np.intersect1d(some.ids, ids, assume_unique=True).astype(np.int64)
        for other in others:
            among = among[other.within(among)]
        if MOST_WITH_ALL < len(among) <= MOST_COMPARED:
            among = among[self._in_a_row(among)]
        if len(among) <= MOST_WITH_ALL:
            held[np.isin(ids, among, assume_unique=True)] = True
        return held

    def _in_a_row(self, ids: Ids) -> Ids:
        """Return the places of the notes, all of which hold every clause, that hold them as the query does."""
        row = []
        for place, offset in self.row:
            postings = self.ranking[place][1]
            assert postings is not None
            rows, _ = postings.find(ids)
            row.append((_places(postings, rows, np.arange(len(ids)), 1.0, len(ids)), offset))
        return verbatim(row)

    def holding(self, ids: Ids) -> NDArray[np.bool_]:
        """Tell which of the clauses stand in each note: bool[len(ids), len(counts)]."""
        held = np.zeros((len(ids), len(self.counts)), np.bool_)
        for count, postings in self.ranking:
            if postings is not None:
                held[:, self.counts.index(count)] = postings.within(ids)
        return held

    def _sums(self) -> Floats:
        """BM25 of every note, by its id."""
        present = [(weight, postings) for weight, postings, _ in self._weighted() if len(postings.ids)]
        sums = np.zeros(1 + max((int(postings.ids[-1]) for _, postings in present), default=0))
        for weight, postings in present:
            sums[postings.ids] += postings.scores * weight
        return sums

    def _weighted(self) -> Iterator[tuple[float, Postings, bool]]:
        """Yield each list with its weight, and whether it is of a word in any form."""
        for count, postings in self.ranking:
            if postings is not None:
                yield count.idf, postings, True
        for more, postings in self.closer:
            yield more, postings, False


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
