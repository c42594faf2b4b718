"""A date that somebody wrote, as a span of days: a day, a week, a month, a quarter or a year. Pure.

``2025-03-12``, ``2025-03-12T23:30:00Z``, ``12.03.2025``, ``March 12, 2025``, ``2025年3月12日``, ``20250312``,
``2025-W11``, ``2025-Q1``, ``2025-03``, ``March 2025``, ``2025``. A time with an offset is a day of the owner's zone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, tzinfo

from vaultrag.domain.dates import Period, day_period, month_period, quarter_period, week_period, year_period
from vaultrag.text.month_names import MONTHS
from vaultrag.text.number_forms import compact_date, written

_YEAR = r"(?P<year>(?:1[5-9]|2[01])\d\d)"
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[T ](?P<time>\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)\s?(?P<zone>Z|[+-]\d\d:?\d\d|[+-]\d\d)?",
    re.IGNORECASE,
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_WEEK = re.compile(rf"{_YEAR}[-_ ]?W(?P<week>\d\d?)", re.IGNORECASE)
_QUARTER = re.compile(rf"{_YEAR}[-_ ]?Q(?P<quarter>[1-4])|Q(?P<other>[1-4])[-_ /]?(?P<of>(?:19|20)\d\d)", re.IGNORECASE)
_MONTH = re.compile(
    rf"{_YEAR}[-/.](?P<month>0?[1-9]|1[0-2])|{_YEAR.replace('year', 'cjk')}\s?年\s?(?P<tsuki>\d\d?)\s?月"
)
_NAMED_MONTH = re.compile(rf"(?P<name>[^\W\d_]{{3,10}})\.?,?\s(?:de\s)?{_YEAR}", re.IGNORECASE)
_WHOLE_YEAR = re.compile(rf"{_YEAR}\s?年?")
_LONGEST = 60


def read_date(text: str, zone: tzinfo | None = None) -> Period | None:
    """Read a text that is a date and nothing else, but for a time of day behind it.

    Args:
        text: What is written.
        zone: The owner's time zone; the machine's own by default.
    """
    text = text.strip().strip("[]'\"").strip()
    if not 4 <= len(text) <= _LONGEST:
        return None
    if _ISO.fullmatch(text) is not None:
        return _of_form(text.replace("-", ""))
    if (stamp := _STAMP.match(text)) is not None:
        return _of_stamp(text, stamp, zone)
    for one in written(text):
        if one.kind == "date" and one.start <= 12 and _is_rest(text[: one.start], text[one.end :]):
            return _of_form(one.forms[0][0])
    if compact_date(text):
        return _of_form(text)
    for pattern, read in _COARSE:
        if (match := pattern.fullmatch(text)) is not None and (period := _valid(read, match)) is not None:
            return period
    return None


def dates_in(text: str) -> list[tuple[int, int, Period]]:
    """Find the whole dates in a text: where each begins and ends, and its day; in order."""
    return [
        (one.start, one.end, period)
        for one in written(text)
        if one.kind == "date" and (period := _of_form(one.forms[0][0])) is not None
    ]


def _is_rest(before: str, after: str) -> bool:
    """Return whether what stands around a date is a weekday's name and a time of day at most."""
    return _WEEKDAY.fullmatch(before) is not None and _TIME.fullmatch(after) is not None


_WEEKDAY = re.compile(r"(?:[^\W\d_]{2,10}[.,]{0,2}\s*)?")
_TIME = re.compile(
    r"[\s,]*(?:(?:at|um|à|a las)\s+)?(?:T?\d\d?(?::\d\d){1,2}(?:[.,]\d+)?)?\s*(?:[ap]\.?m\.?|uhr|h|z|utc|gmt)?"
    r"(?:\s?[+-]\d\d:?\d\d)?\s*(?:\([^)]{1,20}\)|[（(]?[日月火水木金土一二三四五六]曜?日?[)）]?)?",
    re.IGNORECASE,
)


def _of_stamp(text: str, stamp: re.Match[str], zone: tzinfo | None) -> Period | None:
    try:
        if not stamp["zone"]:
            return day_period(date.fromisoformat(text[:10]))
        offset = stamp["zone"].upper().replace("Z", "+00:00")
        offset = f"{offset}:00" if len(offset) == 3 else offset
        moment = datetime.fromisoformat(f"{text[:10]}T{stamp['time'].replace(',', '.')[:8]}{offset}")
        return day_period(moment.astimezone(zone).date())
    except (ValueError, OverflowError):
        return None


def _of_form(form: str) -> Period | None:
    try:
        return day_period(date(int(form[:4]), int(form[4:6]), int(form[6:8])))
    except ValueError:
        return None


def _of_named_month(match: re.Match[str]) -> Period | None:
    month = MONTHS.get(match["name"].lower())
    return month_period(int(match["year"]), month) if month else None


def _of_quarter(match: re.Match[str]) -> Period:
    return quarter_period(int(match["year"] or match["of"]), int(match["quarter"] or match["other"]))


_COARSE: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Period | None]], ...] = (
    (_WEEK, lambda match: week_period(int(match["year"]), int(match["week"]))),
    (_QUARTER, _of_quarter),
    (_MONTH, lambda match: month_period(int(match["year"] or match["cjk"]), int(match["month"] or match["tsuki"]))),
    (_NAMED_MONTH, _of_named_month),
    (_WHOLE_YEAR, lambda match: year_period(int(match["year"]))),
)


def _valid(read: Callable[[re.Match[str]], Period | None], match: re.Match[str]) -> Period | None:
    try:
        return read(match)
    except ValueError:
        return None
