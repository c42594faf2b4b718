"""The lists behind clauses, read once and kept: what a save changes in them is mended, not read again.

A score of several clauses is the sum of their scores, so that each is read by itself, and not again with every query
that it stands in. Where several are still to be read, another thread reads some of them: SQLite is at it by itself. The
words that stand in many notes take longest to read and are asked for most often: while nothing else is to be done they
are read ahead of any query.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain, islice
from typing import NamedTuple

import apsw

from vaultrag.domain import Clause, NoteId
from vaultrag.storage.generation_cache import GenerationCache
from vaultrag.storage.lexical.postings import (
    NOWHERE,
    Forms,
    Lengths,
    Occurrences,
    Postings,
    count_visible,
    phrase,
    read_beginning,
    read_forms,
    read_lengths,
    read_ranked,
    stemmed,
    tokenized,
    united,
)
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.parallel import shared
from vaultrag.storage.sqlite import rows, scalar
from vaultrag.text.stop_words import STOP_WORDS
from vaultrag.text.tokenize import unspaced

COMMON_SHARE = 0.5
"""A word that stands in more than this share of the notes is left out of a query that has others."""

WORTH_A_THREAD = 3_000
"""Notes from which on a list takes longer to read than another thread takes to wake."""

WORTH_READING_AHEAD = 100
"""Notes that hold a word whose list takes a tenth of a millisecond to read, or more."""

_READ_AT_ONCE = 16
_COUNTS_KEPT, _STEMS_KEPT = 10_000, 10_000

_LISTS_BYTES, _READ_AHEAD_BYTES = 32_000_000, 24_000_000
"""Memory for the lists of words with their positions, and for those read ahead of any query."""

_RANKED_KEPT = 1_000_000
"""Notes kept of the lists behind other clauses, 8 bytes each."""


class CachedWord(NamedTuple):
    """The key of a list: a stem, with all forms of the word; or, with ``prefix``, the beginning of words."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class ReadContext:
    """One look into the index.

    Attributes:
        generation: See ``NoteIndex.snapshot``.
        everything: How many notes there are, ``hidden`` ones included.
        lists: What was asked for in this look.
    """

    connection: apsw.Connection
    generation: int | None
    everything: int
    hidden: frozenset[NoteId]
    lists: dict[Clause, Postings] = field(default_factory=dict)


@dataclass(slots=True)
class _Ahead:
    """Posting lists that are read ahead of queries.

    Attributes:
        generation: In which it was chosen.
        left: Stems whose lists are still to be read.
        all_long: Whether every list that takes long to read is among them.
        all_known: Whether all of those were read.
    """

    generation: int
    left: Iterator[str]
    all_long: bool
    all_known: bool = False


class PostingCache:
    """Reads and counts. Callable from any thread."""

    def __init__(self, index: NoteIndex, beside: Executor | None = None) -> None:
        """Make an empty cache.

        Args:
            beside: Threads that may read a part of the lists.
        """
        self.index = index
        self._beside = beside
        self._counts: GenerationCache[tuple[Clause, frozenset[NoteId]], int] = GenerationCache(_COUNTS_KEPT)
        self._words: GenerationCache[CachedWord, Forms | None] = GenerationCache(_LISTS_BYTES, _size, self._renewed)
        self._ranked: GenerationCache[Clause, Postings] = GenerationCache(
            _RANKED_KEPT, lambda found: 1 + len(found.ids) + len(found.positions)
        )
        self._rows: GenerationCache[Clause, Occurrences | None] = GenerationCache(_LISTS_BYTES // 2, _size)
        self._sizes: GenerationCache[None, int] = GenerationCache(4)
        self._lengths: GenerationCache[None, Lengths | None] = GenerationCache(4, renewing=self._renewed_lengths)
        self._spelt: dict[str, tuple[str, str]] = {}
        self._sharing = threading.Lock()
        self._ahead: _Ahead | None = None

    def look(self, connection: apsw.Connection, generation: int | None, hidden: frozenset[NoteId]) -> ReadContext:
        """Begin a look, in a snapshot of the index."""
        everything = self._sizes.get(generation, None, lambda: int(scalar(connection, "SELECT count(*) FROM notes")))
        return ReadContext(connection, generation, everything, hidden)

    def read_together(self, look: ReadContext, clauses: Sequence[Clause]) -> None:
        """Read what is still unknown of these lists, in two threads where that is worth it."""
        if self._beside is None or look.everything < WORTH_A_THREAD or look.generation is None:
            return
        if self._ahead is not None and self._ahead.all_known:
            return  # what is still to be read takes no time
        unknown = [
            c
            for c in clauses
            if not c.stop and _listable(look, c) and not self._words.find(look.generation, self._word(look, c))
        ]
        if len(unknown) < 2:
            return

        def read(taken: Iterator[Clause]) -> None:
            for clause in taken:
                self._listed(look, clause)

        # While many ask at once every thread has enough to do.
        if self._sharing.acquire(blocking=False):
            try:
                shared(self._beside, unknown, read, lambda taken: self._read_beside(look.generation, taken))
            finally:
                self._sharing.release()

    def read_ahead(self) -> bool:
        """Read some of the lists that are likeliest to be asked for; whether there are more to read."""
        with self.index.snapshot() as (connection, generation):
            if generation is None:
                return False
            ahead = self._ahead
            if ahead is None or self.index.changes.between(ahead.generation, generation) is None:
                ahead = self._ahead = self._likely(connection, generation)
            some = list(islice(ahead.left, _READ_AT_ONCE))
            for stem in some:
                self._words.get(generation, CachedWord(stem), partial(read_forms, connection, stem))
        ahead.all_known = ahead.all_long and len(some) < _READ_AT_ONCE
        return len(some) == _READ_AT_ONCE

    def of(self, look: ReadContext, clause: Clause) -> Postings:
        """Return the notes that hold a clause, hidden ones included."""
        if clause not in look.lists:
            look.lists[clause] = self._scored(look, clause)
        return look.lists[clause]

    def _scored(self, look: ReadContext, clause: Clause) -> Postings:
        together = len(clause.tokens) > 1 or bool(clause.variants)
        listed = self._together(look, clause) if together else self._listed(look, clause)
        lengths = self._lengths_of(look) if listed is not None else None
        if listed is not None and lengths is not None:
            return listed.scored(lengths)
        stem = self.stem(look.connection, clause.tokens[0]) if len(clause.tokens) == 1 and not clause.exact else ""
        return self._ranked.get(
            look.generation, clause, lambda: read_ranked(look.connection, clause, look.everything, stem)
        )

    def _together(self, look: ReadContext, clause: Clause) -> Occurrences | None:
        """Return where a row of words stands, or any of several spellings; put together of the words' own lists."""

        def make() -> Occurrences | None:
            rows = [self._row(look, clause, tokens) for tokens in clause.spellings]
            known = [row for row in rows if row is not None]
            return united(known) if len(known) == len(rows) else None

        return self._rows.get(look.generation, clause, make)

    def as_typed(self, look: ReadContext, clause: Clause) -> Postings | None:
        """Return the notes that hold a word as it was typed; None where that is all that hold it, or none does."""
        if clause.exact or clause.prefix or clause.stop or not _listable(look, clause):
            return None
        forms = self._read(look, self._word(look, clause))
        held, _ = self._spelled(look.connection, clause.tokens[0])
        if forms is None or len(forms.each) < 2 or held not in forms.each:
            return None
        lengths = self._lengths_of(look)
        return forms.each[held].scored(lengths) if lengths is not None else None

    def _row(self, look: ReadContext, clause: Clause, tokens: Sequence[str]) -> Occurrences | None:
        """Return where words stand in a row; None where one of them stands in every other line."""
        if any(token in STOP_WORDS for token in tokens[: None if len(tokens) > 1 else 0]):
            return None  # a list of all places of such a word takes longer to read than FTS5 takes for the row
        listed = []
        for place, token in enumerate(tokens, start=1):
            own = self._places(look, token, prefix=clause.prefix and place == len(tokens), exact=clause.exact)
            if own is None:
                return None
            listed.append(own)
        return phrase(listed)

    def _places(self, look: ReadContext, token: str, *, prefix: bool, exact: bool) -> Occurrences | None:
        """Return where a word stands; where it stands nowhere, the words that it is the beginning of."""
        if not (prefix and (exact or unspaced(token))):
            held, stem = self._spelled(look.connection, token)
            forms = self._read(look, CachedWord(stem))
            if forms is None:
                return None
            own = forms.each.get(held, NOWHERE) if exact else forms.all
            if not prefix or len(own.ids):
                return own
        beginning = self._read(look, CachedWord(token, prefix=True))
        return beginning.all if beginning is not None else None

    def count(self, look: ReadContext, clause: Clause) -> int:
        """Return how many of the notes that are seen hold a clause."""
        return self._counts.get(look.generation, (clause, look.hidden), lambda: self._count(look, clause))

    def stem(self, connection: apsw.Connection, token: str) -> str:
        """Return what is left of a token without its ending."""
        return self._spelled(connection, token)[1]

    def held(self, connection: apsw.Connection, token: str) -> str:
        """Return a token as the table holds it."""
        return self._spelled(connection, token)[0]

    def _spelled(self, connection: apsw.Connection, token: str) -> tuple[str, str]:
        """Return a token as the table holds it, and its stem."""
        known = self._spelt.get(token)
        if known is not None:
            return known
        held = next(iter(tokenized(connection, token)), token)
        spelled = (held, stemmed(connection, [held])[0])
        if len(self._spelt) >= _STEMS_KEPT:
            self._spelt = {}
        self._spelt[token] = spelled
        return spelled

    def _likely(self, connection: apsw.Connection, generation: int) -> _Ahead:
        """Return the words worth reading ahead, those in the most notes first, as far as memory allows."""
        notes = int(scalar(connection, "SELECT count(*) FROM notes"))
        bytes_a_note = 14  # id, start and some two positions
        found = rows(
            connection,
            "SELECT term, doc FROM words_vocabulary WHERE doc BETWEEN ? AND ? ORDER BY doc DESC",
            (WORTH_READING_AHEAD, int(COMMON_SHARE * notes)),
        )
        telling = [(term, count) for term, count in found if term not in STOP_WORDS]
        sizes = accumulate(2 * bytes_a_note * count for _, count in telling)  # each form, and all of them together
        likely = [term for (term, _), size in zip(telling, sizes, strict=True) if size <= _READ_AHEAD_BYTES]
        stems = dict.fromkeys(stemmed(connection, likely))
        return _Ahead(generation, iter(stems), all_long=len(likely) == len(telling))

    def _word(self, look: ReadContext, clause: Clause) -> CachedWord:
        return CachedWord(self.stem(look.connection, clause.tokens[0]))

    def _listed(self, look: ReadContext, clause: Clause) -> Occurrences | None:
        """Return the list of one word, unless it is in every other line; None also while notes are written."""
        if not _listable(look, clause):
            return None
        return self._places(look, clause.tokens[0], prefix=clause.prefix, exact=clause.exact)

    def _read(self, look: ReadContext, word: CachedWord) -> Forms | None:
        read = read_beginning if word.prefix else read_forms
        return self._words.get(look.generation, word, lambda: read(look.connection, word.text))

    def _lengths_of(self, look: ReadContext) -> Lengths | None:
        """Return the lengths of all notes; what is long among them is judged by those that are seen."""
        lengths = self._lengths.get(look.generation, None, lambda: read_lengths(look.connection))
        return lengths.without(look.hidden) if lengths is not None and look.hidden else lengths

    def _read_beside(self, generation: int | None, clauses: Iterator[Clause]) -> None:
        """In a look of its own; where that is of another moment, what is asked for is read when it is asked for."""
        with self.index.snapshot() as (connection, now):
            if now == generation:
                look = self.look(connection, now, frozenset())
                for clause in clauses:
                    self._listed(look, clause)

    def _count(self, look: ReadContext, clause: Clause) -> int:
        connection, hidden = look.connection, look.hidden
        # To count the notes of a word's beginning takes as long as to list them. A word that is so common in the
        # language is mostly not looked up, only counted.
        listed = self.of(look, clause) if clause.prefix else None if clause.stop else self._listed(look, clause)
        if listed is not None:
            return count_visible(listed.ids, hidden)
        if hidden:  # how many of them hold it, only the list itself can say
            return sum(note_id not in hidden for note_id in self.of(look, clause).ids.tolist())
        if clause.stop and len(clause.tokens) == 1:
            return int(scalar(connection, "SELECT doc FROM words_vocabulary WHERE term = ?", clause.tokens) or 0)
        return len(self.of(look, clause).ids)

    # -- what has changed ----------------------------------------------------------------------------------------

    def _renewed(self, word: CachedWord, known: Forms | None, earlier: int, later: int) -> tuple[Forms | None] | None:
        changed = self.index.changes.between(earlier, later)
        if changed is None or known is None:
            return None if changed is None else (None,)
        if not changed:
            return (known,)
        if word.prefix:
            positions = {note_id: note.beginning(word.text) for note_id, note in changed.items()}
            return (Forms(known.all.changed(positions), {}),)
        forms = {*known.each, *chain.from_iterable(note.stems.get(word.text, ()) for note in changed.values())}
        each = {
            form: known.each.get(form, NOWHERE).changed({note_id: note.form(form) for note_id, note in changed.items()})
            for form in forms
        }
        return (Forms.of(each),)

    def _renewed_lengths(
        self, key: None, known: Lengths | None, earlier: int, later: int
    ) -> tuple[Lengths | None] | None:
        changed = self.index.changes.between(earlier, later)
        if changed is None or known is None:
            return None
        return (known.changed({note_id: note.words for note_id, note in changed.items()}) if changed else known,)


def holders(connection: apsw.Connection, expression: str) -> frozenset[NoteId]:
    """Every note that an expression of FTS5's matches."""
    return frozenset(
        chain.from_iterable(rows(connection, "SELECT rowid FROM words WHERE words MATCH ?", (expression,)))
    )


def _listable(look: ReadContext, clause: Clause) -> bool:
    return look.generation is not None and len(clause.tokens) == 1 and not clause.variants


def _size(listed: Forms | Occurrences | None) -> int:
    return 256 + (listed.nbytes if listed is not None else 0)
