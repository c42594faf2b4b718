"""Who superseded whom, read from the properties of either note."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from vaultrag.model import IndexedEntry, NoteId, NotePath
from vaultrag.notes import parse_note
from vaultrag.store.note_index import NoteIndex
from vaultrag.store.succession import Succession


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NoteIndex]:
    opened = NoteIndex.open(tmp_path / "hybrid-fts.db")
    yield opened
    opened.close()


def add(index: NoteIndex, path: str, text: str) -> NoteId:
    note = parse_note(NotePath(path), text.encode())
    entry = IndexedEntry(NoteId(0), NotePath(path), 1, 1, 1, path, path)
    return index.upsert([(entry, note)])[0]


def test_either_note_may_say_it(index: NoteIndex) -> None:
    """``superseded_by`` in the old note and ``supersedes`` in the new one mean the same."""
    old = add(index, "Old rule.md", '---\nsuperseded_by: "[[New rule|the new one]]"\n---\n')
    new = add(index, "New rule.md", "text")
    older = add(index, "Older rule.md", "text")
    newest = add(index, "a/Newest.md", "---\nsupersedes:\n  - '[[Older rule]]'\n---\n")
    assert Succession(index).successors() == {old: frozenset({new}), older: frozenset({newest})}


def test_a_successor_that_is_not_there_is_no_fault(index: NoteIndex) -> None:
    """A note that names a missing successor is superseded all the same; an empty property says nothing."""
    old = add(index, "Old.md", "---\nsuperseded_by: Somewhere else\n---\n")
    add(index, "Kept.md", "---\nsuperseded_by:\n---\n")
    assert Succession(index).successors() == {old: frozenset()}


def test_a_change_is_seen(index: NoteIndex) -> None:
    """What is remembered holds until the index changes."""
    succession = Succession(index)
    assert succession.successors() == {}
    old = add(index, "Old.md", "---\nsuperseded_by: x\n---\n")
    assert old in succession.successors()
