"""Dates, grouped numbers and long codes, each in one form, however they are written.

``14 March 2026``, ``14.03.2026`` and ``2026-03-14`` are ``20260314``; ``1.250,50`` and ``1,250.50`` are ``1250 50``;
``DE89 3704 0044`` is ``de8937040044``. The index holds the form behind what is written, and a query asks for the form.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from vaultrag.text.month_names import MONTHS

MIN_CODE_DIGITS, MAX_CODE_DIGITS = 7, 34
"""Of a phone number without its prefix, and of the longest IBAN."""

MIN_SPACED_DIGITS = 9
"""Of a code with blanks in it: two years are none."""

_SEPARATORS = " \u00a0\u202f\u2011.,/'’-"
_CHUNK = re.compile(rf"\d+(?:(?:[{_SEPARATORS}]|[ -]?\(|\)[ -]?)\d+)+")
_PIECE = re.compile(r"[^ \u00a0\u202f]+")
_POINT = re.compile(r"[.,'\u2019/]")
_NUMERIC_DATE = re.compile(
    r"(?:(?P<y>\d{4})([-./])(?P<m>\d{1,2})\2(?P<d>\d{1,2})|(?P<a>\d{1,2})([-./])(?P<b>\d{1,2})\6(?P<z>\d{4}))[.,]?"
)
_COMPACT_DATE = re.compile(r"(?<![^\W_])(?:1[89]|20|21)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?![^\W_])")
_CJK_DATE = re.compile(r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日")
_YEAR = re.compile(r"(?:1[5-9]|2[01])\d\d(?![^\W_])")
_NAME = r"(?P<month>[^\W\d_]{3,10})\.?"
_DAY_MONTH = re.compile(rf"(?<![\w.,])(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|º)?\.?\s(?:of\s|de\s)?{_NAME},?\s(?:de\s)?$")
_MONTH_DAY = re.compile(rf"(?<![^\W_]){_NAME}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s$")
_GROUPED = re.compile(
    r"(?P<whole>\d{1,3}(?:(?P<group>[.,'’\u00a0\u202f])\d{3})(?:(?P=group)\d{3})*)(?:[.,](?P<rest>\d{1,2}))?"
)
_BLANKS = (" ", "\u00a0", "\u202f", "\n")
_BEFORE = 32  # characters that a day and a month's name take at most

Kind = Literal["date", "number", "code"]


@dataclass(frozen=True, slots=True)
class Written:
    """One of them, where it stands in a text.

    Attributes:
        forms: What it may mean, as words of the index; more than one where day and month could be either.
    """

    start: int
    end: int
    kind: Kind
    forms: tuple[tuple[str, ...], ...]


def written(text: str) -> list[Written]:
    """Find them, in order."""
    found = [*_of_digits(text), *_with_month_names(text)] if _CHUNK_OR_YEAR.search(text) else []
    if "年" in text:
        found += [
            Written(*match.span(), "date", forms)
            for match in _CJK_DATE.finditer(text)
            if (forms := _day(match[1], match[2], match[3]))
        ]
    return sorted(found, key=lambda one: one.start)


_CHUNK_OR_YEAR = re.compile(r"\d\d")


def compact_date(text: str) -> bool:
    """Return whether a word is a date without separators: ``20260314``."""
    return _COMPACT_DATE.fullmatch(text) is not None


def with_forms(text: str) -> str:
    """Return the text with the form of each behind it."""
    found = written(text)
    if not found:
        return text
    pieces: list[str] = []
    last = 0
    for one in found:
        if one.end < last:
            continue
        spelled = " ".join(word for form in one.forms for word in form)
        pieces += (text[last : one.end], f" {spelled} ")
        last = one.end
    return "".join((*pieces, text[last:]))


def _of_digits(text: str) -> Iterator[Written]:
    for chunk in _CHUNK.finditer(text):
        start, plain = chunk.start(), True
        for piece in _PIECE.finditer(chunk[0]):
            begin, end = start + piece.start(), start + piece.end()
            one = None if piece[0].isdigit() else _of_piece(text, begin, end)
            if one is not None:
                yield one
            plain = plain and (one is None or one.kind == "code") and not _POINT.search(piece[0])
        if plain and _digits(chunk[0]) >= MIN_SPACED_DIGITS and len(chunk[0].split()) > 1:
            yield from _code(text, *chunk.span())


def _of_piece(text: str, start: int, end: int) -> Written | None:
    """Return the meaning of digits without a blank among them."""
    piece = text[start:end]
    dated = _NUMERIC_DATE.fullmatch(piece)
    if dated is not None and (forms := _numeric(dated)):
        return Written(start, end, "date", forms)
    grouped = _GROUPED.fullmatch(piece)
    if grouped is not None:
        whole = re.sub(r"\D", "", grouped["whole"])
        return Written(start, end, "number", ((whole, grouped["rest"]) if grouped["rest"] else (whole,),))
    return next(_code(text, start, end), None)


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def _code(text: str, start: int, end: int) -> Iterator[Written]:
    """Yield a code with the two letters of an IBAN before it, and the last sign of an ISBN behind it."""
    if not MIN_CODE_DIGITS <= _digits(text[start:end]) <= MAX_CODE_DIGITS:
        return
    if start >= 2 and text[start - 2 : start].isalpha() and not text[max(0, start - 3) : start - 2].isalnum():
        start -= 2
    if text[end : end + 2].upper() == "-X" and not text[end + 2 : end + 3].isalnum():
        end += 2
    joined = "".join(char for char in text[start:end] if char.isalnum()).lower()
    yield Written(start, end, "code", ((joined,),))


def _numeric(match: re.Match[str]) -> tuple[tuple[str, ...], ...]:
    if match["y"]:
        return _day(match["y"], match["m"], match["d"])
    either = _day(match["z"], match["b"], match["a"])
    if match[6] != "/":
        return either
    return tuple(dict.fromkeys((*either, *_day(match["z"], match["a"], match["b"]))))  # 3/14/2026 is one, too


def _with_month_names(text: str) -> Iterator[Written]:
    for year in _YEAR.finditer(text):
        if text[year.start() - 1 : year.start()] not in _BLANKS:
            continue
        begin = max(0, year.start() - _BEFORE)
        match = _DAY_MONTH.search(text, begin, year.start()) or _MONTH_DAY.search(text, begin, year.start())
        if match is None:
            continue
        month = MONTHS.get(match["month"].lower())
        if month and (forms := _day(year[0], str(month), match["day"])):
            yield Written(match.start(), year.end(), "date", forms)


def _day(year: str, month: str, day: str) -> tuple[tuple[str, ...], ...]:
    try:
        return ((date(int(year), int(month), int(day)).strftime("%Y%m%d"),),) if 1500 <= int(year) < 2200 else ()
    except ValueError:
        return ()
