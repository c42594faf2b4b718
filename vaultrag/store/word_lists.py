"""The lists behind clauses, read once and kept as long as the index stays as it is.

A score of several clauses is the sum of their scores, so that each is read by itself, and not again with every query
that it stands in. Where several are still to be read, another thread reads some of them: SQLite is at it by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import chain

import apsw
import numpy as np

from vaultrag.model import Clause, NoteId
from vaultrag.store.beside import shared
from vaultrag.store.connection import rows, scalar
from vaultrag.store.kept import Kept
from vaultrag.store.note_index import NoteIndex
from vaultrag.store.postings import Lengths, Postings, match, read_counted, read_lengths, read_ranked
from vaultrag.store.schema import TOKENIZER

WORTH_A_THREAD = 3_000
"""Notes from which on a list takes longer to read than another thread takes to wake."""

_COUNTS_KEPT, _STEMS_KEPT = 10_000, 10_000

_POSTINGS_KEPT = 2_000_000
"""Notes kept of the lists behind words, and of those behind other clauses, 8 bytes each."""


@dataclass(frozen=True, slots=True)
class Look:
    """One look into the index.

    Attributes:
        generation: See ``NoteIndex.snapshot``.
        everything: How many notes there are, ``hidden`` ones included.
        lists: What was read in this look, where it is not kept beyond it.
    """

    connection: apsw.Connection
    generation: int | None
    everything: int
    hidden: frozenset[NoteId]
    lists: dict[Clause, Postings] = field(default_factory=dict)


class WordLists:
    """Reads and counts. Callable from any thread."""

    def __init__(self, index: NoteIndex, beside: Executor | None = None) -> None:
        """Args:
        beside: Threads that may read a part of the lists.
        """
        self._index = index
        self._beside = beside
        self._counts: Kept[tuple[Clause, frozenset[NoteId]], int] = Kept(_COUNTS_KEPT)
        self._words: Kept[Clause, Postings | None] = Kept(_POSTINGS_KEPT, _size)
        self._ranked: Kept[Clause, Postings] = Kept(_POSTINGS_KEPT, _size)
        self._sizes: Kept[None, int] = Kept(1_000)
        self._lengths: Kept[None, Lengths | None] = Kept(1_000)
        self._stems: dict[str, str] = {}
        self._sharing = threading.Lock()

    def look(self, connection: apsw.Connection, generation: int | None, hidden: frozenset[NoteId]) -> Look:
        """Begin a look, in a snapshot of the index."""
        everything = self._sizes.get(generation, None, lambda: int(scalar(connection, "SELECT count(*) FROM notes")))
        return Look(connection, generation, everything, hidden)

    def read_ahead(self, look: Look, clauses: Sequence[Clause]) -> None:
        """Read what is still unknown of these lists, in two threads where that is worth it."""
        if self._beside is None or look.everything < WORTH_A_THREAD:
            return
        unknown = [c for c in clauses if _listable(look, c) and not self._words.has(look.generation, c)]
        if len(unknown) < 2:
            return

        def read(taken: Iterator[Clause]) -> None:
            for clause in taken:
                self.counted(look, clause)

        # While many ask at once every thread has enough to do.
        if self._sharing.acquire(blocking=False):
            try:
                shared(self._beside, unknown, read, lambda taken: self._read_beside(look.generation, taken))
            finally:
                self._sharing.release()

    def of(self, look: Look, clause: Clause) -> Postings:
        """The notes that hold a clause, hidden ones included."""
        counted = self.counted(look, clause)
        if counted is not None:
            return counted
        if clause not in look.lists:
            look.lists[clause] = self._ranked.get(
                look.generation, clause, lambda: read_ranked(look.connection, clause, look.everything)
            )
        return look.lists[clause]

    def counted(self, look: Look, clause: Clause) -> Postings | None:
        """The same of one word, unless it is in every other line; None also while notes are written."""

        def read() -> Postings | None:
            lengths = self._lengths.get(look.generation, None, lambda: read_lengths(look.connection))
            if lengths is None:
                return None
            stem = self.stem(look.connection, clause.tokens[0])
            return read_counted(look.connection, stem, lengths, prefix=clause.prefix)

        return self._words.get(look.generation, clause, read) if _listable(look, clause) else None

    def count(self, look: Look, clause: Clause) -> int:
        """How many of the notes that are seen hold a clause."""
        return self._counts.get(look.generation, (clause, look.hidden), lambda: self._count(look, clause))

    def stem(self, connection: apsw.Connection, token: str) -> str:
        """What the tokenizer makes of a token."""
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

    def _read_beside(self, generation: int | None, clauses: Iterator[Clause]) -> None:
        """In a look of its own; where that is of another moment, what is asked for is read when it is asked for."""
        with self._index.snapshot() as (connection, now):
            if now == generation:
                look = self.look(connection, now, frozenset())
                for clause in clauses:
                    self.counted(look, clause)

    def _count(self, look: Look, clause: Clause) -> int:
        connection, hidden = look.connection, look.hidden
        # To count the notes of a word's beginning takes as long as to list them.
        listed = self.of(look, clause) if clause.prefix else self.counted(look, clause)
        if listed is not None:
            among = np.fromiter(hidden, np.int64, len(hidden))
            return len(listed.ids) - (int(np.isin(listed.ids, among).sum()) if hidden else 0)
        if hidden:  # how many of them hold it, only the list itself can say
            return len(holders(connection, match(clause)) - hidden)
        if len(clause.tokens) == 1:
            stem = self.stem(connection, clause.tokens[0])
            return int(scalar(connection, "SELECT doc FROM words_vocabulary WHERE term = ?", (stem,)) or 0)
        return int(scalar(connection, "SELECT count(*) FROM words WHERE words MATCH ?", (match(clause),)))


def holders(connection: apsw.Connection, expression: str) -> frozenset[NoteId]:
    """Every note that an expression of FTS5's matches."""
    return frozenset(
        chain.from_iterable(rows(connection, "SELECT rowid FROM words WHERE words MATCH ?", (expression,)))
    )


def _listable(look: Look, clause: Clause) -> bool:
    return look.generation is not None and not clause.stop and len(clause.tokens) == 1


def _size(postings: Postings | None) -> int:
    return 1 if postings is None else 1 + len(postings.ids)
