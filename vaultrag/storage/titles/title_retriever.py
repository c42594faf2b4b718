"""The names arm: notes whose title, file name, alias or heading is what was typed, or nearly so.

Exact names, paths and beginnings come from an index; names typed wrongly from a table of letters in threes, whose
candidates are then compared letter by letter. Words with digits in them are compared exactly: ``ADR-016`` is not
``ADR-018``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import chain

import apsw
import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import NameHit, NameMatch, NoteId
from vaultrag.retrieval.fuzzy import MIN_FUZZY, Likeness, telling
from vaultrag.storage.generation_cache import GenerationCache
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.private_notes import Hidden, listed, nothing_hidden
from vaultrag.storage.sqlite import rows, scalar
from vaultrag.storage.titles.exact_names import WORTH, Seen, exact_headings, exact_names, first
from vaultrag.text.tokenize import tokens_of_name

MAX_NAME_WORDS = 12
"""A longer query is a question, not a name."""

_MIN_SIMILARITY = 0.75
_CANDIDATES = 100
_MAX_TIED, _TIED = 2_000, 300  # where so many are as good as the last candidate, the shortest of them are taken

_MAX_FUZZY_WORDS = 5
"""A longer name that is typed with slips is found by its other words: titles weigh in the words arm too."""

_LISTED = 1_000_000
"""Numbers kept of the lists of names behind letters in threes: 4 MB. While a name is typed, most are asked again."""


class SqliteTitleRetriever:
    """Looks notes up by name. Callable from any thread."""

    def __init__(self, index: NoteIndex, hidden: Hidden = nothing_hidden) -> None:
        """Read this index.

        Args:
            hidden: Notes whose names do not exist for the reader that this is for.
        """
        self._index = index
        self._hidden = hidden
        self._lists: GenerationCache[str, NDArray[np.int32]] = GenerationCache(_LISTED, lambda found: len(found) + 8)
        self._names: GenerationCache[frozenset[NoteId], NDArray[np.int32]] = GenerationCache(_LISTED, len)

    def search(self, text: str, *, k: int = 20, allowed: frozenset[NoteId] | None = None) -> list[NameHit]:
        """Return the notes that have this name or path, and the best ``k`` others by name, best first, one row a note.

        Args:
            text: A name as typed, or one of the forms of ``retrieval.note_reference``.
            k: Notes at most whose name is another.
            allowed: The notes that may be found; None for all.
        """
        words = tokens_of_name(text)
        if not words:
            return []
        key = " ".join(words)
        with self._index.snapshot() as (connection, generation):
            seen = Seen(allowed, self._hidden(connection))
            found = [*exact_names(connection, text, seen), *exact_headings(connection, text, seen)]
            if len(key) >= 3 and len(words) <= MAX_NAME_WORDS:
                found += _beginning(connection, key, seen)
                found += self._similar(connection, words, generation, seen)
        best: dict[NoteId, NameHit] = {}
        for hit in sorted(found, key=lambda hit: (-hit.match, -hit.similarity, len(hit.name), hit.note_id)):
            best.setdefault(hit.note_id, hit)
        hits = list(best.values())
        return hits[: max(k, sum(hit.exact for hit in hits))]

    def has(self, text: str) -> bool:
        """Return True if a note has this name sign for sign, or this path."""
        with self._index.snapshot() as (connection, _):
            found = exact_names(connection, text, Seen(None, self._hidden(connection)))
        return any(hit.match >= NameMatch.VERBATIM for hit in found)

    def spelled(self, word: str) -> list[str]:
        """Return the words of titles, file names and aliases that ``word`` is likely to be a slip of.

        Returns:
            The likeliest ones, at most three, where ``word`` itself is none of them; most often none.
        """
        grams = sorted({word[i : i + 3] for i in range(len(word) - 2)})
        if not grams or len(word) < MIN_FUZZY:
            return []
        with self._index.snapshot() as (connection, generation):
            hidden = self._hidden(connection)
            ids, tied = _best(self._lists_of(connection, grams, generation, Seen(None, hidden)))
            found = rows(
                connection,
                f"SELECT DISTINCT key FROM names WHERE id IN (SELECT value FROM json_each(?)) AND {_NOT_HIDDEN}",
                (json.dumps([*ids, *tied[:_TIED]]), listed(hidden)),
            )
        likeness = Likeness([word], [key.split() for (key,) in found])
        values = likeness.words[0]
        best = values.max(initial=0.0)
        if not 0.0 < best < 1.0:
            return []
        return sorted({likeness.others[place] for place in np.flatnonzero(values == best)})[:3]

    def _similar(
        self, connection: apsw.Connection, words: Sequence[str], generation: int | None, seen: Seen
    ) -> list[NameHit]:
        asked = telling(words)
        grams = sorted({word[i : i + 3] for word in asked for i in range(len(word) - 2)})
        if not grams or len(asked) > _MAX_FUZZY_WORDS:
            return []
        better, tied = _best(self._lists_of(connection, grams, generation, seen))
        # A name has as many letters as it matches: a slip that leaves one out costs more than a letter's likeness.
        least = int(_MIN_SIMILARITY * sum(map(len, set(asked))))
        found = [*_keys(connection, better, least, _CANDIDATES), *_keys(connection, tied, least, _TIED)]
        near, whole = _near(words, found), " ".join(words)
        if not near:
            return []
        sql = "SELECT id, note_id, kind, name, key FROM names WHERE id IN (SELECT value FROM json_each(?))"
        hits = {
            number: NameHit(note_id, kind, name, 0.9 * near[number], _part(whole, key))
            for number, note_id, kind, name, key in rows(connection, sql, (json.dumps(list(near)),))
            if note_id in seen
        }
        return [hits[number] for number in near if number in hits]

    def _lists_of(
        self, connection: apsw.Connection, grams: Sequence[str], generation: int | None, seen: Seen
    ) -> list[NDArray[np.int32]]:
        """For each three letters the names that hold them, of notes that are seen: cut before the best are chosen."""
        lists = [self._holding(connection, gram, generation) for gram in grams]
        if seen.allowed is not None:
            names = self._names_of(connection, seen.allowed, generation)
            lists = [found[np.isin(found, names, assume_unique=True)] for found in lists]
        elif seen.hidden:
            names = self._names_of(connection, seen.hidden, generation)
            lists = [found[np.isin(found, names, assume_unique=True, invert=True)] for found in lists]
        return lists

    def _names_of(
        self, connection: apsw.Connection, notes: frozenset[NoteId], generation: int | None
    ) -> NDArray[np.int32]:
        """Return the numbers of these notes' names."""

        def read() -> NDArray[np.int32]:
            sql = "SELECT id FROM names WHERE note_id IN (SELECT value FROM json_each(?)) AND kind != 'heading'"
            return np.fromiter(chain.from_iterable(rows(connection, sql, (json.dumps(list(notes)),))), np.int32)

        return self._names.get(generation, notes, read)

    def _holding(self, connection: apsw.Connection, gram: str, generation: int | None) -> NDArray[np.int32]:
        """Return the numbers of the names that hold these three letters."""

        def read() -> NDArray[np.int32]:
            sql = "SELECT group_concat(rowid) FROM name_letters WHERE name_letters MATCH ?"
            # A NUL ends what SQLite reads of the expression; it is in no name.
            quoted = '"' + gram.replace('"', '""').replace("\0", " ") + '"'
            found = scalar(connection, sql, (quoted,))
            return np.fromstring(found, np.int32, sep=",") if found else np.zeros(0, np.int32)

        return self._lists.get(generation, gram, read)


_NOT_HIDDEN = "note_id NOT IN (SELECT value FROM json_each(?))"


def _part(words: str, name: str) -> NameMatch:
    """Tell whether these words stand in a name in a row. Both are keys."""
    return NameMatch.PART if f" {words} " in f" {name} " else NameMatch.NONE


def _beginning(connection: apsw.Connection, key: str, seen: Seen) -> list[NameHit]:
    # A range, which is an index walk where LIKE would scan; U+10FFFF sorts behind every letter there is.
    sql = (
        "SELECT note_id, kind, name, key FROM names WHERE key > ?1 AND key < ?1 || char(0x10ffff) ORDER BY length(key)"
    )
    found = first(50, connection.execute(sql + (" LIMIT 50" if seen.everything else ""), (key,)), seen)
    return [
        NameHit(
            note_id,
            kind,
            name,
            WORTH[kind] * (0.75 + 0.2 * len(key) / len(other)),
            _part(key, other) if kind != "heading" else NameMatch.NONE,
        )
        for note_id, kind, name, other in found
    ]


def _best(lists: Sequence[NDArray[np.int32]]) -> tuple[list[int], list[int]]:
    """Return the numbers that stand in the most lists, rare lists weighing more, and those that tie for the last place.

    SQLite's own ``bm25`` over the same letters takes many times as long, and the order among the best does not matter:
    they are compared word by word.
    """
    scores = np.zeros(1 + max((int(found[-1]) for found in lists if len(found)), default=0))
    for found in lists:
        scores[found] += 1.0 / (1.0 + math.log1p(len(found)))
    here = np.flatnonzero(scores > 0.0)  # of truths: a search through numbers takes ten times as long
    if len(here) <= _CANDIDATES:
        return here.tolist(), []
    scores = scores[here]
    last = np.partition(scores, -_CANDIDATES)[-_CANDIDATES]
    better, tied = here[scores > last + 1e-9], here[np.abs(scores - last) <= 1e-9]
    return better.tolist(), tied[:_MAX_TIED].tolist()


def _keys(connection: apsw.Connection, names: Sequence[int], least: int, limit: int) -> list[tuple[int, str]]:
    """Return the numbers and keys of the names that have ``least`` letters; the shortest, where there are too many."""
    sql = "SELECT id, key FROM names WHERE id IN (SELECT value FROM json_each(?)) AND length(key) >= ?"
    found = rows(connection, sql, (json.dumps(names), least)) if names else []
    return found if len(found) <= limit else sorted(found, key=lambda name: (len(name[1]), name[0]))[:limit]


def _near(asked: Sequence[str], found: Sequence[tuple[int, str]]) -> dict[int, float]:
    """Return the candidates that are like the words asked for: number and likeness.

    Args:
        asked: Words.
        found: (number, key).
    """
    likeness = Likeness(asked, [key.split() for _, key in found])
    near = {}
    for place in np.flatnonzero(likeness.coverages() >= _MIN_SIMILARITY).tolist():  # a likeness is never above it
        similarity = likeness.similarity(place)
        if similarity >= _MIN_SIMILARITY:
            near[found[place][0]] = similarity
    return near
