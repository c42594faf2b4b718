"""The words arm: BM25 over the full-text table, and how much of the query each note really covers.

The ranking is one OR over the clauses: a note with more of the words, and the rarer ones, comes first, and there is no
cliff between "all words" and "any word". Which clauses a note holds is asked for apart, clause by clause, rare ones
only: a common word's list is long and tells little.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from itertools import chain

import apsw

from vaultrag.model import Clause, ClauseCount, NoteId, WordHit, WordResult
from vaultrag.store.connection import rows, scalar
from vaultrag.store.note_index import NoteIndex
from vaultrag.store.private import Hidden, nothing_hidden
from vaultrag.store.schema import FIELDS, TOKENIZER

FIELD_WEIGHTS: dict[str, float] = {
    "title": 6.0,
    "aliases": 6.0,
    "headings": 2.5,
    "tags": 2.0,
    "properties": 1.0,
    "body": 1.0,
    "extra": 0.3,
}
"""BM25 weight of each column, in the order of the table. Chosen on judged queries: see tests/quality."""

COMMON_SHARE = 0.5
"""A word that stands in more than this share of the notes is left out of a query that has others."""

COVERED_SHARE = 0.3
"""A clause in more than this share of the notes is not looked up note by note."""


_COUNTS_KEPT = 10_000
_STEMS_KEPT = 10_000

_LISTS_KEPT = 100_000
"""Note numbers kept of the lists behind clauses; while a query is typed, its first words are asked again and again."""


class FullText:
    """Ranks notes by words. Callable from any thread."""

    def __init__(self, index: NoteIndex, hidden: Hidden = nothing_hidden) -> None:
        """Args:
        hidden: Notes that do not exist for the reader that this is for: they are not found, and not counted either.
        """
        self._index = index
        self._hidden = hidden
        # By the generation that was current before the count was made: a count never serves a later one.
        self._counts: dict[tuple[int, Clause], int] = {}
        self._sizes: tuple[int, int] = (-1, 0)  # (generation, notes)
        self._lists: dict[tuple[int, Clause], frozenset[NoteId]] = {}
        self._listed = 0
        self._stems: dict[str, str] = {}
        self._score = f"bm25(words, {', '.join(str(FIELD_WEIGHTS[name]) for name in FIELDS)})"

    def search(
        self,
        clauses: Sequence[Clause],
        excluded: Sequence[Clause] = (),
        *,
        k: int = 80,
        allowed: frozenset[NoteId] | None = None,
    ) -> WordResult:
        """The ``k`` best notes among ``allowed`` (None: all) that hold a clause and none of ``excluded``."""
        if not clauses:
            return WordResult()
        generation = self._index.generation
        with self._index.readers.reading() as connection:
            hidden = self._hidden(connection)
            notes = self._size(connection, generation) - len(hidden)
            count = self._count_without(hidden) if hidden else self._count
            counts = [count(connection, clause, notes, generation) for clause in clauses]
            asked = _worth_asking(counts, notes)
            if not asked or allowed == frozenset():
                return WordResult(counts=counts, notes=notes)
            barred = self._holding_any(connection, excluded)
            if hidden:
                ranked = self._ranked_without(connection, asked, notes, k, allowed, barred, hidden, generation)
            else:
                match = " OR ".join(_match(count.clause) for count in asked)
                ranked = self._ranked(connection, match, k, allowed, barred)
            held = self._held(connection, counts, notes, {note_id for note_id, _ in ranked}, generation)
        hits = [WordHit(note_id, -score, frozenset(held.get(note_id, ()))) for note_id, score in ranked]
        return WordResult(hits, counts, notes)

    def holding(self, clauses: Sequence[Clause]) -> frozenset[NoteId]:
        """Every note that holds one of the clauses."""
        with self._index.readers.reading() as connection:
            return self._holding_any(connection, clauses) - self._hidden(connection)

    def stems(self, words: Sequence[str]) -> list[str]:
        """What the tokenizer reduces each word to, English endings taken off."""
        connection = self._index.readers.get()  # no snapshot: the tokenizer reads no table
        return [self._stem(connection, word) for word in words]

    def _ranked(
        self,
        connection: apsw.Connection,
        match: str,
        k: int,
        allowed: frozenset[NoteId] | None,
        barred: frozenset[NoteId],
    ) -> list[tuple[NoteId, float]]:
        # "ORDER BY s" on the selected score is 1.5 times faster than FTS5's own "ORDER BY rank".
        sql = f"SELECT rowid, {self._score} AS s FROM words WHERE words MATCH ? ORDER BY s"
        if allowed is None and not barred:
            return rows(connection, sql + " LIMIT ?", (match, k))
        # FTS5 with "rowid IN (…)" takes hundreds of milliseconds; reading on until k are found takes one.
        kept: list[tuple[NoteId, float]] = []
        for note_id, score in connection.execute(sql, (match,)):
            if note_id not in barred and (allowed is None or note_id in allowed):
                kept.append((note_id, score))
                if len(kept) == k:
                    break
        return kept

    def _ranked_without(
        self,
        connection: apsw.Connection,
        asked: Sequence[ClauseCount],
        notes: int,
        k: int,
        allowed: frozenset[NoteId] | None,
        barred: frozenset[NoteId],
        hidden: frozenset[NoteId],
        generation: int,
    ) -> list[tuple[NoteId, float]]:
        """``_ranked``, as if the hidden notes did not exist.

        FTS5 weighs a word by all the notes that hold it, which would tell how many hidden ones do. So each clause is
        asked for by itself, and its part of the score is brought to the weight that it has among the notes seen.
        """
        everything = notes + len(hidden)
        scores: dict[NoteId, float] = {}
        for count in asked:
            holders = len(self._list(connection, count.clause, generation))
            factor = _fts_weight(notes, count.notes) / _fts_weight(everything, holders)
            sql = f"SELECT rowid, {self._score} FROM words WHERE words MATCH ?"
            for note_id, score in connection.execute(sql, (_match(count.clause),)):
                if note_id not in hidden and note_id not in barred and (allowed is None or note_id in allowed):
                    scores[note_id] = scores.get(note_id, 0.0) + factor * score
        return heapq.nsmallest(k, scores.items(), key=lambda pair: (pair[1], pair[0]))

    def _held(
        self,
        connection: apsw.Connection,
        counts: list[ClauseCount],
        notes: int,
        wanted: set[NoteId],
        generation: int,
    ) -> dict[NoteId, list[int]]:
        held: dict[NoteId, list[int]] = {}
        rarest = min((count.notes for count in counts if count.notes and not count.clause.stop), default=0)
        limit = max(COVERED_SHARE * notes, rarest, 200)
        for index, count in enumerate(counts):
            if not count.notes or count.notes > limit or count.clause.stop:
                continue
            for note_id in wanted & self._list(connection, count.clause, generation):
                held.setdefault(note_id, []).append(index)
        return held

    def _list(self, connection: apsw.Connection, clause: Clause, generation: int) -> frozenset[NoteId]:
        found = self._lists.get((generation, clause))
        if found is None:
            sql = "SELECT rowid FROM words WHERE words MATCH ?"
            found = frozenset(chain.from_iterable(rows(connection, sql, (_match(clause),))))
            if self._listed + len(found) > _LISTS_KEPT:
                self._lists, self._listed = {}, 0
            if len(found) <= _LISTS_KEPT // 4:
                self._lists[generation, clause] = found
                self._listed += len(found) + 1
        return found

    def _size(self, connection: apsw.Connection, generation: int) -> int:
        known, notes = self._sizes
        if known != generation:
            notes = int(scalar(connection, "SELECT count(*) FROM notes"))
            self._sizes = (generation, notes)
        return notes

    def _holding_any(self, connection: apsw.Connection, clauses: Sequence[Clause]) -> frozenset[NoteId]:
        if not clauses:
            return frozenset()
        match = " OR ".join(_wishes(clauses))
        return frozenset(row[0] for row in rows(connection, "SELECT rowid FROM words WHERE words MATCH ?", (match,)))

    def _count_without(self, hidden: frozenset[NoteId]) -> Callable[[apsw.Connection, Clause, int, int], ClauseCount]:
        def count(connection: apsw.Connection, clause: Clause, notes: int, generation: int) -> ClauseCount:
            holders = len(self._list(connection, clause, generation) - hidden)
            return ClauseCount(clause, holders, _idf(notes, holders))

        return count

    def _count(self, connection: apsw.Connection, clause: Clause, notes: int, generation: int) -> ClauseCount:
        count = self._counts.get((generation, clause))
        if count is None:
            count = self._look_up(connection, clause)
            if len(self._counts) >= _COUNTS_KEPT:
                self._counts = {}
            self._counts[generation, clause] = count
        return ClauseCount(clause, count, _idf(notes, count))

    def _look_up(self, connection: apsw.Connection, clause: Clause) -> int:
        if len(clause.tokens) == 1 and not clause.prefix:
            stem = self._stem(connection, clause.tokens[0])
            return int(scalar(connection, "SELECT doc FROM words_vocabulary WHERE term = ?", (stem,)) or 0)
        return int(scalar(connection, "SELECT count(*) FROM words WHERE words MATCH ?", (_match(clause),)))

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


def _idf(notes: int, count: int) -> float:
    return math.log1p((notes - count + 0.5) / (count + 0.5)) if count <= notes else 0.0


def _fts_weight(notes: int, count: int) -> float:
    """FTS5's own idf, which is another: without the 1, and never below a millionth."""
    return max(1e-6, math.log((notes - count + 0.5) / (count + 0.5))) if count <= notes else 1e-6


def _wishes(clauses: Sequence[Clause]) -> list[str]:
    """One expression a term: it is held as a whole, or, where it has no whole, by all of its parts."""
    terms: dict[int, list[Clause]] = {}
    for clause in clauses:
        terms.setdefault(clause.term, []).append(clause)
    wishes = []
    for own in terms.values():
        whole = [_match(clause) for clause in own if not clause.part]
        wishes.append("(" + (" OR ".join(whole) or " AND ".join(_match(clause) for clause in own)) + ")")
    return wishes


def _worth_asking(counts: list[ClauseCount], notes: int) -> list[ClauseCount]:
    """The clauses that rank: without stop words and words in over half of the notes, unless nothing else is there."""
    present = [count for count in counts if count.notes]
    telling = [count for count in present if not count.clause.stop and count.notes <= COMMON_SHARE * notes]
    return telling or [count for count in present if not count.clause.stop] or present


def _match(clause: Clause) -> str:
    """FTS5's own syntax, in this one place: a quoted string is data, whatever it holds."""
    quoted = " ".join(clause.tokens).replace('"', '""')
    return f'"{quoted}"*' if clause.prefix else f'"{quoted}"'
