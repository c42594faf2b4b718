"""Where in one note a query's words stand: line by line, the weightiest lines, each with what matches in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from vaultrag.model import Span
from vaultrag.retrieval.normalize import folded, whole
from vaultrag.retrieval.snippet import line_starts, occurrences

LINE_CHARS = 240
"""A longer line is cut around its first match."""

_LEAD = 60


@dataclass(frozen=True, slots=True)
class Place:
    """One line (0-based, of the text given). ``lead``: what stands left of ``text`` in it; ``spans``: in ``text``."""

    line: int
    lead: str
    text: str
    spans: tuple[Span, ...]
    weight: float


def places(text: str, wanted: Mapping[str, float], *, limit: int) -> tuple[list[Place], int]:
    """The weightiest lines, in the text's order, and how many lines hold anything at all.

    Args:
        text: The note's body.
        wanted: Stem or literal of each query word, folded, with its weight (as for ``snippet.preview``).
        limit: Lines at most.
    """
    starts = line_starts(text)
    by_line: dict[int, list[tuple[int, int, str]]] = {}
    for start, end, word in occurrences(folded(text), wanted):
        by_line.setdefault(bisect_right(starts, start) - 1, []).append((start, end, word))
    total = sum(wanted.values()) or 1.0
    weighed = {line: sum(wanted[word] for word in {hit[2] for hit in hits}) / total for line, hits in by_line.items()}
    best = sorted(by_line, key=lambda line: (-weighed[line], line))[: max(0, limit)]
    return [_place(text, starts, line, by_line[line], weighed[line]) for line in sorted(best)], len(by_line)


def _place(text: str, starts: list[int], line: int, hits: list[tuple[int, int, str]], weight: float) -> Place:
    begin = starts[line]
    end = starts[line + 1] - 1 if line + 1 < len(starts) else len(text)
    first, last = begin, end
    if end - begin > LINE_CHARS:
        first = max(begin, min(hits[0][0] - _LEAD, end - LINE_CHARS))
        while first > begin and not whole(text, first):
            first -= 1
        last = min(end, first + LINE_CHARS)
        while last > first and last < end and not whole(text, last):
            last -= 1
    spans: list[Span] = []
    for start, stop, _ in hits:
        start, stop = start - first, min(stop, end) - first
        if stop > last - first:
            break
        if spans and start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(spans[-1].end, stop))
        else:
            spans.append(Span(start, stop))
    return Place(line, text[begin:first], text[first:last], tuple(spans), round(weight, 6))
