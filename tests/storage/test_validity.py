"""Which notes no longer hold, read from the properties of any note."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from tests.support.stores import add
from vaultrag.domain import NoteId, Validity
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.validity import NoteValidities

TODAY = date(2026, 6, 1)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NoteIndex]:
    opened = NoteIndex.open(tmp_path / "hybrid-fts.db")
    yield opened
    opened.close()


def read(index: NoteIndex, today: date = TODAY) -> dict[NoteId, Validity]:
    return {note_id: aged.standing for note_id, aged in NoteValidities(index, lambda: today)().items()}


def test_either_note_may_say_it(index: NoteIndex) -> None:
    """``superseded_by`` in the old note and ``supersedes`` in the new one mean the same, however they are spelled."""
    old = add(index, "Old rule.md", '---\nsuperseded_by: "[[New rule|the new one]]"\n---\n')
    add(index, "New rule.md", "text")
    older = add(index, "Older rule.md", "text")
    add(index, "a/Newest.md", "---\nSupersedes:\n  - '[[Older rule]]'\n---\n")
    dashed = add(index, "Dashed.md", "---\nsuperseded-by: Newest\n---\n")
    assert read(index) == {
        old: Validity("superseded", ("New rule.md",)),  # type: ignore[arg-type]
        older: Validity("superseded", ("a/Newest.md",)),  # type: ignore[arg-type]
        dashed: Validity("superseded", ("a/Newest.md",)),  # type: ignore[arg-type]
    }


def test_a_successor_that_is_not_there_is_no_fault(index: NoteIndex) -> None:
    """A note that names a missing successor is superseded all the same; an empty property says nothing."""
    old = add(index, "Old.md", "---\nsuperseded_by: Somewhere else\n---\n")
    add(index, "Kept.md", "---\nsuperseded_by:\ninvalidated_by: ''\nvalid_to:\n---\n")
    assert read(index) == {old: Validity("superseded")}


def test_invalidity_and_what_rests_on_it(index: NoteIndex) -> None:
    """``invalidated_by`` invalidates a note, and through it those that depend on it or were taken from it."""
    wrong = add(index, "Wrong.md", '---\ninvalidated_by: "[[Proof]]"\n---\n')
    add(index, "Proof.md", "text")
    resting = add(index, "Resting.md", '---\ndepends_on: ["[[Proof]]", "[[Wrong]]"]\n---\n')
    taken = add(index, "Taken.md", "---\nprovenance: from [[Resting]] of May\n---\n")
    found = read(index)
    assert found.pop(wrong) == Validity("invalidated", ("Proof.md",))  # type: ignore[arg-type]
    assert found == {
        resting: Validity("invalidated", through="Wrong.md"),
        taken: Validity("invalidated", through="Resting.md"),
    }


def test_the_day_decides(index: NoteIndex) -> None:
    """A note expires after its last day and is upcoming before its first, by the day that is passed in."""
    note = add(index, "Plan.md", "---\nvalid_from: 2026-01-01\nvalid_to: 2026-05\n---\n")
    today = TODAY

    def clock() -> date:
        return today

    standings = NoteValidities(index, clock)
    assert standings()[note].standing == Validity("expired", since="2026-05-31")
    today = date(2026, 5, 31)
    assert standings() == {}
    today = date(2025, 12, 31)
    assert standings()[note].standing == Validity("upcoming", since="2026-01-01")


def test_a_change_is_seen(index: NoteIndex) -> None:
    """What is remembered holds until the index changes."""
    standings = NoteValidities(index, lambda: TODAY)
    assert standings() == {}
    old = add(index, "Old.md", "---\nsuperseded_by: x\n---\n")
    assert old in standings()
