"""Positions in previews and lines, in the units that a client counts in: a connection says once which, in ``hello``.

The house counts Unicode code points. JavaScript's strings count UTF-16 units, Lua's and Go's count bytes of UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from vaultrag.domain import Answer, Hit, InNote, Match, Span

Units = Literal["codepoint", "utf-16", "byte"]


def in_answer(answer: Answer, units: Units) -> Answer:
    """Return the answer with its spans in these units. Columns of places are counted where the whole line is known."""
    if units == "codepoint":
        return answer
    hits, nearest = (tuple(_in_hit(hit, units) for hit in listed) for listed in (answer.hits, answer.nearest))
    return replace(answer, hits=hits, nearest=nearest)


def in_matches(found: InNote, units: Units) -> InNote:
    """Return the matches with their spans in these units. Columns are counted where the whole line is known."""
    if units == "codepoint":
        return found
    return replace(found, matches=tuple(_in_match(match, units) for match in found.matches))


def length(units: Units) -> Callable[[str], int]:
    """Return the function that counts a text in these units."""
    return lambda text: position(text, len(text), units)


def position(text: str, at: int, units: Units) -> int:
    """``at`` code points into ``text``, in these units."""
    if units == "codepoint" or text.isascii():
        return at
    head = text[:at]
    if units == "byte":
        return len(head.encode("utf-8", "surrogatepass"))
    return at + sum(char > "\uffff" for char in head)


def _spans(text: str, spans: tuple[Span, ...], units: Units) -> tuple[Span, ...]:
    return tuple(Span(position(text, span.start, units), position(text, span.end, units)) for span in spans)


def _in_hit(hit: Hit, units: Units) -> Hit:
    if (hit.preview + hit.title + hit.name).isascii():
        return hit
    return replace(
        hit,
        spans=_spans(hit.preview, hit.spans, units),
        title_spans=_spans(hit.title, hit.title_spans, units),
        name_spans=_spans(hit.name, hit.name_spans, units),
    )


def _in_match(match: Match, units: Units) -> Match:
    return replace(match, spans=_spans(match.text, match.spans, units))
