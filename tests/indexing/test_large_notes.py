"""Large notes wait behind small ones, and are true to the disk when their turn comes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import pytest

from tests.indexing.conftest import Build, House
from tests.support.stores import found
from vaultrag.domain import Note, NoteId, NotePath, NoteValues
from vaultrag.indexing import applier, large_notes
from vaultrag.markdown import parse_note
from vaultrag.storage.notes import note_writer

LARGE = 2_000


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_notes, "LARGE_BYTES", LARGE - 1)


class Held:
    """Parsing of large notes that stops until it is let go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.order: list[str] = []
        monkeypatch.setattr(applier, "parse_note", self._parse)

    def _parse(self, path: NotePath, data: bytes) -> Note:
        if len(data) >= LARGE:
            self.order.append(path)
            self.begun.set()
            assert self.go_on.wait(20)
        return parse_note(path, data)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


def text(word: str, chars: int = LARGE) -> str:
    return (f"{word} " + "x " * chars)[:chars]


def has(house: House, word: str) -> Callable[[], bool]:
    return lambda: bool(found(house.index, word))  # type: ignore[arg-type]


def test_small_edits_go_first(build: Build, held: Held) -> None:
    """Whatever small note is saved while a large one is parsed is found before it; until then the worker has work."""
    house = build()
    house.vault.write("a-large.md", text("elephant"))
    house.vault.write("small.md", "mouse")
    house.start()
    assert held.begun.wait(10)
    house.until(has(house, "mouse"))
    house.vault.write("fresh.md", "vole")
    house.worker.notice([NotePath("fresh.md")])
    house.until(has(house, "vole"))
    assert not has(house, "elephant")()
    assert house.worker.large_waiting == 1
    assert not house.worker.settled.is_set()
    assert not house.worker.searchable.is_set()
    held.go_on.set()
    house.settle()
    assert has(house, "elephant")()
    assert house.worker.searchable.is_set()
    assert house.worker.progress.phase == "idle"
    assert house.consistent()


def test_the_smallest_then_the_newest_first(build: Build, held: Held) -> None:
    """Large notes come one after the other: the smallest first, of two alike the one saved last."""
    house = build()
    for path, chars in (("a.md", 3 * LARGE), ("b.md", LARGE), ("c.md", LARGE)):
        house.vault.write(path, text("elephant", chars))
    held.go_on.set()
    house.start().settle()
    assert held.order == ["c.md", "b.md", "a.md"]


def test_deleted_or_edited_meanwhile(build: Build, held: Held) -> None:
    """A note that is deleted while it is parsed does not come back, and of one that is edited the new text is found."""
    house = build()
    house.vault.write("gone.md", text("elephant"))
    house.vault.write("edited.md", text("rhino", LARGE + 1))
    house.start()
    assert held.begun.wait(10)
    house.vault.remove("gone.md")
    house.vault.write("edited.md", text("hippo", LARGE + 1))
    house.worker.notice([NotePath("gone.md"), NotePath("edited.md")])
    held.go_on.set()
    house.settle()
    assert house.paths == {"edited.md"}
    assert has(house, "hippo")()
    assert not has(house, "rhino")()
    assert not has(house, "elephant")()


def test_moved_and_touched(build: Build, held: Held) -> None:
    """A large note that is moved keeps its id and pays for its new title; the same bytes are not written again."""
    house = build()
    held.go_on.set()
    house.vault.write("large.md", text("elephant"))
    house.start().settle()
    ids, calls = house.ids(), house.hash.calls
    house.vault.move("large.md", "moved.md")
    house.look("large.md", "moved.md")
    assert house.ids() == {"moved.md": ids["large.md"]}
    house.settle()
    assert house.hash.calls == calls + 1
    calls, written = house.hash.calls, house.worker.counters["notes_written"]
    house.vault.write("moved.md", text("elephant"))
    house.look("moved.md")
    assert house.ids() == {"moved.md": ids["large.md"]}
    assert house.hash.calls == calls
    assert house.worker.counters["notes_written"] == written


def test_a_note_that_turns_out_to_be_none(build: Build, held: Held) -> None:
    """A large note that is overwritten with binary data leaves the index and is listed as skipped."""
    house = build()
    held.go_on.set()
    house.vault.write("large.md", text("elephant"))
    house.start().settle()
    house.vault.write("large.md", b"\0" * LARGE)
    house.look("large.md")
    assert house.paths == set()
    assert set(house.index.skipped()) == {"large.md"}
    assert house.vectors() == {}


def test_the_segments_of_a_large_note_are_merged_later(
    build: Build, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write of a large note merges nothing; that is done in small steps behind it."""
    monkeypatch.setattr(note_writer, "LARGE_CHARS", LARGE)
    house = build()
    needs_merge: list[bool] = []
    upsert = house.index.upsert

    def noted(notes: Iterable[NoteValues]) -> list[NoteId]:
        ids = upsert(notes)
        needs_merge.append(note_writer.needs_merge(house.index._writer))  # type: ignore[attr-defined]
        return ids

    monkeypatch.setattr(house.index, "upsert", noted)
    held.go_on.set()
    house.vault.write("small.md", "mouse")
    house.vault.write("large.md", text("elephant"))
    house.start().settle()
    assert needs_merge == [False, True]
    house.until(lambda: not note_writer.needs_merge(house.index._writer), "merged")  # type: ignore[attr-defined]
