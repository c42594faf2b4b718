"""Posting lists: the notes that hold a word, where in them it stands, and what BM25 makes of each.

FTS5 can rank by its own ``bm25``, row by row, looking up the length of each note on the way. For a word in thousands of
notes that is most of a query's time, and it does not say where a word stands. Here every occurrence of a word is listed
in one statement (``fts5vocab``) and counted with numpy: the same BM25, and the positions that nearness is measured by.

A *position* is one number: ``field << 24 | offset``, with the field's place in ``FIELDS`` and the word's place in it. A
*key* is a note's id and a position: ``id << 27 | position``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import Clause, NoteId
from vaultrag.retrieval.proximity import OFFSET_BITS, POSITION_BITS
from vaultrag.storage.schema import FIELDS, STEMMER, TOKENIZER
from vaultrag.storage.sqlite import rows, scalar

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

MOST_OCCURRENCES = 600_000
"""A word with more of them is so common that FTS5's own way is no slower."""

K1, B = 1.2, 0.75
"""The constants of BM25 as FTS5 has them (https://sqlite.org/fts5.html#the_bm25_function)."""

_LEAST = 1e-6  # FTS5's own floor for the weight of a word that most notes hold
_LAST_OFFSET = (1 << OFFSET_BITS) - 1
_POSITION = (1 << POSITION_BITS) - 1
_BY_FIELD = np.array([FIELD_WEIGHTS[name] for name in FIELDS], np.float32)
_NUMBERS = " ".join(
    f"WHEN '{name}' THEN {number << OFFSET_BITS}" for number, name in enumerate(FIELDS) if name != "body"
)
# Nearly every occurrence is in the body: asked first. SQLite joins the numbers: to fetch rows takes twice as long.
_KEYS = (
    f"SELECT group_concat(key) FROM (SELECT doc << {POSITION_BITS}"
    f" | iif(col = 'body', {FIELDS.index('body') << OFFSET_BITS}, CASE col {_NUMBERS} END)"
    f" | min(offset, {_LAST_OFFSET}) AS key FROM words_instances WHERE %s LIMIT {MOST_OCCURRENCES + 1})"
)
_WORD = _KEYS % "term = ?"
_BEGINNING = _KEYS % "term >= ?1 AND term < ?1 || char(0x10ffff)"  # which sorts behind every letter there is
_SCORE = f"bm25(words, {', '.join(str(FIELD_WEIGHTS[name]) for name in FIELDS)})"

Ids = NDArray[np.unsignedinteger[Any] | np.signedinteger[Any]]
Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """The length of each note.

    Attributes:
        words: By note, int32[last id + 1]; -1 for an id that is no note's.
        norms: What BM25 divides by, beside the occurrences themselves, float32[last id + 1].
    """

    words: NDArray[np.int32]
    norms: NDArray[np.float32]

    @classmethod
    def of(cls, words: NDArray[np.int32]) -> Lengths:
        notes = words >= 0
        average = max(float(words[notes].mean()) if notes.any() else 0.0, 1e-9)
        return cls(words, (K1 * (1.0 - B + B * words / average)).astype(np.float32))

    def without(self, hidden: frozenset[NoteId]) -> Lengths:
        """Return the lengths as they are where these notes do not exist."""
        return self.changed(dict.fromkeys(hidden, -1))

    def changed(self, words: Mapping[NoteId, int]) -> Lengths:
        """With other lengths of some notes; -1 for one that is gone."""
        longer = max(max(words, default=0) + 1 - len(self.words), 0)
        others = np.concatenate([self.words, np.full(longer, -1, np.int32)])
        others[list(words)] = list(words.values())
        return Lengths.of(others)


def count_visible(ids: Ids, hidden: frozenset[NoteId]) -> int:
    """Count the notes, int[n], that are not hidden."""
    return len(ids) - (int(np.isin(ids, np.fromiter(hidden, np.int64, len(hidden))).sum()) if hidden else 0)


class Postings(NamedTuple):
    """The notes that hold a clause.

    Attributes:
        ids: Notes, int[n], ascending.
        scores: BM25 of each at an idf of 1, float32[n].
        starts: Where each note's positions begin, int32[n + 1]; empty where they are not known.
        positions: int32[m], ascending within a note.
    """

    ids: Ids
    scores: NDArray[np.float32]
    starts: NDArray[np.int32] = np.zeros(0, np.int32)
    positions: NDArray[np.int32] = np.zeros(0, np.int32)

    def within(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which of these notes hold the clause: bool[len(ids)]."""
        return self.find(ids)[1]

    def find(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the rows of these notes, and which of them have one."""
        if not len(self.ids):
            return np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
        rows = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return rows, np.asarray(self.ids[rows] == ids)


class Occurrences(NamedTuple):
    """The places of a word: notes, int[n] ascending, and their positions as in ``Postings``."""

    ids: Ids
    starts: NDArray[np.int32]
    positions: NDArray[np.int32]

    @classmethod
    def of(cls, keys: Keys) -> Occurrences:
        """Group keys, which must be ascending, by note."""
        notes = keys >> POSITION_BITS
        starts = np.flatnonzero(np.concatenate(([True], notes[1:] != notes[:-1]))) if len(keys) else notes
        return cls(
            _small(notes[starts]), np.append(starts, len(keys)).astype(np.int32), (keys & _POSITION).astype(np.int32)
        )

    @property
    def keys(self) -> Keys:
        """All occurrences, ascending."""
        return np.repeat(self.ids.astype(np.int64), np.diff(self.starts)) << POSITION_BITS | self.positions

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes + self.starts.nbytes + self.positions.nbytes

    def scored(self, lengths: Lengths) -> Postings:
        """Score every note by BM25 at an idf of 1."""
        if not len(self.ids):
            return Postings(self.ids, np.zeros(0, np.float32))
        often = np.add.reduceat(_BY_FIELD[self.positions >> OFFSET_BITS], self.starts[:-1])
        scores = (often * np.float32(K1 + 1.0) / (often + lengths.norms[self.ids])).astype(np.float32)
        return Postings(self.ids, scores, self.starts, self.positions)

    def changed(self, positions: Mapping[NoteId, NDArray[np.int32]]) -> Occurrences:
        """Replace the positions of some notes; none for one that does not hold the word any more, or is gone."""
        there = np.isin(self.ids, np.fromiter(positions, np.int64, len(positions)))
        new = [np.int64(note_id) << POSITION_BITS | own for note_id, own in positions.items() if len(own)]
        if not new and not there.any():
            return self
        kept = self.keys[~np.repeat(there, np.diff(self.starts))]
        return Occurrences.of(np.sort(np.concatenate([kept, *new])))


def phrase(words: Sequence[Occurrences]) -> Occurrences:
    """Return where these words stand in a row, by the place of the first."""
    keys = words[0].keys
    for distance, word in enumerate(words[1:], start=1):
        keys = keys[np.isin(keys + distance, word.keys, assume_unique=True)]
    return Occurrences.of(keys)


def united(variants: Sequence[Occurrences]) -> Occurrences:
    """Return where any of several spellings stands."""
    return variants[0] if len(variants) == 1 else Occurrences.of(np.unique(np.concatenate([v.keys for v in variants])))


class Forms(NamedTuple):
    """The places of a word in any of its forms.

    Attributes:
        all: Every place.
        each: The places of each form that the index holds; empty where only the beginning of a word was asked for.
    """

    all: Occurrences
    each: Mapping[str, Occurrences]

    @classmethod
    def of(cls, each: Mapping[str, Occurrences]) -> Forms:
        """Unite the forms."""
        held = {form: places for form, places in each.items() if len(places.ids)}
        return cls(united(list(held.values())) if held else NOWHERE, held)

    @property
    def nbytes(self) -> int:
        own = sum(places.nbytes for places in self.each.values()) if len(self.each) > 1 else 0
        return self.all.nbytes + own


NOWHERE = Occurrences(np.zeros(0, np.uint8), np.zeros(1, np.int32), np.zeros(0, np.int32))
"""Of a word that no note holds."""


class Counted(NamedTuple):
    """One note's words.

    Attributes:
        positions: Where each stands, int32[n] ascending.
        stems: The words of each stem.
        words: How many there are in all.
    """

    positions: Mapping[str, NDArray[np.int32]]
    stems: Mapping[str, Sequence[str]]
    words: int

    def beginning(self, word: str) -> NDArray[np.int32]:
        """Return the positions of all words that begin so."""
        own = [places for other, places in self.positions.items() if other.startswith(word)]
        return np.sort(np.concatenate(own)) if own else _NO_POSITIONS

    def form(self, word: str) -> NDArray[np.int32]:
        """Return the positions of a word as it is written."""
        return self.positions.get(word, _NO_POSITIONS)


_NO_POSITIONS = np.zeros(0, np.int32)


def counted(connection: apsw.Connection, texts: Sequence[str]) -> Counted:
    """Count a note's words as the full-text table does.

    Args:
        texts: In the order of ``FIELDS``.
    """
    positions: dict[str, list[int]] = {}
    words = 0
    for field, text in enumerate(texts):
        tokens = tokenized(connection, text)
        words += len(tokens)
        for offset, word in enumerate(tokens):
            positions.setdefault(word, []).append(field << OFFSET_BITS | min(offset, _LAST_OFFSET))
    stems: dict[str, list[str]] = {}
    for word, stem in zip(positions, stemmed(connection, list(positions)), strict=True):
        stems.setdefault(stem, []).append(word)
    return Counted({word: np.array(places, np.int32) for word, places in positions.items()}, stems, words)


def tokenized(connection: apsw.Connection, text: str, tokenizer: Sequence[str] = TOKENIZER) -> list[str]:
    """Split a text as the full-text table does."""
    name, *args = tokenizer
    tokenize = connection.fts5_tokenizer(name, args)
    return tokenize(  # type: ignore[return-value]  # apsw's stub unites every shape of answer
        text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )


def stemmed(connection: apsw.Connection, words: Sequence[str]) -> list[str]:
    """Return the stem of each word, as the table holds it. What is not all ASCII has no English ending."""
    plain = [word for word in words if word.isascii()]
    stems = dict(zip(plain, tokenized(connection, " ".join(plain), STEMMER), strict=True))
    return [stems.get(word, word) for word in words]


def read_ranked(connection: apsw.Connection, clause: Clause, notes: int, stem: str = "") -> Postings:
    """Return the postings of any clause, as FTS5 ranks them.

    Args:
        notes: How many there are.
        stem: Of the clause's only word; see ``match``.
    """
    sql = f"SELECT rowid, -{_SCORE} FROM words WHERE words MATCH ?"
    expression = match(clause, read_form_names(connection, stem) if stem else ())
    numbers = np.fromiter(chain.from_iterable(connection.execute(sql, (expression,))), np.float64)
    ids = numbers[::2].astype(np.int32)
    return Postings(ids, (numbers[1::2] / weight(notes, len(ids))).astype(np.float32))


def read_form_names(connection: apsw.Connection, stem: str) -> list[str]:
    """Return the words that have this stem: those with an ending, and the stem itself."""
    found = rows(connection, "SELECT form FROM forms WHERE stem = ? AND form != ?", (stem, stem))
    return [stem, *(form for (form,) in found)]


def read_containing(connection: apsw.Connection, word: str, most: int) -> list[str]:
    """Return the words that hold this one, those that begin with it first, and the shortest first; at most ``most``."""
    sql = "SELECT form FROM forms WHERE instr(form, ?1) ORDER BY instr(form, ?1) > 1, length(form), form LIMIT ?2"
    return [form for (form,) in rows(connection, sql, (word, most))]


def read_forms(connection: apsw.Connection, stem: str) -> Forms | None:
    """Return where each form of a word stands; None where there are more than ``MOST_OCCURRENCES`` places."""
    each = {form: _read_keys(connection, _WORD, form) for form in read_form_names(connection, stem)}
    if sum(map(len, each.values())) > MOST_OCCURRENCES:
        return None
    return Forms.of({form: Occurrences.of(keys) for form, keys in each.items()})


def read_beginning(connection: apsw.Connection, prefix: str) -> Forms | None:
    """Return the same for all words that begin so, together."""
    keys = _read_keys(connection, _BEGINNING, prefix)
    return Forms(Occurrences.of(np.sort(keys)), {}) if len(keys) <= MOST_OCCURRENCES else None


def _read_keys(connection: apsw.Connection, sql: str, word: str) -> Keys:
    listed = scalar(connection, sql, (word,))
    return np.fromstring(listed, np.int64, sep=",") if listed else np.zeros(0, np.int64)


def read_lengths(connection: apsw.Connection) -> Lengths | None:
    """Return the lengths of all notes, from FTS5's own table of them; None should that not be as it is known here.

    It holds a row a note: for each column the number of its words, as a number of SQLite's with 7 bits a byte, the
    highest first, and the eighth bit set in all bytes but the last.
    """
    found = rows(connection, "SELECT id, sz FROM words_docsize")
    if not found:
        return Lengths.of(np.full(1, -1, np.int32))
    data = np.frombuffer(b"".join(sizes for _, sizes in found), np.uint8)
    ends = np.flatnonzero(data < 0x80)
    if len(ends) != len(found) * len(FIELDS):
        return None
    sizes = data[ends].astype(np.int64)
    before, digit = np.diff(ends, prepend=-1), 1
    while len(more := np.flatnonzero(before > digit)):
        sizes[more] += (data[ends[more] - digit].astype(np.int64) & 0x7F) << (7 * digit)
        digit += 1
    ids = np.fromiter((note_id for note_id, _ in found), np.int64, len(found))
    words = np.full(int(ids.max()) + 1, -1, np.int32)
    words[ids] = sizes.reshape(-1, len(FIELDS)).sum(axis=1)
    return Lengths.of(words)


def weight(notes: int, holding: int) -> float:
    """FTS5's weight of a clause that so many of the notes hold: its idf, and never below a millionth."""
    return max(_LEAST, math.log((notes - holding + 0.5) / (holding + 0.5))) if holding <= notes else _LEAST


def match(clause: Clause, forms: Sequence[str] = ()) -> str:
    """FTS5's own syntax, in this one place: a quoted string is data, whatever it holds.

    Args:
        forms: Words that a clause of one word is held by, beside itself.
    """
    spellings = dict.fromkeys((*clause.spellings, *((form,) for form in forms)))
    rows = (" ".join(tokens).replace('"', '""') for tokens in spellings)
    return " OR ".join(f'"{row}"*' if clause.prefix else f'"{row}"' for row in rows)


def _small(numbers: NDArray[np.int64]) -> Ids:
    """Return the same, none of them below zero, in as few bytes as the largest needs."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
