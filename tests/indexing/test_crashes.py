"""A crash at any moment: the two files may differ by a batch, and the next start makes it good without the model.

Each test copies the store folder between two transactions, as a killed process would leave it, and starts on the copy.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.indexing.conftest import Build, House
from vaultrag.indexing import applier, embed_queue
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.vectors.vector_store import Vectors

BEFORE = 12


@pytest.fixture
def house(build: Build) -> House:
    first = build()
    for n in range(BEFORE):
        first.vault.write(f"{n}.md", f"note number {n}")
    return first.start().settle()


def _copies(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """From now on, copy the store folder before and after every transaction of either file."""
    copies: list[Path] = []

    def copy() -> None:
        target = tmp_path / f"cut{len(copies)}"
        shutil.copytree(house.shelf.folder, target)
        copies.append(target)

    for owner, names in ((NoteIndex, ("upsert", "move", "delete")), (Vectors, ("put", "reuse", "delete"))):
        for name in names:
            real = getattr(owner, name)

            def wrapped(self: object, *args: object, _real: object = real) -> object:
                copy()
                result = _real(self, *args)  # type: ignore[operator]
                copy()
                return result

            monkeypatch.setattr(owner, name, wrapped)
    return copies


def _start_on_each(house: House, copies: list[Path], build: Build, new_texts: int) -> None:
    """Start on every copy: all is made good, and at most the texts that are really new meet the model."""
    assert len(copies) >= 4
    costs = []
    for cut in copies:
        again = build(cut.name, reader=house.vault).start().settle()
        assert again.paths == set(house.vault.scan().entries)
        assert again.consistent(), cut
        assert again.shelf.events == []
        costs.append(len(again.hash.notes))
        again.close()
    assert max(costs) <= new_texts
    assert costs[-1] == 0


def test_new_and_edited(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: Build) -> None:
    """Killed anywhere while new and edited notes come in: only texts without a stored vector are embedded."""
    monkeypatch.setattr(applier, "BATCH", 2)
    monkeypatch.setattr(embed_queue, "BATCH_NOTES", 2)
    house.vault.write("new1.md", "brand new one")
    house.vault.write("new2.md", "brand new two")
    house.vault.write("3.md", "edited")
    with monkeypatch.context() as patch:
        copies = _copies(house, tmp_path, patch)
        house.look()
    _start_on_each(house, copies, build, 3)


def test_deleted(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: Build) -> None:
    """Killed anywhere while notes are deleted: no ghost and no model call."""
    for n in (1, 2, 3):
        house.vault.remove(f"{n}.md")
    with monkeypatch.context() as patch:
        copies = _copies(house, tmp_path, patch)
        house.look("1.md", "2.md", "3.md")
    _start_on_each(house, copies, build, 0)


def test_deleted_and_back(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: Build) -> None:
    """Notes whose vectors were dropped before a crash, and which are there after all, get them back unembedded."""
    house.vault.remove("1.md")
    with monkeypatch.context() as patch:
        copies = _copies(house, tmp_path, patch)
        house.look("1.md")
    house.vault.write("1.md", "note number 1")
    for cut in copies:
        again = build(cut.name, reader=house.vault).start().settle()
        assert again.consistent()
        assert "1.md" in again.paths
        assert again.hash.notes == []
        again.close()


def test_moved(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: Build) -> None:
    """Killed anywhere while notes move: ids and vectors go along, with no model call."""
    ids = house.ids()
    monkeypatch.setattr(applier, "BATCH", 2)
    for n in range(5):
        house.vault.move(f"{n}.md", f"sub/{n}.md")
    with monkeypatch.context() as patch:
        copies = _copies(house, tmp_path, patch)
        house.look()
    assert house.ids()["sub/3.md"] == ids["3.md"]
    _start_on_each(house, copies, build, 0)


def test_first_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: Build) -> None:
    """Killed anywhere in the first run: what has a vector keeps it."""
    house = build("first")
    monkeypatch.setattr(applier, "BATCH", 4)
    monkeypatch.setattr(embed_queue, "BATCH_NOTES", 4)
    for n in range(8):
        house.vault.write(f"{n}.md", f"note number {n}")
    with monkeypatch.context() as patch:
        copies = _copies(house, tmp_path, patch)
        house.start().settle()
    _start_on_each(house, copies, build, 8)


def test_change_over(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: Build) -> None:
    """Killed anywhere while another model's vectors are made: these are taken up, and the old ones not lost."""
    monkeypatch.setattr(embed_queue, "BATCH_NOTES", 4)
    house.hash.digest = "ffff00000000"
    with monkeypatch.context() as patch:
        copies = _copies(house, tmp_path, patch)
        house.look()
        house.until(lambda: house.meaning.view.state == "ready" and not house.meaning.pending)
        house.settle()
    costs = []
    for cut in copies:
        again = build(cut.name, reader=house.vault)
        again.hash.digest = "ffff00000000"
        again.start().settle()
        again.until(again.consistent)
        costs.append(len(again.hash.notes))
        again.close()
        back = build(cut.name, reader=house.vault).start().settle()
        back.until(back.consistent)
        assert back.hash.notes == []
        back.close()
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] <= 4


@pytest.mark.parametrize("lost", ["hybrid-fts.db", "obsidian_notes.db"])
def test_a_file_is_lost(house: House, build: Build, lost: str) -> None:
    """A file that is removed is built again; where only the words are lost, no text meets the model twice."""
    house.close()
    (house.shelf.folder / lost).unlink()
    again = build(reader=house.vault).start().settle()
    assert again.consistent()
    assert len(again.paths) == BEFORE
    assert len(again.hash.notes) == (0 if lost == "hybrid-fts.db" else BEFORE)


@pytest.mark.parametrize("older", ["hybrid-fts.db", "obsidian_notes.db"])
def test_a_file_from_a_backup(house: House, build: Build, tmp_path: Path, older: str) -> None:
    """One file older than the other, as a restored backup leaves them, is brought up to date."""
    house.close()
    shutil.copy(house.shelf.folder / older, tmp_path / "backup")
    newer = build(reader=house.vault)
    newer.vault = house.vault
    house.vault.write("1.md", "edited")
    house.vault.write("new.md", "new")
    house.vault.remove("2.md")
    newer.start().settle()
    newer.close()
    shutil.copy(tmp_path / "backup", newer.shelf.folder / older)
    again = build(reader=house.vault).start().settle()
    assert again.consistent()
    assert again.paths == set(house.vault.scan().entries)
    assert len(again.hash.notes) == (0 if older == "hybrid-fts.db" else 2)
