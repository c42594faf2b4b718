"""Phrases of time: read as what they mean on a given day, and nothing else taken for one."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.domain.dates import Period
from vaultrag.retrieval.date_values import period_of
from vaultrag.retrieval.time_phrases import find_phrase

TODAY = date(2025, 3, 20)  # a Thursday


@pytest.mark.parametrize(
    ("query", "phrase", "expected"),
    [
        ("what did I do on 12 March 2025", "on 12 March 2025", "2025-03-12"),
        ("what did I do on March 12", "on March 12", "2025-03-12"),
        ("calls of 12.03.2025", "12.03.2025", "2025-03-12"),
        ("decisions of last week", "last week", "2025-03-10 to 2025-03-16"),
        ("letzte Woche", "letzte Woche", "2025-03-10 to 2025-03-16"),
        ("sales in Q1", "in Q1", "2025-01-01 to 2025-03-31"),
        ("sales Q4 2024", "Q4 2024", "2024-10-01 to 2024-12-31"),
        ("two days before Christmas 2024", "two days before Christmas 2024", "2024-12-23"),
        ("landlord in 2024", "in 2024", "2024-01-01 to 2024-12-31"),
        ("landlord before 2024", "before 2024", "0001-01-01 to 2023-12-31"),
        ("between 3 March and 7 March 2025", "between 3 March and 7 March 2025", "2025-03-03 to 2025-03-07"),
        ("from 2025-03-01 to 2025-03-05", "from 2025-03-01 to 2025-03-05", "2025-03-01 to 2025-03-05"),
        ("around 12 March 2025", "around 12 March 2025", "2025-03-09 to 2025-03-15"),
        ("what was said on Monday", "on Monday", "2025-03-17"),
        ("in the last 3 days", "in the last 3 days", "2025-03-17 to 2025-03-20"),
        ("rent next year", "next year", "2026-01-01 to 2026-12-31"),
        ("was habe ich gestern gemacht", "gestern", "2025-03-19"),
        ("was war vor drei Tagen", "vor drei Tagen", "2025-03-17"),
        ("märz 2023", "märz 2023", "2023-03-01 to 2023-03-31"),
        ("qu'ai-je fait hier", "hier", "2025-03-19"),
        ("la semaine dernière", "la semaine dernière", "2025-03-10 to 2025-03-16"),
        ("il y a deux jours", "il y a deux jours", "2025-03-18"),
        ("el mes pasado", "el mes pasado", "2025-02-01 to 2025-02-28"),
        ("reunión de hace tres días", "hace tres días", "2025-03-17"),
        ("先週の会議", "先週", "2025-03-10 to 2025-03-16"),
        ("3月12日に何をした", "3月12日", "2025-03-12"),
        ("2025年3月10日から2025年3月14日まで", "2025年3月10日から2025年3月14日", "2025-03-10 to 2025-03-14"),
        ("クリスマスの2日前", "クリスマスの2日前", "2024-12-23"),
        ("上周开了什么会", "上周", "2025-03-10 to 2025-03-16"),
        ("2024年圣诞节前两天", "2024年圣诞节前两天", "2024-12-23"),
        ("三天前", "三天前", "2025-03-17"),
    ],
)
def test_a_phrase_is_read(query: str, phrase: str, expected: str) -> None:
    """Each phrase is found as a whole, and stands for the days that its writer means."""
    found = find_phrase(query, TODAY)
    assert found is not None
    assert (query[found.start : found.end], str(found.period)) == (phrase, expected)


TRAPS = (
    "Windows 2000", "1984", "room 2025", "ISO 8601", "may", "second draft", "march to the sea", "WO-2025-03-12",
    "sun and moon", "log-2025-03-12T10:00:00Z", "Mar 5 transistor", "May Smith", "port 2024", "24/7 support", "4711",
    "a week of meals", "weekly review template", "day trip packing", "on call", "1 in 10", "Boeing 747", "Area 51",
    "Q1 transistor", "hier steht der Tank", "model 1990 pump", "the 2000 seal", "Monday blues recipe",
    "August der Starke", "April Ludgate", "Friday the 13th", "RFC 2025", "EN 1993", "Formular 2024", "next steps",
)  # fmt: skip


@pytest.mark.parametrize("query", TRAPS)
def test_what_is_no_date_stays_words(query: str) -> None:
    """Numbers, names and codes that look like a time are none."""
    assert find_phrase(query, TODAY) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025", "2025-01-01 to 2025-12-31"),
        ("2025-03", "2025-03-01 to 2025-03-31"),
        ("2025-W12", "2025-03-17 to 2025-03-23"),
        ("2025-Q1", "2025-01-01 to 2025-03-31"),
        ("today", "2025-03-20"),
        ("yesterday", "2025-03-19"),
        ("last week", "2025-03-10 to 2025-03-16"),
        ("last-week", "2025-03-10 to 2025-03-16"),
        ("-7d", "2025-03-13 to 2025-03-20"),
        ("-1m", "2025-02-20 to 2025-03-20"),
        ("2025-03-01..2025-03-31", "2025-03-01 to 2025-03-31"),
        ("2025-03..", "2025-03-01 to 9999-12-31"),
        ("..2025-03", "0001-01-01 to 2025-03-31"),
        ("12.03.2025", "2025-03-12"),
        ("9999", "9999"),
        ("soon", "None"),
        ("2025-02-30", "None"),
        ("2025-05..2025-03", "None"),
    ],
)
def test_an_operators_value_is_read(value: str, expected: str) -> None:
    """Years, months, weeks, quarters, days, ranges and what is relative to today; anything else is no date."""
    if value == "9999":
        assert period_of(value, TODAY) is None  # no year that a note is of
    else:
        assert str(period_of(value, TODAY)) == expected


def test_without_a_day_nothing_relative_is_read() -> None:
    """Where nobody says what day it is, only what is whole by itself is a date."""
    assert find_phrase("decisions of last week", None) is None
    found = find_phrase("on 12 March 2025", None)
    assert found is not None
    assert found.period == Period(date(2025, 3, 12), date(2025, 3, 12))


@given(st.text(max_size=120), st.dates())
def test_any_text(query: str, today: date) -> None:
    """No text raises on any day, and a phrase lies in the text."""
    found = find_phrase(query, today)
    assert found is None or 0 <= found.start < found.end <= len(query)


ROW = ("vor", "drei", "Tagen", "last", "week", "two", "days", "before", "Christmas", "2024", "先週", "3", "日前", "in",
       "March", "since", "12", "März", "um")  # fmt: skip


@given(st.lists(st.sampled_from(ROW), max_size=8), st.dates())
def test_any_row_of_such_words(row: list[str], today: date) -> None:
    """No row of words of time raises on any day."""
    find_phrase(" ".join(row), today)
