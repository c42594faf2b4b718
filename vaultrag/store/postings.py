"""The notes behind a clause, and what BM25 makes of each, apart from how rare the clause is.

FTS5 can say both by its own ``bm25``, row by row, looking the length of each note up on the way. For a word in
thousands of notes that is most of a query's time. Where every occurrence can be listed (a word, or its beginning), they
are counted here instead, all at once, and give the same figures. Counts are whole numbers, which are kept in little
room and can be mended where a note has changed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from vaultrag.model import Clause, NoteId
from vaultrag.store.connection import rows, scalar
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

MOST_OCCURRENCES = 600_000
"""A word with more of them is so common that FTS5's own way is no slower."""

K1, B = 1.2, 0.75
"""The constants of BM25 as FTS5 has them (https://sqlite.org/fts5.html#the_bm25_function)."""

_LEAST = 1e-6  # FTS5's own floor for the weight of a word that most notes hold
_TENTHS = {name: round(10 * weight) for name, weight in FIELD_WEIGHTS.items()}
_BITS = 3  # of a number that stands for a note and a column
_BY_COLUMN = np.array([_TENTHS[name] for name in FIELDS], np.int64)
_OTHERS = " ".join(f"WHEN '{name}' THEN {number}" for number, name in enumerate(FIELDS) if name != "body")
# Nearly every occurrence is in the body: a note's id alone; else, below zero, the id and behind it the column.
_OCCURRENCES = (
    f"SELECT group_concat(place) FROM (SELECT iif(col = 'body', doc, -(doc << {_BITS} | CASE col {_OTHERS} END))"
    f" AS place FROM words_instances WHERE %s LIMIT {MOST_OCCURRENCES + 1})"
)
_WORD = _OCCURRENCES % "term = ?"
_BEGINNING = _OCCURRENCES % "term >= ?1 AND term < ?1 || char(0x10ffff)"  # which sorts behind every letter there is
_SCORE = f"bm25(words, {', '.join(str(FIELD_WEIGHTS[name]) for name in FIELDS)})"

Ids = NDArray[np.unsignedinteger[Any] | np.signedinteger[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """How long each note is.

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

    def changed(self, words: Mapping[NoteId, int]) -> Lengths:
        """With other lengths of some notes; -1 for one that is gone."""
        longer = max(max(words, default=0) + 1 - len(self.words), 0)
        others = np.concatenate([self.words, np.full(longer, -1, np.int32)])
        others[list(words)] = list(words.values())
        return Lengths.of(others)


class Postings(NamedTuple):
    """The notes that hold a clause: int[n], ascending, and BM25 of each at a weight of 1, float32[n]."""

    ids: Ids
    scores: NDArray[np.float32]

    def within(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these notes hold it."""
        if not len(self.ids):
            return np.zeros(len(ids), np.bool_)
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.asarray(self.ids[places] == ids)


class Occurrences(NamedTuple):
    """The notes that hold a word, ascending, and what its occurrences weigh in each, in tenths: two arrays of the
    smallest whole numbers that will do."""

    ids: Ids
    tenths: Ids

    @classmethod
    def of(cls, ids: NDArray[np.int64], tenths: NDArray[np.int64]) -> Occurrences:
        return cls(_small(ids), _small(tenths))

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes + self.tenths.nbytes

    def scored(self, lengths: Lengths) -> Postings:
        """What BM25 makes of each."""
        often = self.tenths.astype(np.float32) * np.float32(0.1)
        return Postings(self.ids, often * np.float32(K1 + 1.0) / (often + lengths.norms[self.ids]))

    def changed(self, tenths: Mapping[NoteId, int]) -> Occurrences:
        """With other weights of some notes; 0 for one that does not hold the word, or is gone."""
        changed = np.array(sorted(tenths.items()), np.int64).reshape(-1, 2)
        there = np.isin(self.ids, changed[:, 0])
        new, own = changed[changed[:, 1] > 0].T
        if not len(new) and not there.any():
            return self
        kept, weights = self.ids[~there].astype(np.int64), self.tenths[~there].astype(np.int64)
        places = np.searchsorted(kept, new)
        return Occurrences.of(np.insert(kept, places, new), np.insert(weights, places, own))


class Counted(NamedTuple):
    """One note's words: what each weighs in it, in tenths, and how many there are in all."""

    tenths: Mapping[str, int]
    words: int

    def weight_of(self, word: str, *, prefix: bool) -> int:
        """In tenths, of a word or of all that begin so."""
        if not prefix:
            return self.tenths.get(word, 0)
        return sum(weight for other, weight in self.tenths.items() if other.startswith(word))


def counted(connection: apsw.Connection, texts: Sequence[str]) -> Counted:
    """Count a note's words as the full-text table does.

    Args:
        texts: In the order of ``FIELDS``.
    """
    tenths: Counter[str] = Counter()
    words = 0
    for name, text in zip(FIELDS, texts, strict=True):
        found = tokenized(connection, text, apsw.FTS5_TOKENIZE_DOCUMENT)
        words += len(found)
        for word in found:
            tenths[word] += _TENTHS[name]
    return Counted(tenths, words)


def tokenized(connection: apsw.Connection, text: str, reason: int) -> list[str]:
    """The words that the full-text table's tokenizer makes of a text."""
    name, *args = TOKENIZER
    tokenize = connection.fts5_tokenizer(name, args)
    return tokenize(text.encode(), reason, None, include_offsets=False, include_colocated=False)  # type: ignore[return-value]  # apsw's stub unites every shape of answer


def read_ranked(connection: apsw.Connection, clause: Clause, notes: int) -> Postings:
    """The postings of any clause, as FTS5 ranks them.

    Args:
        notes: How many there are.
    """
    sql = f"SELECT rowid, -{_SCORE} FROM words WHERE words MATCH ?"
    numbers = np.fromiter(chain.from_iterable(connection.execute(sql, (match(clause),))), np.float64)
    ids = numbers[::2].astype(np.int32)
    return Postings(ids, (numbers[1::2] / weight(notes, len(ids))).astype(np.float32))


def read_occurrences(connection: apsw.Connection, stem: str, *, prefix: bool = False) -> Occurrences | None:
    """The notes that hold one word; None where it stands in more than ``MOST_OCCURRENCES`` places.

    Args:
        stem: As the table holds it.
        prefix: Words that begin so, too.
    """
    found = scalar(connection, _BEGINNING if prefix else _WORD, (stem,))
    if not found:
        return Occurrences(np.zeros(0, np.uint8), np.zeros(0, np.uint8))
    notes = np.fromstring(found, np.int64, sep=",")
    if len(notes) > MOST_OCCURRENCES:
        return None
    tenths = np.full(len(notes), _TENTHS["body"])
    elsewhere = np.flatnonzero(notes < 0)
    if len(elsewhere):
        places = -notes[elsewhere]
        notes[elsewhere], tenths[elsewhere] = places >> _BITS, _BY_COLUMN[places & (1 << _BITS) - 1]
    if prefix:
        order = np.argsort(notes, kind="stable")
        notes, tenths = notes[order], tenths[order]
    starts = np.flatnonzero(np.concatenate(([True], notes[1:] != notes[:-1])))
    return Occurrences.of(notes[starts], np.add.reduceat(tenths, starts))


def read_lengths(connection: apsw.Connection) -> Lengths | None:
    """The lengths of all notes, from FTS5's own table of them; None should that not be as it is known here.

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


def match(clause: Clause) -> str:
    """FTS5's own syntax, in this one place: a quoted string is data, whatever it holds."""
    quoted = " ".join(clause.tokens).replace('"', '""')
    return f'"{quoted}"*' if clause.prefix else f'"{quoted}"'


def _small(numbers: NDArray[np.int64]) -> Ids:
    """The same, none of them below zero, in as few bytes as the largest needs."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
