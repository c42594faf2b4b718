"""The names arm: notes whose title, file name, alias or heading is what was typed, or nearly so.

Exact names and beginnings come from an index; names typed wrongly from a table of letters in threes, whose candidates
are then compared letter by letter. Words with digits in them are compared exactly: ``ADR-016`` is not ``ADR-018``.
"""

from __future__ import annotations

from collections.abc import Sequence

import apsw
from rapidfuzz.distance import OSA

from vaultrag.model import NameHit, NoteId
from vaultrag.notes.words import name_key, tokens_of_name
from vaultrag.ranking.stopwords import STOP_WORDS
from vaultrag.store.connection import rows
from vaultrag.store.note_index import NoteIndex

MAX_NAME_WORDS = 12
"""A longer query is a question, not a name."""

_MIN_SIMILARITY = 0.75
_CANDIDATES = 40


class Names:
    """Looks notes up by name. Callable from any thread."""

    def __init__(self, index: NoteIndex) -> None:
        self._index = index

    def search(self, text: str, *, k: int = 20, allowed: frozenset[NoteId] | None = None) -> list[NameHit]:
        """The best ``k`` notes by name, best first, one row a note."""
        words = tokens_of_name(text)
        if not words or len(words) > MAX_NAME_WORDS:
            return []
        key = " ".join(words)
        with self._index.readers.reading() as connection:
            found = _exact(connection, key)
            if len(key) >= 3:
                found += _beginning(connection, key)
                found += _similar(connection, words)
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


def _similar(connection: apsw.Connection, words: Sequence[str]) -> list[NameHit]:
    telling = [word for word in words if word not in STOP_WORDS] or list(words)
    grams = {word[i : i + 3] for word in telling for i in range(len(word) - 2)}
    if not grams:
        return []
    match = " OR ".join('"' + gram.replace('"', '""') + '"' for gram in sorted(grams))
    found = rows(
        connection,
        "SELECT names.note_id, names.kind, names.name, names.key FROM ("
        " SELECT rowid, bm25(name_letters) AS s FROM name_letters WHERE name_letters MATCH ? ORDER BY s LIMIT ?"
        ") AS near JOIN names ON names.id = near.rowid",
        (match, _CANDIDATES),
    )
    hits = []
    for note_id, kind, name, key in found:
        similarity = name_similarity(telling, key.split())
        if similarity >= _MIN_SIMILARITY:
            hits.append(NameHit(note_id, kind, name, 0.9 * similarity))
    return hits


def name_similarity(asked: Sequence[str], name: Sequence[str]) -> float:
    """How much of the words asked for stands in the name, typing errors allowed, 0 to 1.

    Each asked word counts by its length and takes its best partner in the name; what the name holds beyond them costs a
    little, so that the tighter name wins.
    """
    name = [word for word in name if word not in STOP_WORDS] or list(name)
    total = sum(len(word) for word in asked)
    matched = sum(len(word) * max((word_similarity(word, other) for other in name), default=0.0) for word in asked)
    used = sum(len(other) * max((word_similarity(word, other) for word in asked), default=0.0) for other in name)
    coverage = matched / total if total else 0.0
    tightness = used / max(1, sum(len(other) for other in name))
    return coverage * (0.8 + 0.2 * tightness)


def word_similarity(left: str, right: str) -> float:
    """1.0 for equal words, less for one or two slips in long ones, 0.0 otherwise.

    Optimal string alignment: a swap of neighbours is one slip, as people make it.
    """
    if left == right:
        return 1.0
    shorter = min(len(left), len(right))
    if shorter < 4 or any(c.isdigit() for c in left + right):
        return 0.0
    allowed = 1 if shorter < 8 else 2
    slips = OSA.distance(left, right, score_cutoff=allowed)
    return 1.0 - slips / (shorter + 1) if slips <= allowed else 0.0
