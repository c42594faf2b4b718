"""The words arm: BM25 over the full-text table, and how much of the query each note really covers.

The ranking is one OR over the clauses: a note with more of the words, and the rarer ones, comes first, and there is no
cliff between "all words" and "any word". Which clauses a note holds is asked for apart, clause by clause, rare ones
only: a common word's list is long and tells little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import apsw
import numpy as np
from numpy.typing import NDArray

from vaultrag.model import Clause, ClauseCount, NoteId, WordResult
from vaultrag.store.connection import rows, scalar
from vaultrag.store.kept import Kept
from vaultrag.store.note_index import NoteIndex
from vaultrag.store.postings import Lengths, Postings, match, read_counted, read_lengths, read_ranked, weight
from vaultrag.store.private import Hidden, nothing_hidden
from vaultrag.store.schema import TOKENIZER

COMMON_SHARE = 0.5
"""A word that stands in more than this share of the notes is left out of a query that has others."""

COVERED_SHARE = 0.3
"""A clause in more than this share of the notes is not looked up note by note."""


_COUNTS_KEPT, _STEMS_KEPT = 10_000, 10_000

_POSTINGS_KEPT = 2_000_000
"""Notes kept of the lists behind words, and of those behind other clauses, 8 bytes each."""


class FullText:
    """Ranks notes by words. Callable from any thread."""

    def __init__(self, index: NoteIndex, hidden: Hidden = nothing_hidden) -> None:
        """Args:
        hidden: Notes that do not exist for the reader that this is for: they are not found, and not counted either.
        """
        self._index = index
        self._hidden = hidden
        self._counts: Kept[tuple[Clause, frozenset[NoteId]], int] = Kept(_COUNTS_KEPT)
        self._words: Kept[Clause, Postings | None] = Kept(_POSTINGS_KEPT, _size)
        self._ranked: Kept[Clause, Postings] = Kept(_POSTINGS_KEPT, _size)
        self._sizes: Kept[None, int] = Kept(1_000)
        self._lengths: Kept[None, Lengths | None] = Kept(1_000)
        self._stems: dict[str, str] = {}

    def search(self, clauses: Sequence[Clause], *, k: int = 80, allowed: frozenset[NoteId] | None = None) -> WordResult:
        """The ``k`` best notes among ``allowed`` (None: all) that hold a clause."""
        if not clauses:
            return _nothing([], 0)
        with self._index.snapshot() as (connection, generation):
            hidden = self._hidden(connection)
            everything = self._size(connection, generation)
            notes = everything - len(hidden)
            seen = _Seen(connection, generation, everything, hidden)
            counts = [self._count(seen, clause, notes) for clause in clauses]
            asked = _worth_asking(counts, notes)
            if not asked or allowed == frozenset():
                return _nothing(counts, notes)
            ids, scores = _ranked([(count, self._list(seen, count.clause)) for count in asked], notes)
            ids, scores = _best(ids, scores, k, allowed, hidden)
            held = np.zeros((len(ids), len(counts)), np.bool_)
            for number in _looked_up(counts, notes):
                held[:, number] = self._list(seen, counts[number].clause).within(ids)
        return WordResult(ids, scores, held, counts, notes)

    def holding(self, clauses: Sequence[Clause]) -> frozenset[NoteId]:
        """Every note that holds one of the clauses."""
        if not clauses:
            return frozenset()
        with self._index.readers.reading() as connection:
            return self._matching(connection, " OR ".join(_wishes(clauses))) - self._hidden(connection)

    def stems(self, words: Sequence[str]) -> list[str]:
        """What the tokenizer reduces each word to, English endings taken off."""
        connection = self._index.readers.get()  # no snapshot: the tokenizer reads no table
        return [self._stem(connection, word) for word in words]

    def _list(self, seen: _Seen, clause: Clause) -> Postings:
        """The notes that hold a clause, hidden ones included.

        A score of several clauses is the sum of their scores, so that each is read by itself, once, and not again with
        every query that it stands in.
        """
        counted = self._counted(seen, clause)
        if counted is not None:
            return counted
        if clause not in seen.lists:
            seen.lists[clause] = self._ranked.get(
                seen.generation, clause, lambda: read_ranked(seen.connection, clause, seen.everything)
            )
        return seen.lists[clause]

    def _counted(self, seen: _Seen, clause: Clause) -> Postings | None:
        """The same of one word, unless it is in every other line; None also while notes are written."""

        def read() -> Postings | None:
            lengths = self._lengths.get(seen.generation, None, lambda: read_lengths(seen.connection))
            if lengths is None:
                return None
            stem = self._stem(seen.connection, clause.tokens[0])
            return read_counted(seen.connection, stem, lengths, prefix=clause.prefix)

        if seen.generation is None or clause.stop or len(clause.tokens) > 1:
            return None
        return self._words.get(seen.generation, clause, read)

    def _matching(self, connection: apsw.Connection, expression: str) -> frozenset[NoteId]:
        sql = "SELECT rowid FROM words WHERE words MATCH ?"
        return frozenset(chain.from_iterable(rows(connection, sql, (expression,))))

    def _size(self, connection: apsw.Connection, generation: int | None) -> int:
        return self._sizes.get(generation, None, lambda: int(scalar(connection, "SELECT count(*) FROM notes")))

    def _count(self, seen: _Seen, clause: Clause, notes: int) -> ClauseCount:
        holders = self._counts.get(seen.generation, (clause, seen.hidden), lambda: self._look_up(seen, clause))
        return ClauseCount(clause, holders, _idf(notes, holders))

    def _look_up(self, seen: _Seen, clause: Clause) -> int:
        connection, hidden = seen.connection, seen.hidden
        # To count the notes of a word's beginning takes as long as to list them.
        listed = self._list(seen, clause) if clause.prefix else self._counted(seen, clause)
        if listed is not None:
            among = np.fromiter(hidden, np.int64, len(hidden))
            return len(listed.ids) - (int(np.isin(listed.ids, among).sum()) if hidden else 0)
        if hidden:  # how many of them hold it, only the list itself can say
            return len(self._matching(connection, match(clause)) - hidden)
        if len(clause.tokens) == 1:
            stem = self._stem(connection, clause.tokens[0])
            return int(scalar(connection, "SELECT doc FROM words_vocabulary WHERE term = ?", (stem,)) or 0)
        return int(scalar(connection, "SELECT count(*) FROM words WHERE words MATCH ?", (match(clause),)))

    def _stem(self, connection: apsw.Connection, token: str) -> str:
        known = self._stems.get(token)
        if known is not None:
            return known
        name, *args = TOKENIZER
        tokenize = connection.fts5_tokenizer(name, args)
        found: list[list[str]] = tokenize(token.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)  # type: ignore[assignment]  # apsw's stub unites every shape of answer
        stem = found[0][0] if found else token
        if len(self._stems) >= _STEMS_KEPT:
            self._stems = {}
        self._stems[token] = stem
        return stem


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one search looks at. ``everything``: how many notes there are, ``hidden`` ones included."""

    connection: apsw.Connection
    generation: int | None
    everything: int
    hidden: frozenset[NoteId]
    lists: dict[Clause, Postings] = field(default_factory=dict)


def _size(postings: Postings | None) -> int:
    return 1 if postings is None else 1 + len(postings.ids)


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
    """The clauses that rank: without stop words and words in over half of the notes, unless nothing else is there."""
    present = [count for count in counts if count.notes]
    telling = [count for count in present if not count.clause.stop and count.notes <= COMMON_SHARE * notes]
    return telling or [count for count in present if not count.clause.stop] or present
