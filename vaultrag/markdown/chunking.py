"""Parts of a note small enough for a model: passages of whole sentences, and windows of as much as fits.

``passages`` serves a small model that reads about sixty tokens well: whole sentences up to the budget, a heading
always first in its passage. ``windows`` serves a model with a large window: the fewest pieces, cut at the best border
there is. Neither drops text, and neither takes more than linear time: ten megabytes without a space are an input, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from vaultrag.domain import Passage
from vaultrag.text.sentences import Unit, border, units

CountTokens: TypeAlias = Callable[[Sequence[str]], Sequence[int]]
"""Texts in, the number of tokens of each out. Costs a tokenizer run, so it is asked seldom and for many at once."""

BUDGET_TOKENS = 60
MAX_PASSAGES = 400

_ENDINGS = (". ", ".\n", "? ", "! ", "。", "！", "？", "\n", "; ", ", ", "，", "、", " ")

MAX_CHARS_PER_TOKEN = 12
"""A unit with more than budget times this is cut before it is counted: a tokenizer calls a very long word one unknown
token, and it would be neither cut nor read."""


def passages(
    text: str,
    count_tokens: CountTokens,
    *,
    budget_tokens: int = BUDGET_TOKENS,
    max_passages: int = MAX_PASSAGES,
) -> list[Passage]:
    """Cut a cleaned text into passages of whole sentences, in order, every line with text in one of them.

    Args:
        text: ``NoteText.text``.
        count_tokens: Without the marks a model adds at both ends.
        budget_tokens: Tokens in a passage, at least 1. Only a single sign that has more tokens goes beyond it.
        max_passages: With more, neighbours are merged evenly; those then exceed the budget.

    Returns:
        Passages with body lines; empty when there is nothing but layout.
    """
    sized = _fitting(units(text), count_tokens, max(1, budget_tokens))
    return _merged([_passage(group) for group in _packed(sized, max(1, budget_tokens))], max(1, max_passages))


def _fitting(found: list[Unit], count_tokens: CountTokens, budget: int) -> list[tuple[Unit, int]]:
    """Each unit with its tokens; those over the budget cut until they fit. Counts in one call a round."""
    cap = budget * MAX_CHARS_PER_TOKEN
    waiting = [piece for unit in found for piece in (_cut(unit, cap) if len(unit.text) > cap else (unit,))]
    sized: list[tuple[Unit, int] | None] = [None] * len(waiting)
    places: list[int] = list(range(len(waiting)))
    # Cut pieces take the place of their unit: every round replaces the units that are still too long.
    while waiting:
        counts = count_tokens([unit.text for unit in waiting])
        again: dict[int, list[Unit]] = {}
        for place, unit, count in zip(places, waiting, counts, strict=True):
            if count <= budget or len(unit.text) < 2:
                sized[place] = (unit, count)
            else:
                again[place] = list(_cut(unit, max(1, min(len(unit.text) // 2, len(unit.text) * budget // count))))
                if len(again[place]) == 1:  # one sign of many parts
                    sized[place] = (unit, count)
                    del again[place]
        sized, places, waiting = _reopened(sized, again)
    return [entry for entry in sized if entry is not None]


def _reopened(
    sized: list[tuple[Unit, int] | None], again: dict[int, list[Unit]]
) -> tuple[list[tuple[Unit, int] | None], list[int], list[Unit]]:
    """Make room for the pieces of cut units; returns the longer list, the places in it to be filled, the pieces."""
    if not again:
        return sized, [], []
    longer: list[tuple[Unit, int] | None] = []
    places: list[int] = []
    waiting: list[Unit] = []
    for place, entry in enumerate(sized):
        pieces = again.get(place)
        if pieces is None:
            longer.append(entry)
            continue
        places.extend(range(len(longer), len(longer) + len(pieces)))
        longer.extend([None] * len(pieces))
        waiting.extend(pieces)
    return longer, places, waiting


def _cut(unit: Unit, max_chars: int) -> Iterator[Unit]:
    """Pieces of at most ``max_chars``, each on its own lines: cut after a sentence, else a word, else between signs."""
    start, line, glue, heading = 0, unit.start, unit.glue, unit.heading
    while start < len(unit.text):
        end = _best_border(unit.text, start, max_chars)
        piece = unit.text[start:end]
        if text := piece.strip():
            yield Unit(line, line + piece.rstrip().count("\n"), text, heading, glue)
            heading = False
            glue = " " if piece[-1].isspace() or unit.text[end : end + 1].isspace() else ""
        start, line = end, line + piece.count("\n")


def _best_border(text: str, start: int, max_chars: int) -> int:
    """Return the end of the piece that begins at ``start``: the best border in its second half, else the last one."""
    end = start + max_chars
    if end >= len(text):
        return len(text)
    middle = start + max_chars // 2
    for ending in _ENDINGS:
        place = text.rfind(ending, middle, end)
        if place > start:
            return place + len(ending)
    place = max(text.rfind(" ", start + 1, middle), text.rfind("\n", start + 1, middle))
    return place + 1 if place > start else border(text, end, start)


def _packed(sized: list[tuple[Unit, int]], budget: int) -> Iterator[list[Unit]]:
    """Neighbours together while they fit. A heading begins anew, unless nothing but headings is there yet."""
    group: list[Unit] = []
    tokens = 0
    for unit, count in sized:
        if group and (tokens + count > budget or (unit.heading and not group[-1].heading)):
            yield group
            group, tokens = [], 0
        group.append(unit)
        tokens += count
    if group:
        yield group


def _passage(group: list[Unit]) -> Passage:
    parts = [group[0].text]
    for unit in group[1:]:
        parts += (unit.glue, unit.text)
    return Passage(group[0].start, group[-1].end, "".join(parts))


def _merged(found: list[Passage], max_passages: int) -> list[Passage]:
    if len(found) <= max_passages:
        return found
    borders = [place * len(found) // max_passages for place in range(max_passages + 1)]
    groups = [found[start:end] for start, end in pairwise(borders)]
    return [Passage(group[0].start_line, group[-1].end_line, "\n".join(p.text for p in group)) for group in groups]


def windows(text: str, max_chars: int) -> list[Passage]:
    """Cut a text into windows of at most ``max_chars`` characters, at blank lines where there are any.

    Returns:
        Windows with body lines, without the blank lines around them; one when all of it fits, none when it is blank.
    """
    max_chars = max(1, max_chars)
    found: list[Passage] = []
    start, line = 0, 0
    while start < len(text):
        end = _window_end(text, start, max_chars)
        piece = text[start:end]
        if content := piece.strip():
            first = line + piece.count("\n", 0, len(piece) - len(piece.lstrip()))
            found.append(Passage(first, first + content.count("\n"), content))
        start, line = end, line + piece.count("\n")
    return found


def _window_end(text: str, start: int, max_chars: int) -> int:
    end = start + max_chars
    if end >= len(text):
        return len(text)
    for ending in ("\n\n", "\n#"):
        place = text.rfind(ending, start + max_chars // 2, end)
        if place > start:
            return place + 1
    return _best_border(text, start, max_chars)
