"""The notes behind a clause, and what BM25 makes of each, apart from how rare the clause is.

FTS5 can say both by its own ``bm25``, row by row, looking the length of each note up on the way. For a word in
thousands of notes that is most of a query's time. Where every occurrence can be listed (a word, or its beginning), they
are counted here instead, all at once, and give the same figures.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from vaultrag.model import Clause
from vaultrag.store.connection import rows, scalar
from vaultrag.store.schema import FIELDS

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

MOST_OCCURRENCES = 300_000
"""A word with more of them is so common that FTS5's own way is no slower."""

K1, B = 1.2, 0.75
"""The constants of BM25 as FTS5 has them (https://sqlite.org/fts5.html#the_bm25_function)."""

_LEAST = 1e-6  # FTS5's own floor for the weight of a word that most notes hold
_BITS = 3  # a number is a note's id, and behind it so many bits for the column
_WEIGHTS = np.array([FIELD_WEIGHTS[name] for name in FIELDS], np.float64)
_NUMBERS = sorted(((name, number) for number, name in enumerate(FIELDS)), key=lambda field: field[0] != "body")
_COLUMN = "CASE col " + " ".join(f"WHEN '{name}' THEN {number}" for name, number in _NUMBERS) + " END"
_OCCURRENCES = (
    f"SELECT group_concat(place) FROM (SELECT doc << {_BITS} | {_COLUMN} AS place FROM words_instances"
    f" WHERE %s LIMIT {MOST_OCCURRENCES + 1})"
)
_WORD = _OCCURRENCES % "term = ?"
_BEGINNING = _OCCURRENCES % "term >= ?1 AND term < ?1 || char(0x10ffff)"  # which sorts behind every letter there is
_SCORE = f"bm25(words, {', '.join(str(FIELD_WEIGHTS[name]) for name in FIELDS)})"

Lengths = NDArray[np.float32]
"""How many words each note has by the average of all notes, by id; 0 for an id that is no note's."""


class Postings(NamedTuple):
    """The notes that hold a clause: int32[n], ascending, and BM25 of each at a weight of 1, float32[n]."""

    ids: NDArray[np.int32]
    scores: NDArray[np.float32]

    def within(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these notes hold it."""
        if not len(self.ids):
            return np.zeros(len(ids), np.bool_)
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.asarray(self.ids[places] == ids)


def read_ranked(connection: apsw.Connection, clause: Clause, notes: int) -> Postings:
    """The postings of any clause, as FTS5 ranks them.

    Args:
        notes: How many there are.
    """
    sql = f"SELECT rowid, -{_SCORE} FROM words WHERE words MATCH ?"
    numbers = np.fromiter(chain.from_iterable(connection.execute(sql, (match(clause),))), np.float64)
    ids = numbers[::2].astype(np.int32)
    return Postings(ids, (numbers[1::2] / weight(notes, len(ids))).astype(np.float32))


def read_counted(connection: apsw.Connection, stem: str, lengths: Lengths, *, prefix: bool = False) -> Postings | None:
    """The postings of one word, from its occurrences; None where there are more than ``MOST_OCCURRENCES``.

    Args:
        stem: As the table holds it.
        lengths: From ``read_lengths``, in the same snapshot.
        prefix: Words that begin so, too.
    """
    found = scalar(connection, _BEGINNING if prefix else _WORD, (stem,))
    if not found:
        return Postings(np.zeros(0, np.int32), np.zeros(0, np.float32))
    places = np.fromstring(found, np.int64, sep=",")
    if len(places) > MOST_OCCURRENCES:
        return None
    if prefix:
        places.sort()
    notes = places >> _BITS
    starts = np.flatnonzero(np.concatenate(([True], notes[1:] != notes[:-1])))
    often = np.add.reduceat(_WEIGHTS[places & (1 << _BITS) - 1], starts)
    ids = notes[starts]
    scores = often * (K1 + 1.0) / (often + K1 * (1.0 - B + B * lengths[ids]))
    return Postings(ids.astype(np.int32), scores.astype(np.float32))


def read_lengths(connection: apsw.Connection) -> Lengths | None:
    """The lengths of all notes, from FTS5's own table of them; None should that not be as it is known here.

    It holds a row a note: for each column the number of its words, as a number of SQLite's with 7 bits a byte, the
    highest first, and the eighth bit set in all bytes but the last.
    """
    found = rows(connection, "SELECT id, sz FROM words_docsize")
    if not found:
        return np.zeros(1, np.float32)
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
    words = sizes.reshape(-1, len(FIELDS)).sum(axis=1)
    lengths = np.zeros(int(ids.max()) + 1, np.float32)
    lengths[ids] = words / max(float(words.mean()), 1e-9)
    return lengths


def weight(notes: int, holding: int) -> float:
    """FTS5's weight of a clause that so many of the notes hold: its idf, and never below a millionth."""
    return max(_LEAST, math.log((notes - holding + 0.5) / (holding + 0.5))) if holding <= notes else _LEAST


def match(clause: Clause) -> str:
    """FTS5's own syntax, in this one place: a quoted string is data, whatever it holds."""
    quoted = " ".join(clause.tokens).replace('"', '""')
    return f'"{quoted}"*' if clause.prefix else f'"{quoted}"'
