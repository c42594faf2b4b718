"""Notes' dates in the index: conditions on them, the file's times where a note says nothing, the owner's zone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from tests.support.daemons import REPOSITORY
from tests.support.stores import add, parsed
from vaultrag.domain.dates import Period
from vaultrag.markdown.note_dates import DateReader, PeriodicNames
from vaultrag.retrieval.query_parser import parse_query
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_rows import NoteRows
from vaultrag.watcher.periodic_notes import periodic_formats

TODAY = date(2025, 3, 20)
NIGHT_NS = 1_743_290_000 * 1_000_000_000
"""2025-03-29 23:13:20 UTC: the next day in Berlin, where the clocks change that night, and in Tokyo."""


@pytest.fixture(params=["America/Los_Angeles", "Europe/Berlin", "Asia/Tokyo"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The machine stands in another zone."""
    if not hasattr(time, "tzset"):
        pytest.skip("this system's zone cannot be set for a process")
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def matching(index: NoteIndex, query: str) -> set[str]:
    """The paths that a query's conditions let through, on the day of these tests."""
    ids = NoteRows(index).matching(parse_query(query, today=TODAY).filters)
    return {row.path for row in NoteRows(index).by_ids(ids or ()).values()}


@pytest.fixture
def filled(index: NoteIndex) -> NoteIndex:
    for path, text in {
        "Made.md": "---\ncreated: 2025-03-12\nmodified: 2025-03-19\n---\n",
        "2025-03-13.md": "",
        "2025-W11.md": "",
        "Later 2025-04-01.md": "",
        "Undated.md": "words",
    }.items():
        add(index, path, text, mtime_ns=NIGHT_NS)
    return index


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("on:2025-03-12", {"Made.md", "2025-W11.md"}),
        ("on:2025-03-13", {"2025-03-13.md", "2025-W11.md"}),
        ("during:2025-03-12..2025-03-13", {"Made.md", "2025-03-13.md", "2025-W11.md"}),
        ("during:2025-W11 -on:2025-03-13", {"Made.md"}),
        ('during:"last week"', {"Made.md", "2025-03-13.md", "2025-W11.md"}),
        ("during:last week", {"Made.md", "2025-03-13.md", "2025-W11.md"}),
        ("created:2025-03-12", {"Made.md", "2025-W11.md"}),
        ("updated:yesterday", {"Made.md"}),
        ("after:2025-04", {"Later 2025-04-01.md"}),
        ("before:2025-03-11", {"2025-W11.md"}),
    ],
)
def test_conditions_go_by_a_notes_own_dates(filled: NoteIndex, query: str, expected: set[str]) -> None:
    """Whatever the files' times are, a note lies in the days that it says."""
    assert matching(filled, query) == expected


def test_a_files_time_is_a_day_of_the_owner(zone: str, filled: NoteIndex) -> None:
    """A note that says nothing is of the day of its file, by the calendar where the machine stands."""
    day = "2025-03-29" if zone == "America/Los_Angeles" else "2025-03-30"
    other = "2025-03-30" if zone == "America/Los_Angeles" else "2025-03-29"
    assert "Undated.md" in matching(filled, f"on:{day}")
    assert "Undated.md" not in matching(filled, f"on:{other}")
    note_id = next(iter(NoteRows(filled).matching(parse_query("file:undated").filters) or ()))
    dates = NoteRows(filled).by_ids([note_id])[note_id].dates
    assert dates is not None
    assert (dates.about.first, dates.about.source, dates.updated.source) == (day, "file changed", "file changed")


def test_what_is_told_names_its_source(filled: NoteIndex) -> None:
    """Each date of a note says where it was read."""
    note_id = next(iter(NoteRows(filled).matching(parse_query("file:made").filters) or ()))
    dates = NoteRows(filled).by_ids([note_id])[note_id].dates
    assert dates is not None
    assert [(one.first, one.source) for one in (dates.created, dates.updated, dates.about)] == [
        ("2025-03-12", "property created"), ("2025-03-19", "property modified"), ("2025-03-12", "property created"),
    ]  # fmt: skip


def test_notes_of_a_time_are_listed(filled: NoteIndex) -> None:
    """A note is listed with the share of its own days that lie in the time; by its file's time none is."""
    found = {note.note_id: note.share for note in NoteRows(filled).dated(Period(date(2025, 3, 13), date(2025, 3, 13)))}
    rows = NoteRows(filled).by_ids(found)  # type: ignore[arg-type]
    assert {rows[note_id].path: round(share, 2) for note_id, share in found.items()} == {  # type: ignore[index]
        "2025-03-13.md": 1.0, "2025-W11.md": 0.14,
    }  # fmt: skip


def test_other_rules_have_notes_read_again(tmp_path: Path) -> None:
    """Where dates are to be read otherwise than before, each note is read again; else none is."""
    index = NoteIndex.open(tmp_path / "n.db")
    add(index, "a.md", "words")
    index.close()
    for reader, unread in ((DateReader(), 0), (DateReader(periodic=FORMATS), 1)):
        index = NoteIndex.open(tmp_path / "n.db", reader)
        assert sum(not entry.content_hash for entry in index.entries().values()) == unread
        index.close()


FORMATS = PeriodicNames.of(periodic_formats(str(REPOSITORY / "sample-vault")))


def test_the_dailies_of_a_month_in_a_copied_vault(tmp_path: Path) -> None:
    """Where a copy has set every file's time to today, a month's daily notes are those that are named so."""
    vault = REPOSITORY / "sample-vault"
    index = NoteIndex.open(tmp_path / "n.db", DateReader(periodic=FORMATS))
    for path in sorted(vault.rglob("*.md")):
        name = path.relative_to(vault).as_posix()
        index.upsert([index.prepare(*parsed(name, path.read_bytes().decode("utf-8", "replace"), mtime_ns=NIGHT_NS))])
    named = {f"Daily/{path.name}" for path in (vault / "Daily").glob("2025-03-*.md")}
    assert named
    assert matching(index, "is:daily during:2025-03") == named
    assert matching(index, "is:daily after:2025-03-01 before:2025-03-31") == named
    index.close()


def test_an_edit_counts_where_the_property_is_stale(tmp_path: Path) -> None:
    """What changed last is by the file where the note's own date is older; but not on a day of many files: a copy."""
    day, copied = 86_400_000_000_000, 20_500 * 86_400_000_000_000
    index = NoteIndex.open(tmp_path / "hybrid-fts.db")
    for number in range(30):
        add(index, f"Copied {number}.md", "---\nupdated: 2025-01-31\n---\nCopied on one day.\n", mtime_ns=copied)
    add(index, "Edited.md", "---\nupdated: 2025-01-31\n---\nEdited since.\n", mtime_ns=copied + 3 * day)
    add(index, "Silent.md", "It says nothing.\n", mtime_ns=copied)
    table = NoteRows(index)
    changed = {str(table.by_ids([one])[one].path): date for one, date in table.last_changed(table.all_ids()).items()}
    assert {(changed[f"Copied {number}.md"].first, changed[f"Copied {number}.md"].own) for number in range(30)} == {
        ("2025-01-31", True)
    }
    assert changed["Edited.md"].first > "2026-02-15"
    assert not changed["Edited.md"].own
    assert changed["Silent.md"].source == "file changed"
    index.close()
