"""A part of a long body that can be rendered by itself: whole lines, and no fence, comment or command cut in two."""

from __future__ import annotations

import re

from vaultrag.markdown.code_masking import CLOSERS, MAX_TICKS, closing_fence

BEFORE, AFTER = 800, 700
"""Characters of the source around a place in which a paragraph's border is looked for."""

LONGEST_LINE = 30_000
"""A longer line is cut at a blank."""

_OPENING = re.compile(r"%%|<!--|<%|```+|~~~+")
_BEFORE_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
"""What a line may hold in front of a fence."""


def around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch of ``text`` that holds ``start`` to ``end`` with its paragraph, and what follows."""
    line = text.rfind("\n", 0, start) + 1
    border = text.rfind("\n\n", max(0, start - BEFORE), start)
    first = border + 2 if 0 <= border < line else line if start > BEFORE else 0
    last = text.find("\n", min(len(text), end + AFTER))
    last = len(text) if last < 0 else last
    for begin, close in _closed(text, first, last):
        if begin < first < close:
            first = begin
        if begin < last < close:
            last = close
    if start - first > LONGEST_LINE:
        first = _blank(text, start - LONGEST_LINE // 2)
    if last - end > LONGEST_LINE:
        last = _blank(text, end + LONGEST_LINE // 2)
    return first, last


def _closed(text: str, first: int, last: int) -> list[tuple[int, int]]:
    """Find the fences, comments and commands that one of two positions is in."""
    # One character is found ten times as fast as two; most notes have none of them.
    if not any(mark[0] in text and mark in text for mark in ("```", "~~~", "%%", "<!--", "<%")):
        return []
    cut: list[tuple[int, int]] = []
    position, unclosed = 0, set()
    while (found := _OPENING.search(text, position, last)) is not None:
        mark, begin = found[0], text.rfind("\n", 0, found.start()) + 1
        if mark[0] in "`~":
            if _BEFORE_FENCE.fullmatch(text, begin, found.start()) is None:
                position = found.end()
                continue
            closing = closing_fence(mark[0], min(len(mark), MAX_TICKS)).search(text, _line_end(text, found.end()))
            close = closing.end() if closing else len(text)
        else:
            close = -1 if mark in unclosed else text.find(CLOSERS[mark], found.end())
            if close < 0:
                unclosed.add(mark)
                position = found.end()
                continue
            close += len(CLOSERS[mark])
        if close > first:
            cut.append((begin, close))
        position = close
    return cut


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _blank(text: str, position: int) -> int:
    found = text.find(" ", position, position + 1_000)
    return position if found < 0 else found + 1
