"""The spans of days that words name by themselves: "12 March", "letzte Woche", "Q1 2025", "先週". Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import NamedTuple

from vaultrag.domain.dates import (
    Period,
    day_period,
    month_period,
    quarter_period,
    shifted,
    week_period,
    year_period,
)
from vaultrag.retrieval import time_words as words
from vaultrag.text.dates import dates_in
from vaultrag.text.month_names import MONTHS

AROUND_DAYS = 3
"""Days before and after that "around" takes in, and a number of weeks ago."""


class TimePhrase(NamedTuple):
    """A phrase of time in a text.

    Attributes:
        start: Where it begins, in code points.
        end: Where it ends.
        period: What it stands for.
        relative: It means another span on another day.
    """

    start: int
    end: int
    period: Period
    relative: bool


Rule = tuple[re.Pattern[str], Callable[[re.Match[str], date], Period | None], bool]


def _either(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


def _word(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that stands between word boundaries, except among letters that are written without blanks."""
    return re.compile(rf"(?<![^\W_])(?<![\w][-.])(?:{pattern})(?![^\W_])(?!-\w)", re.IGNORECASE)


def _is_latin(name: str) -> bool:
    return name[0] < "\u2e80"


_FULL_MONTHS = _either(name for name in MONTHS if len(name) > 3 or name in ("mai",))
_ANY_MONTH = _either(MONTHS)
LATIN_UNITS = _either(unit for unit in words.UNITS if unit.isascii() or unit[0] < "\u0250")
CJK_UNITS = _either(unit for unit in words.UNITS if unit[0] > "\u0250")
LATIN_COUNTS = rf"\d{{1,3}}|{_either(count for count in words.COUNTS if count[0] < chr(0x250))}"
CJK_COUNTS = rf"\d{{1,3}}|[{''.join(count for count in words.COUNTS if count[0] > chr(0x250))}]"
_STEPS = _either(words.STEPS)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_FEASTS = (*words.FEASTS, *words.EASTER)
_FEAST = _either(_FEASTS)
_LATIN_FEASTS, _CJK_FEASTS = _either(filter(_is_latin, _FEASTS)), _either(one for one in _FEASTS if not _is_latin(one))
_LATIN_WEEKDAYS = _either(filter(_is_latin, words.WEEKDAYS))
_CJK_WEEKDAYS = _either(one for one in words.WEEKDAYS if not _is_latin(one))


def count_of(text: str) -> int:
    return int(text) if text.isdigit() else words.COUNTS[text.lower()]


def span_from(unit: words.Unit, steps: int, today: date) -> Period | None:
    """Return the day, week, month, quarter or year so many steps from today's."""
    if unit == "day":
        return day_period(shifted(today, steps))
    if unit == "week":
        year, week, _ = shifted(today, 7 * steps).isocalendar()
        return week_period(year, week)
    months = today.year * 12 + today.month - 1 + steps * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = months // 12, months % 12 + 1
    if not 1 <= year <= 9999:
        return None
    if unit == "month":
        return month_period(year, month)
    return quarter_period(year, (month + 2) // 3) if unit == "quarter" else year_period(year)


def _latest(month: int, day: int, today: date) -> Period | None:
    """Return the last such day up to today; of 29 February that of a leap year."""
    for year in range(today.year, max(today.year - 8, 0), -1):
        try:
            if (found := date(year, month, day)) <= today:
                return day_period(found)
        except ValueError:
            continue
    return None


def _latest_month(month: int, today: date, steps: int = 0) -> Period:
    """Return the last such month that has begun; one more before it for ``last``, the one to come for ``next``."""
    begun = today.year if month <= today.month else today.year - 1
    if steps > 0:
        return month_period(begun + 1, month)
    return month_period(begun - (1 if steps < 0 and month == today.month else 0), month)


def _feast(name: str, year: int) -> Period:
    if name.lower() in words.EASTER:
        return day_period(_easter(year))
    return day_period(date(year, *words.FEASTS[name.lower()]))


def _easter(year: int) -> date:
    """Return Easter Sunday, by the anonymous Gregorian computus."""
    golden, century, rest = year % 19, year // 100, year % 100
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    month, day = divmod(epact + weekday - 7 * ((golden + 11 * epact + 22 * weekday) // 451) + 114, 31)
    return date(year, month, day + 1)


def _of_feast(match: re.Match[str], today: date) -> Period | None:
    if match["year"]:
        return _feast(match["feast"], int(match["year"]))
    steps = words.STEPS.get((match["step"] or "").lower(), -1)
    this = _feast(match["feast"], today.year)
    if steps > 0:
        return this if this.first > today else _feast(match["feast"], today.year + 1)
    return this if this.first <= today else _feast(match["feast"], today.year - 1)


def _ago(match: re.Match[str], today: date) -> Period | None:
    unit, count = words.UNITS[match["unit"].lower()], count_of(match["count"])
    if unit == "week":
        return day_period(shifted(today, -7 * count)).widened(AROUND_DAYS)
    return span_from(unit, -count, today)


def _past_stretch(match: re.Match[str], today: date) -> Period | None:
    unit, count = words.UNITS[match["unit"].lower()], count_of(match["count"])
    if unit == "day":
        return Period(shifted(today, -count), today)
    if unit == "week":
        return Period(shifted(today, -7 * count), today)
    start = span_from(unit, -count, today)
    return Period(shifted(start.first, today.day - 1 if unit == "month" else 0), today) if start is not None else None


def _weekday(match: re.Match[str], today: date) -> Period:
    wanted = words.WEEKDAYS[match["weekday"].lower()]
    if words.STEPS.get((match["step"] or "").lower(), -1) > 0:
        return day_period(shifted(today, (wanted - today.weekday() - 1) % 7 + 1))
    return day_period(shifted(today, -((today.weekday() - wanted - 1) % 7 + 1)))


def _of_month(match: re.Match[str], today: date) -> Period | None:
    month = MONTHS[match["month"].lower()]
    return _latest_month(month, today, words.STEPS.get((match["step"] or "").lower(), 0))


_FRENCH = re.compile(
    r"\b(?:j|qu|d|l|n|s)['\u2019]|\b(?:ai|avons|avez|ont|les|des|du|est|quoi|fait|je|nous)\b", re.IGNORECASE
)

_ABSOLUTE: tuple[Rule, ...] = (
    (_word(rf"{_YEAR}-?w(?P<week>\d\d?)"), lambda m, _: week_period(int(m["year"]), int(m["week"])), False),
    (
        _word(rf"(?:calendar )?(?:week|kw|semaine|semana)\s(?P<week>\d\d?)(?:\s(?:of|in|de|/)?\s?|/){_YEAR}"),
        lambda m, _: week_period(int(m["year"]), int(m["week"])),
        False,
    ),
    (_word(rf"{_YEAR}-?q(?P<q>[1-4])"), lambda m, _: quarter_period(int(m["year"]), int(m["q"])), False),
    (
        _word(rf"(?:q(?P<q>[1-4])|(?P<n>[1-4])\.\squartal)(?:\s(?:of\s|de\s)?|/){_YEAR}"),
        lambda m, _: quarter_period(int(m["year"]), int(m["q"] or m["n"])),
        False,
    ),
    (_word(rf"{_YEAR}-(?P<month>0[1-9]|1[0-2])"), lambda m, _: month_period(int(m["year"]), int(m["month"])), False),
    (
        _word(rf"(?P<month>{_ANY_MONTH})\.?,?\s(?:of\s|de\s|del\s)?{_YEAR}"),
        lambda m, _: month_period(int(m["year"]), MONTHS[m["month"].lower()]),
        False,
    ),
    (
        re.compile(rf"(?<!\d){_YEAR}\s?年\s?(?P<month>\d\d?)\s?月(?!\s?\d+\s?日)"),
        lambda m, _: month_period(int(m["year"]), int(m["month"])),
        False,
    ),
    (re.compile(rf"(?<!\d){_YEAR}\s?年(?!\s?\d)"), lambda m, _: year_period(int(m["year"])), False),
    (_word(rf"(?:{words.IN}|since|until|before|after|seit|bis|vor|nach|depuis|avant|après|desde|hasta)\s{_YEAR}"),
     lambda m, _: None if m[0].startswith("EN ") else year_period(int(m["year"])), False),
    (_word(rf"(?P<feast>{_FEAST})\s(?:of\s|de\s)?{_YEAR}"), lambda m, _: _feast(m["feast"], int(m["year"])), False),
    (re.compile(rf"(?<!\d){_YEAR}\s?年の?(?P<feast>{_FEAST})"), lambda m, _: _feast(m["feast"], int(m["year"])), False),
)  # fmt: skip

_RELATIVE: tuple[Rule, ...] = (
    (_word(_either(day for day in words.DAYS if day[0] < "\u2e80")), lambda m, t: _day_word(m, t), True),
    (re.compile(_either(day for day in words.DAYS if day[0] > "\u2e80")), lambda m, t: _day_word(m, t), True),
    (_word(_either(span for span in words.SPANS if span[0] < "\u2e80")), lambda m, t: _span_word(m, t), True),
    (re.compile(_either(span for span in words.SPANS if span[0] > "\u2e80")), lambda m, t: _span_word(m, t), True),
    (
        _word(rf"(?:the\s|der\s|im\s|in der\s|in dem\s|am\s)?(?P<step>{_STEPS})\s"
              r"(?P<unit>week|month|quarter|year|woche|monat|quartal|jahr)(?:e?s(?=\s|\Z))?"),
        lambda m, t: span_from(words.UNITS[m["unit"].lower()], words.STEPS[m["step"].lower()], t),
        True,
    ),
    (_word(rf"(?P<count>{LATIN_COUNTS})\s(?P<unit>{LATIN_UNITS})\sago"), _ago, True),
    (_word(rf"(?:vor|il y a|hace)\s(?P<count>{LATIN_COUNTS})\s(?P<unit>{LATIN_UNITS})"), _ago, True),
    (re.compile(rf"(?<!\d)(?P<count>{CJK_COUNTS})\s?(?P<unit>{CJK_UNITS})\s?(?:以)?前"), _ago, True),
    (
        _word(
            r"(?:in the |over the |the |in den |während der |les |los |las )?"
            r"(?:last|past|letzten|vergangenen|derniers|dernières|últimos|últimas)"
            rf"\s(?P<count>{LATIN_COUNTS})\s(?P<unit>{LATIN_UNITS})"
        ),
        _past_stretch,
        True,
    ),
    (
        _word(rf"les\s(?P<count>{LATIN_COUNTS})\sderni(?:ers|ères)\s(?P<unit>{LATIN_UNITS})"),
        _past_stretch,
        True,
    ),
    (re.compile(rf"(?:過去|最近|过去)(?P<count>{CJK_COUNTS})\s?(?P<unit>{CJK_UNITS})"), _past_stretch, True),
    (
        _word(rf"(?:(?:on|am|since|seit)\s|(?P<step>last|next|this|letzten?|nächsten?|diesen)\s|(?:le|el)\s)"
              rf"(?P<weekday>{_LATIN_WEEKDAYS})(?!s)"),
        _weekday,
        True,
    ),
    (
        re.compile(rf"(?P<step>)(?:先週の|上)?(?P<weekday>{_CJK_WEEKDAYS})"),
        _weekday,
        True,
    ),
    (
        _word(r"(?:on\s|am\s|le\s|el\s)?(?:the\s)?(?P<day>\d\d?)(?:st|nd|rd|th|er|\.)?\s(?:of\s|de\s)?"
              rf"(?P<month>{_FULL_MONTHS}|may)"),
        lambda m, t: _latest(MONTHS[m["month"].lower()], int(m["day"]), t),
        True,
    ),
    (
        _word(rf"(?:on\s)?(?P<month>{_FULL_MONTHS})\s(?:the\s)?(?P<day>\d\d?)(?:st|nd|rd|th)?"),
        lambda m, t: _latest(MONTHS[m["month"].lower()], int(m["day"]), t),
        True,
    ),
    (
        re.compile(r"(?<!年)(?<!年\s)(?<!\d)(?P<month>\d\d?)\s?月\s?(?P<day>\d\d?)\s?[日号號]"),
        lambda m, t: _latest(int(m["month"]), int(m["day"]), t),
        True,
    ),
    (re.compile(r"(?<!年)(?<!年\s)(?<!\d)(?P<month>[1-9]|1[0-2])\s?月(?!\s?\d)"),
     lambda m, t: _latest_month(int(m["month"]), t), True),
    (
        _word(r"(?:in|im|during|since|seit|en|depuis|desde)\s(?:(?P<step>last|next|letzten|nächsten)\s)?"
              rf"(?P<month>{_ANY_MONTH})(?!\.?\s\d)"),
        _of_month,
        True,
    ),
    (_word(rf"(?P<step>last|next|letzten|letzter|nächsten)\s(?P<month>{_ANY_MONTH})"), _of_month, True),
    (
        _word(r"(?:in|im|en|during)\s(?:the\s)?(?:q(?P<q>[1-4])|(?P<n>[1-4])\.\squartal)"),
        lambda m, t: _latest_quarter(int(m["q"] or m["n"]), t),
        True,
    ),
    (_word(rf"(?:(?P<step>{_STEPS})\s)?(?P<feast>{_LATIN_FEASTS})(?P<year>)"),
     _of_feast, True),
    (re.compile(rf"(?P<step>)(?P<year>)(?P<feast>{_CJK_FEASTS})"),
     _of_feast, True),
)  # fmt: skip


def _day_word(match: re.Match[str], today: date) -> Period | None:
    if match[0].lower() == "hier" and not _FRENCH.search(match.string):
        return None  # German for "here"
    return day_period(shifted(today, words.DAYS[match[0].lower()]))


def _span_word(match: re.Match[str], today: date) -> Period | None:
    return span_from(*words.SPANS[match[0].lower()], today)


def _latest_quarter(quarter: int, today: date) -> Period:
    return quarter_period(today.year - (3 * quarter - 2 > today.month), quarter)


def atoms_in(text: str, today: date | None) -> Iterator[TimePhrase]:
    """Find the spans that are named, in no order; some lie in others."""
    for start, end, period in dates_in(text):
        if _stands_alone(text, start, end):
            yield TimePhrase(_with_preposition(text, start), end, period, False)
    for pattern, read, relative in (*_ABSOLUTE, *(_RELATIVE if today is not None else ())):
        for match in pattern.finditer(text):
            try:
                read_as = read(match, today or date.max)
            except (ValueError, OverflowError):
                continue
            if read_as is not None:
                yield TimePhrase(_with_preposition(text, match.start()), match.end(), read_as, relative)


_ALONE_BEFORE, _ALONE_AFTER = re.compile(r"[^\W_]\Z|[\w]-\Z|[/_]\Z"), re.compile(r"[^\W_]|-\w|_")
_PREPOSITION = re.compile(r"(?<![^\W_])(?:on|at|am|in|im|le|el|en|during)\s(?:the\s)?\Z", re.IGNORECASE)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether a date is no part of a code, a path or a stamp."""
    if text[end - 1 : end] == "日":
        return True
    return not (_ALONE_BEFORE.search(text[max(0, start - 2) : start]) or _ALONE_AFTER.match(text[end:]))


def _with_preposition(text: str, start: int) -> int:
    match = _PREPOSITION.search(text[:start])
    return match.start() if match is not None else start
