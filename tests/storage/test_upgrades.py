"""Files that earlier versions have written are brought up to date, and lose nothing that need not be made again."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from tests import data
from tests.data import reading
from tests.support.stores import IDENTITY, add, found, parsed
from vaultrag.domain import DiskEntry, NotePath, Scan, Skipped
from vaultrag.errors import StoreTooNew
from vaultrag.indexing.planner import plan
from vaultrag.storage.folder import NOTES_FILE, VECTORS_FILE, StoreFolder
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.schema import NOTE_STEPS, READING, VECTOR_STEPS
from vaultrag.storage.sqlite import connect, rows, scalar
from vaultrag.storage.vectors.vector_store import Vectors, stored_identity

EARLIER = data.earlier()


def tables(connection: apsw.Connection) -> list[tuple[str, str]]:
    sql = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'note_vectors%' ORDER BY name"
    return [(name, " ".join(text.split())) for name, text in rows(connection, sql)]


def test_there_are_earlier_files() -> None:
    """The walk below is not over nothing."""
    assert len(EARLIER) >= 2


@pytest.mark.parametrize("name", EARLIER)
def test_an_earlier_file_becomes_one_of_today(name: str, tmp_path: Path) -> None:
    """After an upgrade tables and versions are those of a new file; every note, word and vector is still there."""
    data.unpack(name, tmp_path / "old")
    identity = stored_identity(tmp_path / "old" / VECTORS_FILE)
    assert identity is not None
    index, vectors = (
        NoteIndex.open(tmp_path / "old" / NOTES_FILE),
        Vectors.open(tmp_path / "old" / VECTORS_FILE, identity),
    )
    new = NoteIndex.open(tmp_path / "new.db"), Vectors.open(tmp_path / "newer.db", identity)
    for store, fresh, steps in ((index, new[0], NOTE_STEPS), (vectors, new[1], VECTOR_STEPS)):
        assert tables(store._writer) == tables(fresh._writer)
        assert scalar(store._writer, "PRAGMA user_version") == len(steps)
    assert scalar(index._writer, "SELECT value FROM meta WHERE key = 'reading'") == str(READING)
    assert {entry.path for entry in index.entries().values()} == data.NOTES.keys()
    assert found(index, "seal") == ["Pumps/Seal replacement.md"]  # by its title, until it is read again
    assert vectors.hashes() == index.text_hashes()
    for store in (index, vectors, *new):
        store.close()


@pytest.mark.parametrize("name", EARLIER)
def test_a_second_opening_changes_nothing(name: str, tmp_path: Path) -> None:
    """What has been upgraded is opened from then on without a write to its tables."""
    data.unpack(name, tmp_path)
    NoteIndex.open(tmp_path / NOTES_FILE).close()
    before = scalar(connect(tmp_path / NOTES_FILE, readonly=True), "SELECT sum(length(content_hash)) FROM notes")
    assert before == 0
    index = NoteIndex.open(tmp_path / NOTES_FILE)
    entry, note = parsed("Pumps/Bearings.md", "# Bearings\n", index.entries()[NotePath("Pumps/Bearings.md")].note_id)
    index.upsert([index.prepare(entry, note)])
    index.close()
    again = NoteIndex.open(tmp_path / NOTES_FILE)
    assert [entry.path for entry in again.entries().values() if entry.content_hash] == ["Pumps/Bearings.md"]
    again.close()


def test_another_reading_has_notes_read_again(tmp_path: Path) -> None:
    """Notes that were read otherwise differ from the disk though their times do not; so does what was passed by."""
    path = tmp_path / NOTES_FILE
    index = NoteIndex.open(path)
    note_id = add(index, "a.md", "words")
    index.set_skipped({NotePath("b.md"): Skipped(NotePath("b.md"), "binary", 3, 3)})
    size = index.entries()[NotePath("a.md")].size
    scan = Scan({NotePath("a.md"): DiskEntry(NotePath("a.md"), size, 1, 7)})
    assert not plan(scan, index.entries())
    index.close()
    raw = apsw.Connection(str(path))
    raw.execute("UPDATE meta SET value = ? WHERE key = 'reading'", (str(READING - 1),))
    raw.close()

    index = NoteIndex.open(path)
    assert [entry.path for entry in plan(scan, index.entries()).read] == ["a.md"]
    assert index.skipped() == {}
    assert index.entries()[NotePath("a.md")].note_id == note_id
    assert found(index, "words") == ["a.md"]  # what is known serves until then
    index.close()


@pytest.fixture
def folder(tmp_path: Path) -> StoreFolder:
    store = StoreFolder(tmp_path / "vault")
    store.open_notes().close()
    store.open_vectors(IDENTITY)[0].close()
    return store


def test_a_newer_file_is_left_alone(folder: StoreFolder) -> None:
    """Neither file is set aside, emptied or opened by an older vaultrag; it says which file, and both ways out."""
    for file in data.FILES:
        connection = connect(folder.folder / file)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
    before = {path.name: path.read_bytes() for path in folder.folder.glob("*.db")}
    for open_one in (folder.open_notes, folder.recorded, lambda: folder.open_vectors(IDENTITY)):
        known = f"{len(NOTE_STEPS)}|{len(VECTOR_STEPS)}"
        with pytest.raises(
            StoreTooNew, match=rf"by a newer vaultrag \(its version 99, known here: ({known})\)"
        ) as told:
            open_one()
        assert "pip install --upgrade vaultrag, or remove /" in told.value.hint
    assert {path.name: path.read_bytes() for path in folder.folder.glob("*.db")} == before


def test_an_identity_of_tomorrow_is_left_alone(folder: StoreFolder) -> None:
    """Vectors that differ by something this version does not know of are a newer vaultrag's, not a fault."""
    connection = connect(folder.folder / VECTORS_FILE)
    stored = json.loads(scalar(connection, "SELECT value FROM meta WHERE key = 'identity'"))
    connection.execute("UPDATE meta SET value = ? WHERE key = 'identity'", (json.dumps({**stored, "rotation": 3}),))
    connection.close()
    with pytest.raises(StoreTooNew, match="its vectors differ by rotation"):
        folder.recorded()


def test_an_identity_of_yesterday_is_the_same(folder: StoreFolder) -> None:
    """What an older version did not say of its vectors was as the default is: they need not be made again."""
    connection = connect(folder.folder / VECTORS_FILE)
    stored = json.loads(scalar(connection, "SELECT value FROM meta WHERE key = 'identity'"))
    for name in ("windows", "cleaning", "schema"):
        del stored[name]
    connection.execute("UPDATE meta SET value = ? WHERE key = 'identity'", (json.dumps(stored),))
    connection.close()
    assert folder.recorded() == IDENTITY
    vectors, in_use = folder.open_vectors(IDENTITY)
    assert in_use
    vectors.close()


def test_what_notes_become_is_what_they_became() -> None:
    """A change of what is made of a note's bytes raises READING, so that an upgrade reads the notes again."""
    before, now = json.loads(reading.FILE.read_text("utf-8")), reading.now()
    assert now["notes"] == before["notes"], "the sample vault has changed: python -m tests.data.reading"
    if now["made of them"] != before["made of them"]:
        assert before["reading"] < READING, "raise store.schema.READING, then: python -m tests.data.reading"
    assert now == before, "python -m tests.data.reading"
