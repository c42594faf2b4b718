"""How like two names are, typing errors allowed. Pure.

Words are compared letter by letter, names word by word. Words with digits in them are compared exactly: ``ADR-016`` is
not ``ADR-018``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from vaultrag.ranking.stopwords import STOP_WORDS

MIN_FUZZY = 4
"""Letters; a slip in a shorter word makes another word."""

MAX_SLIPS = 2

_DIGIT = re.compile("[0-9]")


class Likeness:
    """The words asked for, compared with the words of every name at once.

    Args:
        asked: Words, folded; at least one.
        names: The words of each name.
    """

    def __init__(self, asked: Sequence[str], names: Sequence[Sequence[str]]) -> None:
        self._names = names
        self._lengths = np.array([len(word) for word in asked], np.float64)
        place: dict[str, int] = {}  # a column for each different word
        self._places = [[place.setdefault(word, len(place)) for word in name] for name in names]
        self.others = list(place)
        self._alike = _alike(asked, self.others)

    @property
    def words(self) -> NDArray[np.float64]:
        """How like each word asked for is to each of ``others``: float64[asked, others], 0 to 1."""
        return self._alike

    def coverages(self) -> NDArray[np.float64]:
        """For each name the share of the letters asked for that its words match, 0 to 1: never below ``similarity``."""
        full = [places for places in self._places if places]
        found = np.zeros(len(self._places))
        if full:
            starts = np.cumsum([0, *(len(places) for places in full[:-1])])
            best = np.maximum.reduceat(self._alike[:, list(chain.from_iterable(full))], starts, axis=1)
            found[[bool(places) for places in self._places]] = self._lengths @ best / self._lengths.sum()
        return found

    def similarity(self, number: int) -> float:
        """How much of the words asked for stands in this name, 0 to 1.

        Each asked word counts by its length and takes its best partner; what the name holds beyond them costs a
        little, so that the tighter name wins.
        """
        places = self._places[number]
        if not places:
            return 0.0
        alike = self._alike[:, places]
        coverage = float(self._lengths @ alike.max(axis=1) / self._lengths.sum())
        sizes = np.array([len(word) for word in self._names[number]], np.float64)
        tightness = float(sizes @ alike.max(axis=0) / max(1.0, sizes.sum()))
        return min(1.0, coverage * (0.8 + 0.2 * tightness))


def telling(words: Sequence[str]) -> list[str]:
    """The words that are no stop words; all, where there are no others."""
    return [word for word in words if word not in STOP_WORDS] or list(words)


def word_similarity(left: str, right: str) -> float:
    """1.0 for equal words, less for one or two slips in long ones, 0.0 otherwise.

    Optimal string alignment: a swap of neighbours is one slip, as people make it.
    """
    if left == right:
        return 1.0
    shorter = min(len(left), len(right))
    if shorter < MIN_FUZZY or _has_digit(left) or _has_digit(right):
        return 0.0
    allowed = 1 if shorter < 8 else MAX_SLIPS
    slips = OSA.distance(left, right, score_cutoff=allowed)
    return 1.0 - slips / (shorter + 1) if slips <= allowed else 0.0


def _alike(asked: Sequence[str], others: Sequence[str]) -> NDArray[np.float64]:
    """float64[asked, others]: ``word_similarity`` of all pairs, most of them found unlike at C speed."""
    found = np.zeros((len(asked), len(others)))
    if not others:
        return found
    slips = cdist(asked, others, scorer=OSA.distance, score_cutoff=MAX_SLIPS, dtype=np.uint8)
    for row, column in np.argwhere(slips <= MAX_SLIPS).tolist():
        found[row, column] = word_similarity(asked[row], others[column])
    return found


def _has_digit(word: str) -> bool:
    return _DIGIT.search(word) is not None if word.isascii() else any(map(str.isdigit, word))
