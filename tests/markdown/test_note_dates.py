"""A note's own dates: what they are, and where each was read."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.domain import NotePath
from vaultrag.domain.dates import PeriodicFormat
from vaultrag.markdown import parse_note
from vaultrag.markdown.note_dates import DateReader, PeriodicNames
from vaultrag.text.dates import read_date

READER = DateReader(
    periodic=PeriodicNames.of(
        [PeriodicFormat("daily", "Daily", "YYYY/MM/YYYY-MM-DD"), PeriodicFormat("weekly", "Weekly", "gggg-[W]ww")]
    )
)


def dates(path: str, text: str = "", reader: DateReader = READER) -> dict[str, tuple[str, str]]:
    """The dates of a note by their kind, with their sources."""
    found = reader.read(parse_note(NotePath(path), text.encode()))
    return {one.kind: (str(one.period), one.source) for one in found if one.kind != "entry"}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.md", "---\ncreated: 2025-03-12\n---\n", {"created": ("2025-03-12", "property created"),
                                                     "about": ("2025-03-12", "property created")}),
        ("a.md", "---\nDate: 12.03.2025\ncreated: 2025-01-01 10:00\nmodified: 2025-04-01T08:00\n---\n",
         {"about": ("2025-03-12", "property Date"), "created": ("2025-01-01", "property created"),
          "updated": ("2025-04-01", "property modified")}),
        ("a.md", "created:: [[2025-03-12]]\n\nText.\n", {"created": ("2025-03-12", "property created"),
                                                         "about": ("2025-03-12", "property created")}),
        ("Daily/2025/03/2025-03-12.md", "", {"about": ("2025-03-12", "daily note"),
                                             "created": ("2025-03-12", "daily note")}),
        ("Weekly/2025-W11.md", "", {"about": ("2025-03-10 to 2025-03-16", "weekly note"),
                                    "created": ("2025-03-10 to 2025-03-16", "weekly note")}),
        ("Meetings/Sync 2025-03-12.md", "", {"about": ("2025-03-12", "file name"),
                                             "created": ("2025-03-12", "file name")}),
        ("20250312 call.md", "", {"about": ("2025-03-12", "file name"), "created": ("2025-03-12", "file name")}),
        ("Trip 2025-03-10 - 2025-03-14.md", "", {"about": ("2025-03-10 to 2025-03-14", "file name"),
                                                 "created": ("2025-03-10 to 2025-03-14", "file name")}),
        ("a.md", "# Meeting of 12 March 2025\n\nText.\n", {"about": ("2025-03-12", "heading"),
                                                           "created": ("2025-03-12", "heading")}),
        ("a.md", "# Plan\n\nCreated: March 12, 2025 10:12 AM\nLast edited time: 2025-04-01\n",
         {"created": ("2025-03-12", "text"), "about": ("2025-03-12", "text"), "updated": ("2025-04-01", "text")}),
        ("a.md", "作成日: 2025年3月12日\n", {"created": ("2025-03-12", "text"), "about": ("2025-03-12", "text")}),
    ],
)  # fmt: skip
def test_a_date_is_read_with_its_source(path: str, text: str, expected: dict[str, tuple[str, str]]) -> None:
    """Properties come first, then a periodic note's name, the file name, the first heading, an importer's line."""
    assert dates(path, text) == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("1984.md", "# 1984\n\nA novel.\n"),
        ("ISO 8601.md", "How dates are written.\n"),
        ("Room 2025.md", ""),
        ("a.md", "---\ncreated: yesterday\ndate: soon\n---\n"),
        ("a.md", "---\ncreated: 2025-13-40\n---\n"),
        ("Journal.md", "## 2025-03-12\n\nOne.\n\n## 2025-03-13\n\nTwo.\n"),
        ("a.md", "The rule was created: long ago.\n"),
    ],
)
def test_what_is_no_date_of_the_note_is_none(path: str, text: str) -> None:
    """Numbers, words and one day of a journal date no note."""
    assert dates(path, text) == {}


def test_a_journal_has_a_date_a_section() -> None:
    """Dated headings and lines that begin with a date are entries, with the lines of the file that they take."""
    text = "---\ntype: journal\n---\n## 2025-03-12\n\nOne.\n\n## 13 March 2025\n\nTwo.\n- 2025-03-14: three\n"
    found = READER.read(parse_note(NotePath("Journal.md"), text.encode()))
    assert [(str(one.period), one.line, one.last_line) for one in found] == [
        ("2025-03-12", 4, 7), ("2025-03-13", 8, 0), ("2025-03-14", 11, 11),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("zone", "expected"),
    [("America/Los_Angeles", "2025-03-29"), ("Europe/Berlin", "2025-03-30"), ("Asia/Tokyo", "2025-03-30")],
)
def test_a_stamp_is_a_day_of_the_owner(zone: str, expected: str) -> None:
    """A time with an offset is the day that it was where the owner lives, on the night the clocks change too."""
    assert str(read_date("2025-03-30T01:30:00+02:00", ZoneInfo(zone))) == expected
    assert str(read_date("2025-03-30T01:30:00", ZoneInfo(zone))) == "2025-03-30"


@given(st.text(max_size=120), st.text(max_size=200))
def test_any_note(name: str, text: str) -> None:
    """No path and no text raises."""
    READER.read(parse_note(NotePath(f"{name}.md"), text.encode("utf-8", "replace")))
