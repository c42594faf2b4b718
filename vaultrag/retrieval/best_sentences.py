"""The sentences of a note that fit a query best, taken from its best places. Pure.

The passage nearest by its vector and the window that holds most words are often not the same place. So the sentences
of both are weighed by the share of the query's words in them, with a little more for the place shown. The best stand
in the note's own order, with dots where text between them is left out. Nothing is worded anew.

Measured with ``tests.quality.lab.lines``: the next best passage as a third place adds nothing; half of the room for
each place, one place alone, and a weight for sentences that state a rule or an exception hold the answer less often on
the sets that they were not made for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vaultrag.retrieval.occurrences import occurrences
from vaultrag.retrieval.one_line_summary import plain
from vaultrag.text.normalize import folded
from vaultrag.text.sentences import Unit, units
from vaultrag.text.token_estimate import estimate, fit

Lines = tuple[int, int]
"""First and last line of a place, 0-based, inclusive."""

IN_FIRST_PLACE = 0.15
"""Weight of standing in the place shown, where all words of the query have 1."""

MIN_TOKENS = 15
"""A sentence is cut to what is left only where that is as much as this."""

_GAP = " … "
_GAP_TOKENS = 2


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a place. ``number``: sentences that follow one another have consecutive ones."""

    number: int
    text: str
    weight: float


def best_sentences(text: str, wanted: Mapping[str, float], places: Sequence[Lines], tokens: int) -> str:
    """Return the sentences that fit best, in the note's order, on one line; empty where there are none.

    Args:
        text: The note's cleaned text.
        wanted: Folded stems of the query's words with their weights.
        places: Where the query's best places are in ``text``, the one shown first; those that overlap it are skipped.
        tokens: What they may cost at most, by the estimate of ``text.token_estimate``.
    """
    chosen: dict[int, str] = {}
    room = tokens
    for sentence in sorted(_sentences(text, wanted, places), key=lambda one: (-one.weight, one.number)):
        gap = _GAP_TOKENS if chosen else 0
        if room <= gap:
            break
        shown = sentence.text
        if estimate(shown) + gap > room:
            if chosen and room < MIN_TOKENS:
                continue
            shown = fit(shown, room - gap)
        if shown:
            chosen[sentence.number] = shown
            room -= estimate(shown) + gap
    return fit(_joined(chosen), tokens)


def _sentences(text: str, wanted: Mapping[str, float], places: Sequence[Lines]) -> list[_Sentence]:
    lines = text.split("\n")
    total = sum(wanted.values()) or 1.0
    apart: list[Lines] = []
    for place in places:
        if not any(place[0] <= last and first <= place[1] for first, last in apart):
            apart.append(place)
    sentences: list[_Sentence] = []
    number, ended = 0, -1
    for place in sorted(apart):
        number += 1  # what stands between two places is left out
        first_place = IN_FIRST_PLACE if place == apart[0] else 0.0
        for unit in units_at(lines, *place):
            if unit.heading or unit.start < ended:  # a sentence that runs on from the place before
                continue
            sentence = plain(unit.text)
            words = {word for _, _, word in occurrences(folded(sentence), wanted)}
            weight = sum(wanted[word] for word in words) / total + first_place
            sentences.append(_Sentence(number, sentence, weight))
            number += 1
        ended = place[1] + 1
    return sentences


def units_at(lines: Sequence[str], first: int, last: int) -> list[Unit]:
    """Return the units that stand on lines ``first`` to ``last``, with the lines of the whole text.

    No unit runs over a blank line, so nothing beyond the blank lines around the place is read.
    """
    above = min(first, len(lines))
    while above and lines[above - 1].strip():
        above -= 1
    below = last + 1
    while below < len(lines) and lines[below].strip():
        below += 1
    found = (
        replace(unit, start=unit.start + above, end=unit.end + above) for unit in units("\n".join(lines[above:below]))
    )
    return [unit for unit in found if unit.end >= first and unit.start <= last]


def _joined(chosen: Mapping[int, str]) -> str:
    line, previous = "", -1
    for number in sorted(chosen):
        line += ("" if not line else " " if number == previous + 1 else _GAP) + chosen[number]
        previous = number
    return line
