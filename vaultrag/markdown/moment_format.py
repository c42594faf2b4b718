"""Format strings of moment.js, read backwards: from a note's path to the day, week, month or year it is named by.

``YYYY/MM-MMMM/YYYY-MM-DD-dddd`` reads ``2025/03-March/2025-03-12-Wednesday``. Weeks are those of ISO 8601 (Monday to
Sunday), whatever the locale of the one who wrote them. Times of day and names of weekdays are passed over. A format
that leaves the year open, or holds what is not known here (``LL``, ``X``), reads nothing. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from unicodedata import normalize

from vaultrag.domain.dates import Period, day_period, month_period, quarter_period, week_period, year_period
from vaultrag.text.month_names import MONTHS

_TOKEN = re.compile(
    r"\[([^\]]*)\]|\\(.)|(YYYY|YY|Y|MMMM|MMM|Mo|MM|M|Qo|Q|DDDD|DDDo|DDD|Do|DD|D|dddd|ddd|dd|do|d|E|e"
    r"|GGGG|GG|gggg|gg|Wo|WW|W|wo|ww|w|HH|H|hh|h|kk|k|mm|m|ss|s|S+|A|a|ZZ|Z)|([A-Za-z])|(.)",
    re.DOTALL,
)
_NAME = r"[^\W\d_]+\.?"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th|er|e|[.ºª°]|[日月号])?"
_FIELDS: dict[str, tuple[str, str]] = {
    "YYYY": ("year", r"\d{4}"), "Y": ("year", r"\d{4}"), "YY": ("short", r"\d{2}"),
    "GGGG": ("weekyear", r"\d{4}"), "gggg": ("weekyear", r"\d{4}"),
    "GG": ("shortweek", r"\d{2}"), "gg": ("shortweek", r"\d{2}"),
    "MMMM": ("name", rf"(?:{_NAME}|\d{{1,2}}月)"), "MMM": ("name", rf"(?:{_NAME}|\d{{1,2}}月)"),
    "MM": ("month", r"\d{2}"), "M": ("month", r"\d{1,2}"), "Mo": ("month", _ORDINAL),
    "Q": ("quarter", "[1-4]"), "Qo": ("quarter", r"[1-4](?:st|nd|rd|th|er|e|\.|º)?"),
    "DD": ("day", r"\d{2}"), "D": ("day", r"\d{1,2}"), "Do": ("day", _ORDINAL),
    "DDDD": ("yearday", r"\d{3}"), "DDD": ("yearday", r"\d{1,3}"), "DDDo": ("yearday", r"\d{1,3}[a-z.]{0,2}"),
    "WW": ("week", r"\d{2}"), "W": ("week", r"\d{1,2}"), "Wo": ("week", _ORDINAL),
    "ww": ("week", r"\d{2}"), "w": ("week", r"\d{1,2}"), "wo": ("week", _ORDINAL), "E": ("weekday", "[1-7]"),
}  # fmt: skip
"""Of each token: the field that it gives, and its form."""
_PASSED = {"dddd": _NAME, "ddd": _NAME, "dd": _NAME, "do": r"\d\S{0,2}", "d": r"\d", "e": r"\d", "A": _NAME, "a": _NAME}
_CJK_MONTHS = {
    "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "十一": 11, "十二": 12,
}  # fmt: skip
_MOST_CHARS = 200


@dataclass(frozen=True, slots=True)
class MomentFormat:
    """A format, ready to read names."""

    pattern: re.Pattern[str]
    fields: tuple[tuple[str, str], ...]

    def read(self, text: str) -> Period | None:
        """Return the span that a name stands for; None where it has another form, or is no date."""
        match = self.pattern.fullmatch(normalize("NFC", text))
        if match is None:
            return None
        values: dict[str, int] = {}
        for group, field in self.fields:
            value = _month_number(match[group]) if field == "name" else _number(match[group])
            field = "month" if field == "name" else field
            if value is None or values.setdefault(field, value) != value:
                return None
        return _period(values)


def moment_format(text: str) -> MomentFormat | None:
    """Compile a format; None for one that names no date or cannot be read."""
    if not 0 < len(text) <= _MOST_CHARS:
        return None
    pieces: list[str] = []
    fields: list[tuple[str, str]] = []
    for literal, escaped, token, letter, sign in _TOKEN.findall(normalize("NFC", text)):
        if letter:
            return None  # a token that is not known here
        if token in _FIELDS:
            field, form = _FIELDS[token]
            fields.append((f"f{len(fields)}", field))
            pieces.append(f"(?P<{fields[-1][0]}>{form})")
        elif token:
            pieces.append(_PASSED.get(token, r"[\d:+-]+"))
        else:
            pieces.append(re.escape(literal or escaped or sign))
    if not {"year", "short", "weekyear", "shortweek"} & {field for _, field in fields}:
        return None
    return MomentFormat(re.compile("".join(pieces), re.IGNORECASE), tuple(fields))


def _number(text: str) -> int | None:
    digits = re.match(r"\d+", text)
    return int(digits[0]) if digits else None


def _month_number(text: str) -> int | None:
    name = text.lower()
    if name.endswith("月"):
        return int(name[:-1]) if name[:-1].isdigit() else _CJK_MONTHS.get(name[:-1])
    return MONTHS.get(name) or MONTHS.get(name.removesuffix("."))


def _period(values: dict[str, int]) -> Period | None:
    year = values.get("year", values.get("short", -2000) + 2000)
    weekyear = values.get("weekyear", values.get("shortweek", -2000) + 2000) or year
    try:
        if "yearday" in values:
            day = date(year, 1, 1) + timedelta(days=values["yearday"] - 1)
            return day_period(day) if day.year == year else None
        if "month" in values and year:
            if "day" in values:
                return day_period(date(year, values["month"], values["day"]))
            return month_period(year, values["month"])
        if "week" in values:
            if "weekday" in values:
                return day_period(date.fromisocalendar(weekyear, values["week"], values["weekday"]))
            return week_period(weekyear, values["week"])
        if "quarter" in values:
            return quarter_period(year, values["quarter"])
        return year_period(year) if year and values.keys() <= {"year", "short"} else None
    except ValueError:
        return None
