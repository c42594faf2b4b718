"""What may stand behind ``on:``, ``during:``, ``after:`` and the like, as a span of days. Pure; the day is passed in.

2025   2025-03   2025-03-12   12.03.2025   2025-W12   2025-Q1
today   yesterday   "last week"   last-week   -7d   -2w   -3m   -1y
2025-03-01..2025-03-31   2025-03..   ..2025-03
"""

from __future__ import annotations

import re
from datetime import date

from vaultrag.domain.dates import ALWAYS, Period, month_period, shifted
from vaultrag.retrieval.time_phrases import read_phrase
from vaultrag.text.dates import read_date

_BACK = re.compile(r"([+-])(\d{1,4})\s?([dwmy])", re.IGNORECASE)


def period_of(value: str, today: date | None) -> Period | None:
    """Return the span that a value names; None for one that names none.

    Args:
        value: As typed.
        today: The day, by the owner's calendar; None leaves out what is relative to it.
    """
    value = value.strip()
    if ".." in value and (ends := _range(value, today)) is not None:
        return ends
    if (back := _BACK.fullmatch(value)) is not None:
        return _back(back, today) if today is not None else None
    return read_date(value) or read_phrase(value.replace("-", " ").replace("_", " "), today)


def _range(value: str, today: date | None) -> Period | None:
    first, _, last = value.partition("..")
    start = period_of(first, today) if first.strip() else ALWAYS
    end = period_of(last.strip(". "), today) if last.strip(". ") else ALWAYS
    if start is None or end is None or (start, end) == (ALWAYS, ALWAYS) or start.first > end.last:
        return None
    return Period(start.first, end.last)


def _back(match: re.Match[str], today: date) -> Period:
    """``-7d``: the last seven days up to today; ``+7d``: the next seven."""
    sign, count, unit = -1 if match[1] == "-" else 1, int(match[2]), match[3].lower()
    if unit in "dw":
        other = shifted(today, sign * count * (7 if unit == "w" else 1))
    else:
        months = today.year * 12 + today.month - 1 + sign * count * (12 if unit == "y" else 1)
        year = min(max(months // 12, 1), 9999)
        other = date(year, months % 12 + 1, min(today.day, month_period(year, months % 12 + 1).last.day))
    return Period(min(other, today), max(other, today))
