"""How near to each other a query's clauses stand in a note. Pure arithmetic on positions.

A note of some thousand words holds most words of a question somewhere by chance. What tells is whether they stand
together: the largest share of the query's weight within ``WINDOW`` words in a row of one field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WINDOW = 50
"""Words in a row; about a passage. Chosen on the judged sets: 30 and 80 are no better."""

OFFSET_BITS, POSITION_BITS = 24, 27
"""Layout of a key: the word's offset in its field; that and the field's number."""

_NOWHERE = np.zeros(0, np.int64)

Floats = NDArray[np.float64]
Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Places:
    """The places of one clause in the notes that are compared.

    Attributes:
        keys: int64[m], ascending: ``note << POSITION_BITS | field << OFFSET_BITS | offset``, with the note's
            place among those compared.
        weight: Share of the query's weight, 0 to 1.
        titled: Notes whose title holds the clause, bool[notes].
    """

    keys: Keys
    weight: float
    titled: NDArray[np.bool_]


def verbatim(row: Sequence[tuple[Places, int]]) -> NDArray[np.int64]:
    """Return the notes in which the clauses stand as far from each other as in the query.

    Args:
        row: Where each clause stands in the notes, and in the query.
    """
    if len(row) < 2:
        return _NOWHERE
    starts, *others = sorted((places.keys - offset for places, offset in row), key=len)
    for other in others:
        starts = starts[np.isin(starts, other, assume_unique=True)]
    return np.unique((starts + min(offset for _, offset in row)) >> POSITION_BITS)


def nearness(places: Sequence[Places], notes: int, window: int = WINDOW) -> tuple[Floats, Floats]:
    """Return the largest share of the query's weight that stands together in each note.

    Args:
        places: One a clause.
        notes: How many notes are compared.
        window: Words in a row.

    Returns:
        Within a window of one field; the same where what the title holds counts in every window. float64[notes],
        0 to 1.
    """
    near, titled = np.zeros(notes), np.zeros(notes)
    held = [one for one in places if len(one.keys)]
    if not held:
        return near, titled
    starts = np.concatenate([one.keys for one in held])
    owners = starts >> POSITION_BITS
    here, with_title = np.zeros(len(starts)), np.zeros(len(starts))
    for one in held:
        following = one.keys[np.minimum(np.searchsorted(one.keys, starts), len(one.keys) - 1)]
        inside = (following >= starts) & (following < starts + window)
        here[inside] += one.weight
        with_title[inside | one.titled[owners]] += one.weight
    np.maximum.at(near, owners, here)
    np.maximum.at(titled, owners, with_title)
    return near, titled
