"""Where in one note a query's words stand: line by line, the weightiest lines, each with what matches in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vaultrag.domain import Place, Span
from vaultrag.retrieval.occurrences import occurrences
from vaultrag.retrieval.snippet import Part, hidden_occurrences, merged
from vaultrag.text.normalize import folded, whole

LINE_CHARS = 240
"""A longer line is cut around its first match."""

_LEAD = 60


@dataclass(frozen=True, slots=True)
class LineMatch:
    """One line (0-based, of the text given).

    Attributes:
        lead: What stands left of ``text`` in the line's source.
        text: The line as a reader sees it, or the part of it around what matches.
        spans: What matches, in ``text``.
        places: Where that stands; of a line on which only something matches that is not shown, where that stands.
    """

    line: int
    lead: str
    text: str
    spans: tuple[Span, ...]
    weight: float
    places: tuple[Place, ...]


def places(text: str, wanted: Mapping[str, float], *, limit: int) -> tuple[list[LineMatch], int]:
    """Return the weightiest lines, in the text's order, and how many lines hold anything at all.

    Args:
        text: The note's body.
        wanted: Stem or literal of each query word, folded, with its weight (as for ``snippet.preview``).
        limit: Lines at most.
    """
    part = Part(text)
    found = occurrences(folded(part.copy.text), wanted)
    hidden = not found
    if hidden:
        found = hidden_occurrences(part, wanted)
    by_line: dict[int, list[tuple[int, int, str]]] = {}
    for start, end, word in found:
        by_line.setdefault(part.line(start), []).append((start, end, word))
    total = sum(wanted.values()) or 1.0
    weighed = {line: sum(wanted[word] for word in {hit[2] for hit in hits}) / total for line, hits in by_line.items()}
    best = sorted(by_line, key=lambda line: (-weighed[line], line))[: max(0, limit)]
    matches = [_match(part, line, by_line[line], round(weighed[line], 6), hidden=hidden) for line in sorted(best)]
    return matches, len(by_line)


def _match(part: Part, line: int, hits: list[tuple[int, int, str]], weight: float, *, hidden: bool) -> LineMatch:
    shown = part.copy.text
    begin = shown.rfind("\n", 0, hits[0][0]) + 1
    end = shown.find("\n", hits[0][0])
    end = len(shown) if end < 0 else end
    first, last = begin, end
    if end - begin > LINE_CHARS:
        first = max(begin, min(hits[0][0] - _LEAD, end - LINE_CHARS))
        while first > begin and not whole(shown, first):
            first -= 1
        last = min(end, first + LINE_CHARS)
        while last > first and last < end and not whole(shown, last):
            last -= 1
    inside = [] if hidden else [(start - first, min(stop, end) - first) for start, stop, _ in hits]
    spans = merged([Span(start, stop) for start, stop in inside if stop <= last - first])
    found = tuple(part.place(first + span.start, first + span.end) for span in spans)
    if hidden:
        found = (part.place(hits[0][0], hits[0][0]),)
    return LineMatch(line, part.lead(line, first), shown[first:last], spans, weight, found)
