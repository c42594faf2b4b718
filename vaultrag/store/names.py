"""The names arm: notes whose title, file name, alias or heading is what was typed, or nearly so.

Exact names and beginnings come from an index; names typed wrongly from a table of letters in threes, whose candidates
are then compared letter by letter. Words with digits in them are compared exactly: ``ADR-016`` is not ``ADR-018``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from itertools import chain

import apsw
import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from vaultrag.model import NameHit, NoteId
from vaultrag.notes.words import name_key, tokens_of_name
from vaultrag.ranking.stopwords import STOP_WORDS
from vaultrag.store.connection import rows
from vaultrag.store.note_index import NoteIndex

MAX_NAME_WORDS = 12
"""A longer query is a question, not a name."""

_MIN_SIMILARITY = 0.75
_MIN_FUZZY = 4  # letters; a slip in a shorter word makes another word
_MAX_SLIPS = 2
_CANDIDATES = 100
_MAX_TIED, _TIED = 2_000, 300  # where so many are as good as the last candidate, the shortest of them are taken

_LISTED = 500_000
"""Numbers kept of the lists of names behind letters in threes: 4 MB. While a name is typed, most are asked again."""


class Names:
    """Looks notes up by name. Callable from any thread."""

    def __init__(self, index: NoteIndex) -> None:
        self._index = index
        # By the generation that was current before the list was read: a list never serves a later one.
        self._lists: dict[tuple[int, str], NDArray[np.int64]] = {}
        self._listed = 0

    def search(self, text: str, *, k: int = 20, allowed: frozenset[NoteId] | None = None) -> list[NameHit]:
        """The best ``k`` notes by name, best first, one row a note."""
        words = tokens_of_name(text)
        if not words or len(words) > MAX_NAME_WORDS:
            return []
        key = " ".join(words)
        generation = self._index.generation
        with self._index.readers.reading() as connection:
            found = _exact(connection, key)
            if len(key) >= 3:
                found += _beginning(connection, key)
                found += self._similar(connection, words, generation)
        best: dict[NoteId, NameHit] = {}
        for hit in found:
            known = best.get(hit.note_id)
            if (allowed is None or hit.note_id in allowed) and (known is None or hit.similarity > known.similarity):
                best[hit.note_id] = hit
        return sorted(best.values(), key=lambda hit: (-hit.similarity, len(hit.name), hit.note_id))[:k]

    def exact(self, text: str) -> list[NoteId]:
        """Notes whose title, file name or alias is exactly this, case, accents and separators aside."""
        with self._index.readers.reading() as connection:
            return [hit.note_id for hit in _exact(connection, name_key(text)) if hit.kind != "heading"]

    def _similar(self, connection: apsw.Connection, words: Sequence[str], generation: int) -> list[NameHit]:
        telling = _telling(words)
        grams = sorted({word[i : i + 3] for word in telling for i in range(len(word) - 2)})
        if not grams:
            return []
        better, tied = _best([self._holding(connection, gram, generation) for gram in grams])
        found = [
            row
            for ids, limit in ((better, _CANDIDATES), (tied, _TIED))
            for row in rows(
                connection,
                "SELECT note_id, kind, name, key FROM names WHERE id IN (SELECT value FROM json_each(?))"
                " ORDER BY length(key), id LIMIT ?",
                (json.dumps(ids), limit),
            )
        ]
        return _near(telling, found)

    def _holding(self, connection: apsw.Connection, gram: str, generation: int) -> NDArray[np.int64]:
        """The numbers of the names that hold these three letters."""
        found = self._lists.get((generation, gram))
        if found is None:
            sql = "SELECT rowid FROM name_letters WHERE name_letters MATCH ?"
            quoted = '"' + gram.replace('"', '""') + '"'
            found = np.fromiter(chain.from_iterable(rows(connection, sql, (quoted,))), np.int64)
            if self._listed > _LISTED:
                self._lists, self._listed = {}, 0
            self._lists[generation, gram] = found
            self._listed += len(found) + 8
        return found


_EXACT_WORTH = {"title": 1.0, "file": 1.0, "alias": 1.0, "heading": 0.85}


def _exact(connection: apsw.Connection, key: str) -> list[NameHit]:
    found = rows(connection, "SELECT note_id, kind, name FROM names WHERE key = ? LIMIT 200", (key,))
    return [NameHit(note_id, kind, name, _EXACT_WORTH[kind], kind != "heading") for note_id, kind, name in found]


def _beginning(connection: apsw.Connection, key: str) -> list[NameHit]:
    # A range, which is an index walk where LIKE would scan; U+10FFFF sorts behind every letter there is.
    found = rows(
        connection,
        "SELECT note_id, kind, name, key FROM names WHERE key > ?1 AND key < ?1 || char(0x10ffff)"
        " ORDER BY length(key) LIMIT 50",
        (key,),
    )
    return [
        NameHit(note_id, kind, name, _EXACT_WORTH[kind] * (0.75 + 0.2 * len(key) / len(other)))
        for note_id, kind, name, other in found
    ]


def _best(lists: Sequence[NDArray[np.int64]]) -> tuple[list[int], list[int]]:
    """The numbers that stand in the most lists, the rare lists weighing more, and those that tie for the last places.

    SQLite's own ``bm25`` over the same letters takes many times as long, and the order among the best does not matter:
    they are compared word by word.
    """
    weights = [1.0 / (1.0 + math.log1p(len(found))) for found in lists]
    ids = np.concatenate(lists)
    scores = np.bincount(ids, np.repeat(weights, [len(found) for found in lists])) if len(ids) else np.empty(0)
    here = np.flatnonzero(scores)
    if len(here) <= _CANDIDATES:
        return here.tolist(), []
    scores = scores[here]
    last = np.partition(scores, -_CANDIDATES)[-_CANDIDATES]
    better, tied = here[scores > last + 1e-9], here[np.abs(scores - last) <= 1e-9]
    return better.tolist(), tied[:_MAX_TIED].tolist()


def _near(asked: Sequence[str], found: Sequence[tuple[NoteId, str, str, str]]) -> list[NameHit]:
    """The candidates that are like the words asked for.

    Args:
        asked: Words.
        found: (note, kind, name, key).
    """
    keys = [key.split() for _, _, _, key in found]
    alike = _alike(asked, {word for words in keys for word in words})
    hits = []
    for (note_id, kind, name, _), words in zip(found, keys, strict=True):
        words = _telling(words)
        coverage = _coverage(asked, words, alike)
        if coverage < _MIN_SIMILARITY:  # a likeness is never above it
            continue
        similarity = coverage * (0.8 + 0.2 * _tightness(asked, words, alike))
        if similarity >= _MIN_SIMILARITY:
            hits.append(NameHit(note_id, kind, name, 0.9 * similarity))
    return hits


def name_similarity(asked: Sequence[str], name: Sequence[str]) -> float:
    """How much of the words asked for stands in the name, typing errors allowed, 0 to 1.

    Each asked word counts by its length and takes its best partner in the name; what the name holds beyond them costs a
    little, so that the tighter name wins.
    """
    name = _telling(name)
    alike = _alike(asked, set(name))
    return _coverage(asked, name, alike) * (0.8 + 0.2 * _tightness(asked, name, alike))


def _telling(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in STOP_WORDS] or list(words)


_Alike = Mapping[str, Mapping[str, float]]


def _coverage(asked: Sequence[str], name: Sequence[str], alike: _Alike) -> float:
    """Share of the letters asked for that the name's words match."""
    total, matched = 0, 0.0
    for word in asked:
        own = alike[word]
        total += len(word)
        if own:
            matched += len(word) * max([own[other] for other in name if other in own], default=0.0)
    return matched / total if total else 0.0


def _tightness(asked: Sequence[str], name: Sequence[str], alike: _Alike) -> float:
    """Share of the name's letters that the words asked for match."""
    used = sum(len(other) * max([alike[word].get(other, 0.0) for word in asked], default=0.0) for other in name)
    return used / max(1, sum(map(len, name)))


def _alike(asked: Sequence[str], others: set[str]) -> dict[str, dict[str, float]]:
    """For each asked word, those of the others that are like it at all, with their likeness."""
    by_length: dict[int, list[str]] = {}
    for other in others:
        if len(other) >= _MIN_FUZZY and not _has_digit(other):
            by_length.setdefault(len(other), []).append(other)
    found: dict[str, dict[str, float]] = {}
    for word in asked:
        own = found[word] = {word: 1.0} if word in others else {}
        if len(word) < _MIN_FUZZY or _has_digit(word):
            continue
        for length in range(len(word) - _MAX_SLIPS, len(word) + _MAX_SLIPS + 1):
            for other in by_length.get(length, ()):
                if other != word and (likeness := word_similarity(word, other)) > 0.0:
                    own[other] = likeness
    return found


def word_similarity(left: str, right: str) -> float:
    """1.0 for equal words, less for one or two slips in long ones, 0.0 otherwise.

    Optimal string alignment: a swap of neighbours is one slip, as people make it.
    """
    if left == right:
        return 1.0
    shorter = min(len(left), len(right))
    if shorter < _MIN_FUZZY or _has_digit(left) or _has_digit(right):
        return 0.0
    allowed = 1 if shorter < 8 else _MAX_SLIPS
    slips = OSA.distance(left, right, score_cutoff=allowed)
    return 1.0 - slips / (shorter + 1) if slips <= allowed else 0.0


def _has_digit(word: str) -> bool:
    return _DIGIT.search(word) is not None if word.isascii() else any(map(str.isdigit, word))


_DIGIT = re.compile("[0-9]")
