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

from vaultrag.text.stop_words import STOP_WORDS

MIN_FUZZY = 4
"""Letters; a slip in a shorter word makes another word."""

LONG, MAX_SLIPS = 8, 2
"""From so many letters on a word may have two slips."""

_DIGIT = re.compile("[0-9]")


class Likeness:
    """The words asked for, compared with the words of every name at once.

    Args:
        asked: Words, folded; at least one.
        names: The words of each name.
    """

    def __init__(self, asked: Sequence[str], names: Sequence[Sequence[str]]) -> None:
        self._asked = np.array(list(map(_weight, asked)), np.float64)
        self.others = list(chain.from_iterable(names))
        sizes = np.fromiter(map(len, self.others), np.int64, len(self.others))
        self._weights = np.fromiter(map(_weight, self.others), np.float64, len(self.others))
        self._counts = np.fromiter(map(len, names), np.int64, len(names))
        self._starts = np.cumsum(self._counts) - self._counts
        self._alike = _alike(asked, self.others, sizes)

    @property
    def words(self) -> NDArray[np.float64]:
        """Return how like each query word is to each of ``others``, the words of all names: float64[words, others]."""
        return self._alike

    def coverages(self) -> NDArray[np.float64]:
        """For each name the share of the query's weight that its words match, 0 to 1: never below ``similarity``."""
        full = self._counts > 0
        found = np.zeros(len(self._counts))
        if full.any():
            best = np.maximum.reduceat(self._alike, self._starts[full], axis=1)
            found[full] = self._asked @ best / self._asked.sum()
        return found

    def similarity(self, number: int) -> float:
        """Return how much of the words asked for stands in this name, 0 to 1.

        Each asked word counts by its length, a stop word by half of it, and takes its best partner; what the name
        holds beyond them costs a little, so that the tighter name wins.
        """
        start = self._starts[number]
        own = slice(start, start + self._counts[number])
        weights, alike = self._weights[own], self._alike[:, own]
        if not len(weights):
            return 0.0
        coverage = float(self._asked @ alike.max(axis=1) / self._asked.sum())
        tightness = float(weights @ alike.max(axis=0) / weights.sum())
        return min(1.0, coverage * (0.8 + 0.2 * tightness))


def _weight(word: str) -> float:
    """Return what a word counts: "All or Nothing" is not "Nothing", but nearer to it than "Nothing New"."""
    return len(word) / 2 if word in STOP_WORDS else len(word)


def telling(words: Sequence[str]) -> Sequence[str]:
    """Return the words that are no stop words; all, where there are no others."""
    if STOP_WORDS.isdisjoint(words):
        return words
    return [word for word in words if word not in STOP_WORDS] or words


def _alike(asked: Sequence[str], others: Sequence[str], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how like words are: float64[asked, others].

    1 for equal words, less for one or two slips in long ones, 0 otherwise. By optimal string alignment, in which a swap
    of neighbours is one slip, as people make it.
    """
    if not others:
        return np.zeros((len(asked), 0))
    slips = cdist(asked, others, scorer=OSA.distance, score_cutoff=MAX_SLIPS, dtype=np.uint8)
    shorter = np.minimum(np.array([len(word) for word in asked])[:, None], sizes)
    near = (slips <= np.where(shorter < LONG, 1, MAX_SLIPS)) & (shorter >= MIN_FUZZY)
    alike = np.where(near, 1.0 - slips / (shorter + 1.0), 0.0)
    alike[slips == 0] = 1.0
    for row, column in np.argwhere(near & (slips > 0)).tolist():
        if _has_digit(asked[row]) or _has_digit(others[column]):
            alike[row, column] = 0.0
    return alike


def _has_digit(word: str) -> bool:
    return _DIGIT.search(word) is not None if word.isascii() else any(map(str.isdigit, word))
