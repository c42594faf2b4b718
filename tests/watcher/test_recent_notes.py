"""Notes that are kept in memory are never older than their files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.watcher.faults import FaultyDisk
from vaultrag.config import NoteSettings
from vaultrag.domain import Content, Gone, NotePath, Skipped
from vaultrag.watcher import DiskReader
from vaultrag.watcher.recent_notes import NOTE_BYTES, NOTES, SETTLED_NS, RecentNotes

A = NotePath("a.md")
LONG_AGO = 1_600_000_000


class CountingDisk(FaultyDisk):
    count = 0

    def open(self, path: str) -> int:
        self.count += 1
        return super().open(path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    return root


@pytest.fixture
def disk() -> CountingDisk:
    return CountingDisk()


@pytest.fixture
def notes(root: Path, disk: CountingDisk, monkeypatch: pytest.MonkeyPatch) -> RecentNotes:
    reader = DiskReader(root, NoteSettings(), disk)
    # A file's change of state cannot be set back by a program, so the clock is set forward.
    monkeypatch.setattr("vaultrag.watcher.recent_notes.time.time_ns", lambda: 4 * LONG_AGO * 10**9)
    return RecentNotes(reader)


def write(root: Path, name: str, text: str, when: int = LONG_AGO) -> None:
    (root / name).write_text(text)
    os.utime(root / name, (when, when))


def text(notes: RecentNotes, path: NotePath = A) -> str:
    result = notes.read(path)
    assert isinstance(result, Content)
    return result.data.decode()


def test_a_note_is_read_once_as_long_as_its_file_stays(root: Path, notes: RecentNotes, disk: CountingDisk) -> None:
    write(root, "a.md", "alpha")
    before = disk.count
    assert [text(notes), text(notes), text(notes)] == ["alpha"] * 3
    assert disk.count == before + 1


def test_an_edit_that_keeps_size_and_time_is_seen(root: Path, notes: RecentNotes) -> None:
    write(root, "a.md", "alpha")
    assert text(notes) == "alpha"
    write(root, "a.md", "omega")
    assert text(notes) == "omega"


def test_what_is_gone_hidden_or_led_elsewhere_is_not_kept(root: Path, notes: RecentNotes, tmp_path: Path) -> None:
    write(root, "a.md", "alpha")
    text(notes)
    (root / "a.md").rename(tmp_path / "outside.md")
    assert isinstance(notes.read(A), Gone)
    (root / "a.md").symlink_to(tmp_path / "outside.md")
    assert isinstance(notes.read(A), Skipped)


def test_a_file_that_may_still_change_within_its_clock_is_not_kept(
    root: Path, disk: CountingDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, "a.md", "alpha")
    changed = (root / "a.md").stat().st_ctime_ns
    monkeypatch.setattr("vaultrag.watcher.recent_notes.time.time_ns", lambda: changed + SETTLED_NS)
    notes, before = RecentNotes(DiskReader(root, NoteSettings(), disk)), disk.count
    assert [text(notes), text(notes)] == ["alpha"] * 2
    assert disk.count == before + 2


def test_no_more_is_kept_than_there_is_room_for(root: Path, notes: RecentNotes, disk: CountingDisk) -> None:
    write(root, "long.md", "x" * (NOTE_BYTES + 1))
    for number in range(NOTES + 1):
        write(root, f"{number}.md", "alpha")
        text(notes, NotePath(f"{number}.md"))
    before = disk.count
    for name, opened in ((f"{NOTES}.md", 0), ("0.md", 1), ("long.md", 2), ("long.md", 3)):
        text(notes, NotePath(name))
        assert disk.count == before + opened, name
