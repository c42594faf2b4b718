"""The words arm: BM25 over the full-text table, and how much of the query each note really covers.

The ranking is one OR over the clauses: a note with more of the words, and the rarer ones, comes first, and there is no
cliff between "all words" and "any word". Which clauses a note holds is asked for apart, clause by clause, rare ones
only: a common word's list is long and tells little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vaultrag.model import Clause, ClauseCount, NoteId, WordResult
from vaultrag.store.note_index import NoteIndex
from vaultrag.store.postings import Postings, match, weight
from vaultrag.store.private import Hidden, nothing_hidden
from vaultrag.store.word_lists import COMMON_SHARE, Look, WordLists, holders

COVERED_SHARE = 0.3
"""A clause in more than this share of the notes is not looked up note by note."""


class FullText:
    """Ranks notes by words. Callable from any thread."""

    def __init__(self, index: NoteIndex, hidden: Hidden = nothing_hidden, lists: WordLists | None = None) -> None:
        """Args:
        hidden: Notes that do not exist for the reader that this is for: they are not found, and not counted either.
        lists: Of this index, where several read them.
        """
        self._index = index
        self._hidden = hidden
        self._lists = lists or WordLists(index)

    def search(self, clauses: Sequence[Clause], *, k: int = 80, allowed: frozenset[NoteId] | None = None) -> WordResult:
        """The ``k`` best notes among ``allowed`` (None: all) that hold a clause."""
        if not clauses:
            return _nothing([], 0)
        with self._index.snapshot() as (connection, generation):
            hidden = self._hidden(connection)
            look = self._lists.look(connection, generation, hidden)
            notes = look.everything - len(hidden)
            self._lists.read_together(look, clauses)
            counts = [self._count(look, clause, notes) for clause in clauses]
            asked = _worth_asking(counts, notes)
            if not asked or allowed == frozenset():
                return _nothing(counts, notes)
            ids, scores = _ranked([(count, self._lists.of(look, count.clause)) for count in asked], notes)
            ids, scores = _best(ids, scores, k, allowed, hidden)
            held = np.zeros((len(ids), len(counts)), np.bool_)
            for number in _looked_up(counts, notes):
                held[:, number] = self._lists.of(look, counts[number].clause).within(ids)
        return WordResult(ids, scores, held, counts, notes)

    def holding(self, clauses: Sequence[Clause]) -> frozenset[NoteId]:
        """Every note that holds one of the clauses."""
        if not clauses:
            return frozenset()
        with self._index.readers.reading() as connection:
            return holders(connection, " OR ".join(_wishes(clauses))) - self._hidden(connection)

    def stems(self, words: Sequence[str]) -> list[str]:
        """What the tokenizer reduces each word to, English endings taken off."""
        connection = self._index.readers.get()  # no snapshot: the tokenizer reads no table
        return [self._lists.stem(connection, word) for word in words]

    def _count(self, look: Look, clause: Clause, notes: int) -> ClauseCount:
        holding = self._lists.count(look, clause)
        return ClauseCount(clause, holding, _idf(notes, holding))


def _nothing(counts: list[ClauseCount], notes: int) -> WordResult:
    return WordResult(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, len(counts)), np.bool_), counts, notes)


def _ranked(asked: Sequence[tuple[ClauseCount, Postings]], notes: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Every note that holds one of the clauses, int64[n], and its score, float64[n].

    A clause weighs by the notes that are seen; by all of them, it would tell how many hidden ones hold it.
    """
    last = max((int(postings.ids[-1]) for _, postings in asked if len(postings.ids)), default=0)
    sums = np.zeros(last + 1)
    for count, postings in asked:
        sums[postings.ids] += postings.scores * weight(notes, count.notes)
    ids = np.flatnonzero(sums > 0.0)
    return ids, sums[ids]


def _best(
    ids: NDArray[np.int64],
    scores: NDArray[np.float64],
    k: int,
    allowed: frozenset[NoteId] | None,
    hidden: frozenset[NoteId],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The ``k`` best of the notes that may be found, best first; of equal ones those known longest."""
    if allowed is not None:
        kept = np.isin(ids, np.fromiter(allowed, np.int64, len(allowed)), assume_unique=True)
        ids, scores = ids[kept], scores[kept]
    if hidden:
        kept = np.isin(ids, np.fromiter(hidden, np.int64, len(hidden)), assume_unique=True, invert=True)
        ids, scores = ids[kept], scores[kept]
    if k < len(ids):
        least = np.partition(scores, -k)[-k]
        above = np.flatnonzero(scores >= least)
        ids, scores = ids[above], scores[above]
    order = np.lexsort((ids, -scores))[:k]
    return ids[order], scores[order]


def _looked_up(counts: Sequence[ClauseCount], notes: int) -> list[int]:
    """The clauses that are looked up note by note, as indices."""
    rarest = min((count.notes for count in counts if count.notes and not count.clause.stop), default=0)
    limit = max(COVERED_SHARE * notes, rarest, 200)
    return [n for n, count in enumerate(counts) if 0 < count.notes <= limit and not count.clause.stop]


def _idf(notes: int, count: int) -> float:
    return math.log1p((notes - count + 0.5) / (count + 0.5)) if count <= notes else 0.0


def _wishes(clauses: Sequence[Clause]) -> list[str]:
    """One expression a term: it is held as a whole, or, where it has no whole, by all of its parts."""
    terms: dict[int, list[Clause]] = {}
    for clause in clauses:
        terms.setdefault(clause.term, []).append(clause)
    wishes = []
    for own in terms.values():
        whole = [match(clause) for clause in own if not clause.part]
        wishes.append("(" + (" OR ".join(whole) or " AND ".join(match(clause) for clause in own)) + ")")
    return wishes


def _worth_asking(counts: list[ClauseCount], notes: int) -> list[ClauseCount]:
    """The clauses that rank: without words in over half of the notes, unless nothing else is there, and without stop
    words, unless nothing else was asked for."""
    if all(count.clause.stop for count in counts):
        return [count for count in counts if count.notes]
    present = [count for count in counts if count.notes and not count.clause.stop]
    return [count for count in present if count.notes <= COMMON_SHARE * notes] or present
