"""How like two names are, typing errors allowed. Pure.

Words are compared letter by letter, names word by word. Words with digits in them are compared exactly: ``ADR-016`` is
not ``ADR-018``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from vaultrag.ranking.stopwords import STOP_WORDS

MIN_FUZZY = 4
"""Letters; a slip in a shorter word makes another word."""

MAX_SLIPS = 2

_DIGIT = re.compile("[0-9]")


class Likeness:
    """The words asked for, compared once with every word that the candidates' names hold.

    Args:
        asked: Words, folded.
        others: The words of all candidates.
    """

    def __init__(self, asked: Sequence[str], others: set[str]) -> None:
        self.asked = asked
        self._alike = _alike(asked, others)

    def words(self, asked: str) -> dict[str, float]:
        """The others that are like this one of the words asked for, with their likeness."""
        return self._alike[asked]

    def coverage(self, name: Sequence[str]) -> float:
        """Share of the letters asked for that the name's words match: never below ``similarity``."""
        total, matched = 0, 0.0
        for word in self.asked:
            own = self._alike[word]
            total += len(word)
            if own:
                matched += len(word) * max([own[other] for other in name if other in own], default=0.0)
        return matched / total if total else 0.0

    def similarity(self, name: Sequence[str]) -> float:
        """How much of the words asked for stands in the name, 0 to 1.

        Each asked word counts by its length and takes its best partner; what the name holds beyond them costs a
        little, so that the tighter name wins.
        """
        return self.coverage(name) * (0.8 + 0.2 * self._tightness(name))

    def _tightness(self, name: Sequence[str]) -> float:
        """Share of the name's letters that the words asked for match."""
        alike = [self._alike[word] for word in self.asked]
        used = sum(len(other) * max([own.get(other, 0.0) for own in alike], default=0.0) for other in name)
        return used / max(1, sum(map(len, name)))


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


def _alike(asked: Sequence[str], others: Iterable[str]) -> dict[str, dict[str, float]]:
    known = set(others)
    found = {word: {word: 1.0} if word in known else {} for word in asked}
    fuzzy = [word for word in found if len(word) >= MIN_FUZZY and not _has_digit(word)]
    near = [other for other in known if len(other) >= MIN_FUZZY and not _has_digit(other)]
    if not fuzzy or not near:
        return found
    # All pairs at C speed; what is beyond the cut-off comes back as one more than it.
    slips = cdist(fuzzy, near, scorer=OSA.distance, score_cutoff=MAX_SLIPS, dtype=np.uint8)
    for row, column in zip(*np.nonzero(slips <= MAX_SLIPS), strict=True):
        word, other = fuzzy[row], near[column]
        if word != other and (likeness := word_similarity(word, other)) > 0.0:
            found[word][other] = likeness
    return found


def _has_digit(word: str) -> bool:
    return _DIGIT.search(word) is not None if word.isascii() else any(map(str.isdigit, word))
