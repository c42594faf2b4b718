"""Cleaned text into units: sentences, headings, list items, table rows, each with the lines it stands on.

A unit is the smallest thing a passage is built of. Paragraphs are cut at sentence ends; a sentence may run over line
ends, a unit never runs over a blank line or into another block. Where a sentence ends is decided cautiously: a cut too
few makes a longer unit, a cut too many tears "e.g. this" apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

# What begins a line and is layout, not text: quote marks, then a heading, a list item with its box, or a table row.
_MARKER = re.compile(
    r"(?:[ \t]*>)*+(?: {0,3}(?P<heading>#{1,6})(?=[ \t]|$)"
    r"|[ \t]*+(?:(?P<item>(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)(?:[ \t]+\[.\](?=[ \t]|$))?)|(?P<row>\|))?)[ \t]*+"
)
# The look back after the first stop: a run of stops is tried once, not once for each.
_SENTENCE_END = re.compile(
    r"[.!?…](?<![.!?…].)[.!?…]*+[\"'”’»)\]*_]*+(?=\s)|[。！？]++[」』”’）】]*+",
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'„“])(?:\w|\d{1,2}|(?:\w\.)+\w|e\.g|i\.e|etc|cf|vs|nos|fig|figs|vol|ch|eds|pp|approx|dept"
    r"|mr|mrs|ms|dr|prof|st|jr|sr|inc|ltd|co|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
    r"|bzw|ca|ggf|inkl|exkl|nr|tel|usw|vgl|zzgl|evtl|abb|bspw|mme|mlle|env|av|sra|dra|núm)\.$",
    re.IGNORECASE,
)
_LOOK_BACK = 16
"""Characters in front of a full stop in which an abbreviation must begin."""


_MAX_PARTS = 32
"""Code points looked at to find the border of one sign as a reader sees it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Text that belongs together, on lines ``start`` to ``end`` (0-based, inclusive); its own line ends are kept."""

    start: int
    end: int
    text: str
    heading: bool = False
    glue: str = "\n"
    """What stands between this unit and the one before it, when both are in one passage."""


def units(text: str) -> list[Unit]:
    """Return the units of a cleaned text, in order. Lines of nothing but layout have none."""
    found: list[Unit] = []
    paragraph: list[str] = []
    first = 0

    def close() -> None:
        if paragraph:
            found.extend(_sentences("\n".join(paragraph), first))
            paragraph.clear()

    for number, line in enumerate(text.split("\n")):
        marker = _MARKER.match(line)
        content = line[marker.end() :].rstrip() if marker else line.strip()
        kind = marker.lastgroup if marker else None
        if kind is None and content:
            if not paragraph:
                first = number
            paragraph.append(content)
            continue
        close()
        if content:
            if kind == "row":
                content = " | ".join(cell for part in content.split("|") if (cell := part.strip()))
            found.append(Unit(number, number, content, heading=kind == "heading"))
    close()
    return [unit for unit in found if unit.text]


def _sentences(paragraph: str, first: int) -> Iterator[Unit]:
    line, counted, last, glue = first, 0, 0, "\n"
    for start, end in sentence_spans(paragraph):
        line += paragraph.count("\n", counted, start)
        if start:
            glue = " " if start > last else ""
        counted, last = start, end
        text = paragraph[start:end]
        yield Unit(line, line + text.count("\n"), text, glue=glue)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence in a paragraph, without the white space between them."""
    start = 0
    for found in _SENTENCE_END.finditer(text):
        end = found.end()
        if found[0] == "." and not _ends_here(text, end):
            continue
        yield start, end
        start = end + 1 if text[end : end + 1].isspace() else end
        while text[start : start + 1].isspace():
            start += 1
    if start < len(text):
        yield start, len(text)


def _ends_here(text: str, end: int) -> bool:
    """Return whether the full stop before ``end`` closes a sentence, and not an abbreviation or an ordinal."""
    following = text[end + 1 : end + 2]
    if following.islower() or following.isdigit():
        return False
    return _ABBREVIATION.search(text, max(0, end - _LOOK_BACK), end) is None


def border(text: str, position: int, floor: int) -> int:
    """Return the last place at or before ``position`` where a cut does not break what a reader sees as one character.

    Accents stay with their letter, joined emoji with each other, flags with their second half, Hangul with its vowel.
    Where there is no such place above ``floor``, the first one after ``position``: a sign is never cut, unless it is
    built of more parts than any script needs.
    """
    backwards = range(position, max(floor, position - _MAX_PARTS), -1)
    forwards = range(position + 1, position + _MAX_PARTS)
    for place in chain(backwards, forwards):
        if place >= len(text):
            return len(text)
        if not _joined(text, place, floor):
            return place
    return position


def _joined(text: str, place: int, floor: int) -> bool:
    before, after = text[place - 1], text[place]
    if after < "\u0300" and before < "\u0300":
        return False
    if before == "\u200d" or after == "\u200d" or unicodedata.category(after) in ("Mn", "Mc", "Me"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True  # skin tones; the tags that spell out Scotland's flag
    if "\u1160" <= after <= "\u11ff":
        return True  # Hangul vowels and finals, written apart
    return _is_flag_half(after) and _flag_halves_before(text, place, floor) % 2 == 1


def _is_flag_half(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"


def _flag_halves_before(text: str, place: int, floor: int) -> int:
    """Count the halves of flags before a position, from ``floor``: only so is it known how a row of flags is paired."""
    start = place
    while start > floor and _is_flag_half(text[start - 1]):
        start -= 1
    return place - start
