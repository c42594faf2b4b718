"""Phrases of time in a plain question, read as a span of days. Pure; the day is passed in.

Examples: "on 12 March", "letzte Woche", "two days before Christmas 2024", "先週".

A grammar of its own over a few tables (``retrieval.time_words``): *atoms* that name a span, and words around them that
turn it into another one ("before", "around", "between … and"). A general library was measured beside it and reads
far too much: of 45 phrases without a time ``dateparser``'s ``search_dates`` takes 29 for one ("may", "on call", "ISO
8601", "room 2025"), 33 with the six languages named. This grammar took nine at first; most were mended, so that is no
figure for other phrases. Of 22 with a time the library misses four, and a week is a moment to it. It takes 0.2 s to
import, and 5 to 90 ms a query. A number alone is never a year here ("1984", "Windows
2000"): one has to say "in 2024".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from itertools import pairwise

from vaultrag.domain.dates import ALWAYS, Period, shifted
from vaultrag.retrieval import time_words as words
from vaultrag.retrieval.time_atoms import (
    AROUND_DAYS,
    CJK_COUNTS,
    CJK_UNITS,
    LATIN_COUNTS,
    LATIN_UNITS,
    TimePhrase,
    atoms_in,
    count_of,
    span_from,
)

MAX_CHARS = 400
"""A longer text is pasted, and no question."""


def find_phrase(text: str, today: date | None) -> TimePhrase | None:
    """Return the longest phrase of time in a text; None where there is none.

    Args:
        text: A question.
        today: The day, by the owner's calendar; None leaves out what is relative to it.
    """
    if len(text) > MAX_CHARS:
        return None
    atoms = _apart(atoms_in(text, today))
    if not atoms:
        return None
    found = _ranges(text, atoms) or atoms
    widened = [_turned(text, atom, today) for atom in found]
    return max(widened, key=lambda one: one.end - one.start)


def read_phrase(text: str, today: date | None) -> Period | None:
    """Return the span of a text that is a phrase of time and nothing else."""
    text = text.strip()
    phrase = find_phrase(text, today)
    return phrase.period if phrase is not None and (phrase.start, phrase.end) == (0, len(text)) else None


def _apart(atoms: Iterable[TimePhrase]) -> list[TimePhrase]:
    """Drop those that lie in a longer one; in the order of the text."""
    kept: list[TimePhrase] = []
    for atom in sorted(atoms, key=lambda one: (one.start - one.end, one.relative, one.start)):
        if all(atom.end <= other.start or other.end <= atom.start for other in kept):
            kept.append(atom)
    return sorted(kept)


_AND = re.compile(words.AND, re.IGNORECASE)
_BETWEEN = re.compile(words.BETWEEN, re.IGNORECASE)
_JOINS = re.compile(r"\s*(?:and|und|et|y|和|与|と|a|de)\b", re.IGNORECASE)


def _ranges(text: str, atoms: list[TimePhrase]) -> list[TimePhrase]:
    """Return the spans from one atom to the next."""
    found: list[TimePhrase] = []
    for first, second in pairwise(atoms):
        between = text[first.end : second.start]
        opening = _BETWEEN.search(text[: first.start])
        if not _AND.fullmatch(between) or (_JOINS.match(between) and opening is None):
            continue
        if first.period.first <= second.period.last:
            start = opening.start() if opening is not None else first.start
            period = Period(first.period.first, second.period.last)
            found.append(TimePhrase(start, second.end, period, first.relative or second.relative))
    return found


_OFFSET = re.compile(
    rf"(?P<count>{LATIN_COUNTS}|the)\s?(?P<unit>{LATIN_UNITS})\s(?:(?P<before>{words.OFFSET_BEFORE})|(?:{words.OFFSET_AFTER}))"
    r"\s(?:the\s|dem\s|le\s|el\s)?\Z",
    re.IGNORECASE,
)
_OFFSET_BEHIND = re.compile(
    rf"の?(?:(?P<count>{CJK_COUNTS})(?P<unit>{CJK_UNITS})(?P<before>前)?(?:後)?|(?P<zh>前|后)(?P<n>{CJK_COUNTS})天)"
)
_TURNS = tuple(
    (re.compile(pattern, re.IGNORECASE), behind, name)
    for pattern, behind, name in (
        (words.UNTIL, False, "until"), (words.BEFORE, False, "before"), (words.AFTER, False, "after"),
        (words.SINCE, False, "since"), (words.AROUND, False, "around"), (words.BEFORE_BEHIND, True, "before"),
        (words.AFTER_BEHIND, True, "after"), (words.SINCE_BEHIND, True, "since"), (words.AROUND_BEHIND, True, "around"),
    )
)  # fmt: skip


def _turned(text: str, atom: TimePhrase, today: date | None) -> TimePhrase:
    """Take in the words around an atom that make another span of it."""
    if (offset := _OFFSET.search(text[: atom.start])) is not None:
        sign = -1 if offset["before"] else 1
        count = 1 if offset["count"].lower() == "the" else count_of(offset["count"])
        return atom._replace(start=offset.start(), period=_moved(atom.period, offset["unit"], sign * count))
    if (behind := _OFFSET_BEHIND.match(text[atom.end :])) is not None and behind[0].strip("の"):
        unit, count = behind["unit"] or "天", count_of(behind["count"] or behind["n"])
        sign = -1 if behind["before"] or behind["zh"] == "前" else 1
        return atom._replace(end=atom.end + behind.end(), period=_moved(atom.period, unit, sign * count))
    own = text[atom.start : atom.end].lower()
    for name, pattern in _LEADING:
        if pattern.match(own) is not None:
            return atom._replace(period=_bounded(atom.period, name, today))
    for pattern, is_behind, name in _TURNS:
        if is_behind and (match := pattern.match(text[atom.end :])) is not None:
            return atom._replace(end=atom.end + match.end(), period=_bounded(atom.period, name, today))
        if not is_behind and (match := pattern.search(text[: atom.start])) is not None:
            return atom._replace(start=match.start(), period=_bounded(atom.period, name, today))
    return atom


_LEADING = (
    ("since", re.compile(r"(?:since|seit|depuis|desde)\s")), ("until", re.compile(r"(?:until|bis|hasta)\s")),
    ("before", re.compile(r"(?:before|vor|avant)\s(?=\d{4}\Z)")),
    ("after", re.compile(r"(?:after|nach|après)\s(?=\d{4}\Z)")),
)  # fmt: skip


def _moved(period: Period, unit: str, count: int) -> Period:
    kind = words.UNITS[unit.lower()]
    if kind in ("day", "week"):
        days = count * (7 if kind == "week" else 1)
        return Period(shifted(period.first, days), shifted(period.last, days))
    return span_from(kind, count, period.first) or period


def _bounded(period: Period, name: str, today: date | None) -> Period:
    if name == "before":
        return Period(ALWAYS.first, shifted(period.first, -1))
    if name == "until":
        return Period(ALWAYS.first, period.last)
    if name == "after":
        return Period(shifted(period.last, 1), ALWAYS.last)
    if name == "since":
        return Period(period.first, max(period.last, today or ALWAYS.last))
    return period.widened(AROUND_DAYS if period.days <= 7 else max(AROUND_DAYS, period.days // 2))
