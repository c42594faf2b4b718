"""The lexical retriever: BM25 over the full-text table, and how near to each other a query's words stand.

The ranking is one OR over the clauses: a note with more of the words, and the rarer ones, comes first, and there is no
cliff between "all words" and "any word".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import apsw

from vaultrag.domain import Clause, ClauseCount, NoteId
from vaultrag.storage.integrity import disagreement
from vaultrag.storage.lexical.matches import LexicalMatches
from vaultrag.storage.lexical.posting_cache import PostingCache, ReadContext, holders
from vaultrag.storage.lexical.postings import Postings, count_visible, match, read_containing, read_form_names
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.private_notes import Hidden, nothing_hidden
from vaultrag.storage.sqlite import InvalidRow, scalar

MOST_COMPOUNDS = 32
"""Words that are looked for in the place of one that they hold."""

CLOSER = 0.5
"""Share of what the form typed is rarer than all forms together; the whole of it costs questions in other words."""

_LEAST_MORE = 0.1
"""What the form typed must be worth beyond the others to be looked at by itself."""


class SqliteLexicalRetriever:
    """Ranks notes by words. Callable from any thread."""

    def __init__(self, index: NoteIndex, hidden: Hidden = nothing_hidden, lists: PostingCache | None = None) -> None:
        """Read this index.

        Args:
            hidden: Notes that do not exist for the reader that this is for: they are not found, and not counted either.
            lists: Of this index, where several read them.
        """
        self._index = index
        self._hidden = hidden
        self._lists = lists or PostingCache(index)
        self._compared: WeakKeyDictionary[apsw.Connection, int] = WeakKeyDictionary()

    def search(
        self,
        clauses: Sequence[Clause],
        *,
        k: int = 80,
        allowed: frozenset[NoteId] | None = None,
        row: Sequence[tuple[Clause, int]] = (),
    ) -> LexicalMatches:
        """Rank the ``k`` best notes among ``allowed`` (None: all) that hold a clause."""
        if not clauses:
            return LexicalMatches([], [], 0)
        with self._index.snapshot() as (connection, generation):
            hidden = self._hidden(connection)
            look = self._lists.look(connection, generation, hidden)
            notes = look.everything - len(hidden)
            self._lists.read_together(look, clauses)
            counts = [self._count(look, clause, notes) for clause in clauses]
            ranking = _ranking(counts)
            postings = [self._lists.of(look, count.clause) if count.notes else None for count in ranking]
            closer = [self._closer(look, count, notes) for count in ranking if count.notes]
            matches = LexicalMatches(
                counts,
                list(zip(ranking, postings, strict=True)),
                notes,
                [one for one in closer if one is not None],
                [
                    (place, offset)
                    for place, count in enumerate(ranking)
                    for clause, offset in row
                    if clause == count.clause
                ],
                hidden,
            ).best(k, allowed)
            # Before "no note holds it" is said: a lost row would have that said of a note that is there.
            if not len(matches.ids):
                self._compare_tables(connection)
        return matches

    def _compare_tables(self, connection: apsw.Connection) -> None:
        """Raise ``InvalidRow`` where rows are missing; once for each state of the file, as all notes are counted."""
        state = int(scalar(connection, "PRAGMA data_version"))
        if self._compared.get(connection) == state:
            return
        if why := disagreement(connection):
            raise InvalidRow(why)
        self._compared[connection] = state

    def holding(self, clauses: Sequence[Clause]) -> frozenset[NoteId]:
        """Every note that holds one of the clauses."""
        if not clauses:
            return frozenset()
        with self._index.readers.reading() as connection:
            forms = {
                clause: read_form_names(connection, self._lists.stem(connection, clause.tokens[0]))
                for clause in clauses
                if len(clause.tokens) == 1 and not clause.exact
            }
            return holders(connection, " OR ".join(_wishes(clauses, forms))) - self._hidden(connection)

    def containing(self, word: str) -> list[str]:
        """Return words of the notes that hold this one, those that begin with it first; at most ``MOST_COMPOUNDS``."""
        with self._index.snapshot() as (connection, generation):
            hidden = self._hidden(connection)
            look = self._lists.look(connection, generation, hidden)
            held = read_containing(connection, self._lists.held(connection, word), MOST_COMPOUNDS)
            # A word of hidden notes alone, or of notes that are gone, is none.
            return [one for one in held if self._lists.count(look, Clause((one,), 0, exact=True))]

    def stems(self, words: Sequence[str]) -> list[str]:
        """Return what the tokenizer reduces each word to, English endings taken off."""
        connection = self._index.readers.get()  # no snapshot: the tokenizer reads no table
        return [self._lists.stem(connection, word) for word in words]

    def _closer(self, look: ReadContext, count: ClauseCount, notes: int) -> tuple[float, Postings] | None:
        """Return what a word as it was typed is worth beyond its other forms, and the notes that hold it so."""
        postings = self._lists.as_typed(look, count.clause)
        if postings is None:
            return None
        more = CLOSER * (_idf(notes, count_visible(postings.ids, look.hidden)) - count.idf)
        return (more, postings) if more > _LEAST_MORE else None

    def _count(self, look: ReadContext, clause: Clause, notes: int) -> ClauseCount:
        holding = self._lists.count(look, clause)
        return ClauseCount(clause, holding, _idf(notes, holding))


def _idf(notes: int, count: int) -> float:
    return math.log1p((notes - count + 0.5) / (count + 0.5)) if count <= notes else 0.0


def _ranking(counts: Sequence[ClauseCount]) -> list[ClauseCount]:
    """Return the clauses that rank: all but the stop words, unless nothing else was asked for."""
    return [count for count in counts if not count.clause.stop] or list(counts)


def _wishes(clauses: Sequence[Clause], forms: Mapping[Clause, Sequence[str]]) -> list[str]:
    """One expression a term: it is held as a whole, or, where it has no whole, by all of its parts.

    Args:
        forms: Of clauses of one word, the words that hold it too.
    """
    terms: dict[int, list[Clause]] = {}
    for clause in clauses:
        terms.setdefault(clause.term, []).append(clause)
    wishes = []
    for own in terms.values():
        whole = [match(clause, forms.get(clause, ())) for clause in own if not clause.part]
        parts = (f"({match(clause, forms.get(clause, ()))})" for clause in own)
        wishes.append("(" + (" OR ".join(whole) or " AND ".join(parts)) + ")")
    return wishes
