"""The folder of files: private, checked when there is reason to, and mended without losing a note."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from tests.support.stores import IDENTITY, add, embedded, found, unit_rows
from vaultrag.domain import Identity, NoteId
from vaultrag.errors import StoreCorrupt, StoreFull
from vaultrag.storage import sqlite
from vaultrag.storage.folder import NOTES_FILE, VECTORS_FILE, StoreFolder
from vaultrag.storage.sqlite import connect, translating
from vaultrag.storage.vectors.vector_store import Vectors, stored_identity

OTHER = replace(IDENTITY, digest="4567")
THIRD = replace(IDENTITY, digest="89ab")


def _make_notes(folder: Path, count: int = 400) -> Path:
    index = StoreFolder(folder).open_notes()
    for n in range(count):
        add(index, f"{n}.md", f"words number {n} " * 20)
    index.close()
    return folder / NOTES_FILE


def _make_vectors(folder: Path, identity: Identity = IDENTITY, count: int = 3) -> None:
    vectors, _ = StoreFolder(folder).open_vectors(identity)
    made = unit_rows(count, int(identity.digest[:2], 16))
    vectors.put((NoteId(n + 1), f"h{n + 1}", embedded(made[n])) for n in range(count))
    vectors.close()


def _spoil(path: Path, *, from_page: int = 3) -> None:
    """Overwrite all but the first pages, as a failing disk might."""
    data = bytearray(path.read_bytes())
    data[4096 * (from_page - 1) :] = b"\xa5" * (len(data) - 4096 * (from_page - 1))
    path.write_bytes(data)


def _unclean(path: Path) -> Path:
    """As if the daemon had been killed."""
    writer = connect(path)
    writer.execute("DELETE FROM meta WHERE key = 'clean'")
    writer.close()
    return path


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that look through a whole file."""
    seen: list[str] = []
    scalar = sqlite.scalar

    def spy(opened: object, sql: str, bindings: object = ()) -> object:
        if "quick_check" in sql:
            seen.append(sql)
        return scalar(opened, sql, bindings)  # type: ignore[arg-type]

    monkeypatch.setattr(sqlite, "scalar", spy)
    return seen


def test_private(tmp_path: Path) -> None:
    """The folder and every file in it are their owner's alone."""
    shelf = StoreFolder(tmp_path / "deep" / "vault")
    index = shelf.open_notes()
    vectors, _ = shelf.open_vectors(IDENTITY)
    add(index, "a.md", "x")
    vectors.put([(NoteId(1), "h", embedded(unit_rows(1)[0]))])
    assert stat.S_IMODE(shelf.folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in shelf.folder.iterdir()}
    assert len(modes) >= 4
    assert set(modes.values()) == {0o600}
    index.close()
    vectors.close()


def test_no_check_after_a_clean_end(tmp_path: Path, checks: list[str]) -> None:
    """Files that were closed in good order are opened without a look through all of them."""
    _make_notes(tmp_path, 3)
    _make_vectors(tmp_path)
    checks.clear()
    shelf = StoreFolder(tmp_path)
    index = shelf.open_notes()
    assert shelf.recorded() == IDENTITY
    vectors, in_use = shelf.open_vectors(IDENTITY)
    assert in_use
    assert checks == []
    index.close()
    vectors.close()


def test_one_check_after_a_crash(tmp_path: Path, checks: list[str]) -> None:
    """After a crash each file is looked through, once."""
    _unclean(_make_notes(tmp_path, 3))
    _make_vectors(tmp_path)
    _unclean(tmp_path / VECTORS_FILE)
    checks.clear()
    shelf = StoreFolder(tmp_path)
    index = shelf.open_notes()
    shelf.recorded()
    vectors, _ = shelf.open_vectors(IDENTITY)
    assert len(checks) == 2
    assert index.count() == 3
    index.close()
    vectors.close()


def test_open_files_are_not_clean(tmp_path: Path, checks: list[str]) -> None:
    """A copy of files in use, as a crash leaves them, is looked through."""
    index = StoreFolder(tmp_path / "a").open_notes()
    add(index, "a.md", "x")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    index.close()
    checks.clear()
    after = StoreFolder(tmp_path / "b").open_notes()
    assert len(checks) == 1
    assert after.count() == 1
    after.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"this is no database at all, only text " * 400),
        lambda path: _spoil(_unclean(path)),
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: path.write_bytes(path.read_bytes()[:100]),
    ],
    ids=["garbage", "bad pages", "half a file", "a header only"],
)
def test_damaged_notes(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    """A damaged file is set aside under a dated name and begun anew, and that is told."""
    path = _make_notes(tmp_path)
    damage(path)
    shelf = StoreFolder(tmp_path)
    index = shelf.open_notes()
    assert index.count() == 0
    add(index, "again.md", "words")
    assert found(index, "words") == ["again.md"]
    index.close()
    assert len(list(tmp_path.glob("hybrid-fts.db.damaged-*"))) == 1
    assert "notes themselves are safe" in shelf.events[0]


def test_damaged_vectors(tmp_path: Path) -> None:
    """Damaged vectors are set aside and begun anew."""
    _make_vectors(tmp_path)
    (tmp_path / VECTORS_FILE).write_bytes(b"\0garbage" * 2_000)
    shelf = StoreFolder(tmp_path)
    assert shelf.recorded() is None
    vectors, in_use = shelf.open_vectors(IDENTITY)
    assert in_use
    assert vectors.hashes() == {}
    vectors.close()
    assert len(shelf.events) == 1


def test_damage_found_at_work(tmp_path: Path, checks: list[str]) -> None:
    """A file that proves damaged in use is told of once, and set aside when next opened, whatever a check says."""
    path = _make_notes(tmp_path, 3)
    shelf = StoreFolder(tmp_path)
    index = shelf.open_notes()
    told: list[str] = []
    shelf.listen(lambda: told.append("damaged"))
    for _ in range(2):
        with pytest.raises(StoreCorrupt) as caught, translating(path):
            raise apsw.CorruptError("database disk image is malformed")
    assert "the notes themselves are safe" in caught.value.hint
    assert told == ["damaged"]
    index.close()
    assert sqlite.scalar(connect(path), "SELECT count(*) FROM meta WHERE key = 'clean'") == 0
    again = StoreFolder(tmp_path)
    index = again.open_notes()
    assert index.count() == 0
    assert len(again.events) == 1
    assert "set aside" in again.events[0]
    index.close()


def test_damage_that_a_new_reader_meets(tmp_path: Path) -> None:
    """Damage to pages that a connection reads as it opens is told of, though older connections do not see it."""
    path = _make_notes(tmp_path)
    shelf = StoreFolder(tmp_path)
    index = shelf.open_notes()
    told: list[str] = []
    shelf.listen(lambda: told.append("damaged"))
    with path.open("r+b", buffering=0) as file:
        file.write(b"\xa5" * 4096)

    def read() -> None:
        with pytest.raises(StoreCorrupt):
            index.count()

    with ThreadPoolExecutor(1) as reader:
        reader.submit(read).result()
    assert told == ["damaged"]
    index.close()
    again = StoreFolder(tmp_path)
    again.open_notes().close()
    assert len(again.events) == 1


@pytest.mark.parametrize("name", [NOTES_FILE, VECTORS_FILE])
def test_a_file_that_is_taken_away_is_missed(tmp_path: Path, name: str) -> None:
    """A file that was removed or replaced while it is open is not written to any more, and is begun anew."""
    shelf = StoreFolder(tmp_path)
    index = shelf.open_notes()
    vectors, _ = shelf.open_vectors(IDENTITY)
    told: list[str] = []
    shelf.listen(lambda: told.append(name))
    (tmp_path / name).unlink()
    write: dict[str, Callable[[], object]] = {
        NOTES_FILE: lambda: add(index, "a.md", "x"),
        VECTORS_FILE: lambda: vectors.put([(NoteId(1), "h", embedded(unit_rows(1)[0]))]),
    }
    with pytest.raises(StoreCorrupt, match="removed or replaced"):
        write[name]()
    assert told == [name]
    index.close()
    vectors.close()
    again = StoreFolder(tmp_path)
    index = again.open_notes()
    vectors, _ = again.open_vectors(IDENTITY)
    (event,) = again.events
    assert "built again" in event
    index.close()
    vectors.close()


def test_empty_file(tmp_path: Path) -> None:
    """An empty file, as a full disk may leave it, is filled."""
    (tmp_path / NOTES_FILE).touch()
    (tmp_path / VECTORS_FILE).touch()
    shelf = StoreFolder(tmp_path)
    shelf.open_notes().close()
    assert shelf.recorded() is None
    shelf.open_vectors(IDENTITY)[0].close()
    assert shelf.events == []


def test_unwritable_place(tmp_path: Path) -> None:
    """A place where a file cannot be made is told as such, and nothing is set aside."""
    (tmp_path / NOTES_FILE).mkdir()
    (tmp_path / NOTES_FILE / "x").touch()
    with pytest.raises(StoreFull):
        StoreFolder(tmp_path).open_notes()


def test_build_beside(tmp_path: Path) -> None:
    """Vectors of another identity are built beside those in use, and take their place at once when finished."""
    _make_vectors(tmp_path)
    shelf = StoreFolder(tmp_path)
    building, in_use = shelf.open_vectors(OTHER)
    assert not in_use
    assert shelf.recorded() == IDENTITY
    building.put([(NoteId(1), "new", embedded(unit_rows(1)[0]))])
    swapped = shelf.swap_in(building)
    assert shelf.recorded() == OTHER == swapped.identity
    assert swapped.hashes() == {1: "new"}
    assert stored_identity(tmp_path / f"obsidian_notes.{IDENTITY.key}.db") == IDENTITY
    swapped.close()


def test_and_back(tmp_path: Path) -> None:
    """Going back to the identity before finds its vectors."""
    test_build_beside(tmp_path)
    shelf = StoreFolder(tmp_path)
    kept, in_use = shelf.open_vectors(IDENTITY)
    assert not in_use
    assert kept.hashes() == {1: "h1", 2: "h2", 3: "h3"}
    swapped = shelf.swap_in(kept)
    assert swapped.hashes().keys() == {1, 2, 3}
    assert shelf.recorded() == IDENTITY
    swapped.close()


def test_only_one_is_kept(tmp_path: Path) -> None:
    """Beside the vectors in use only those before them are kept."""
    _make_vectors(tmp_path)
    shelf = StoreFolder(tmp_path)
    for identity in (OTHER, THIRD):
        shelf.swap_in(shelf.open_vectors(identity)[0]).close()
    assert {path.name for path in tmp_path.glob("obsidian_notes.*db")} == {
        VECTORS_FILE, f"obsidian_notes.{OTHER.key}.db",
    }  # fmt: skip


def test_crash_between_the_renames(tmp_path: Path) -> None:
    """A crash in the middle of a swap costs neither file: the finished one takes its place at the next start."""
    _make_vectors(tmp_path)
    building, _ = StoreFolder(tmp_path).open_vectors(OTHER)
    building.put([(NoteId(1), "new", embedded(unit_rows(1)[0]))])
    building.close()
    (tmp_path / VECTORS_FILE).rename(tmp_path / f"obsidian_notes.{IDENTITY.key}.db")  # and here the light goes out
    shelf = StoreFolder(tmp_path)
    assert shelf.recorded() == OTHER
    vectors, in_use = shelf.open_vectors(OTHER)
    assert in_use
    assert vectors.hashes() == {1: "new"}
    vectors.close()
    kept, in_use = shelf.open_vectors(IDENTITY)
    assert not in_use
    assert kept.hashes().keys() == {1, 2, 3}
    kept.close()


def test_crash_with_the_log(tmp_path: Path) -> None:
    """What stands in the write-ahead log only goes with its file when that is renamed."""
    _make_vectors(tmp_path / "a")
    shelf = StoreFolder(tmp_path / "a")
    building, _ = shelf.open_vectors(OTHER)
    building.put([(NoteId(1), "new", embedded(unit_rows(1)[0]))])
    shutil.copytree(tmp_path / "a", tmp_path / "b")  # killed, with the rows in the log
    building.close()
    (tmp_path / "b" / VECTORS_FILE).rename(tmp_path / "b" / f"obsidian_notes.{IDENTITY.key}.db")
    vectors, in_use = StoreFolder(tmp_path / "b").open_vectors(OTHER)
    assert in_use
    assert vectors.hashes() == {1: "new"}
    vectors.close()


def test_half_built_is_taken_up(tmp_path: Path) -> None:
    """Vectors that were being built when the daemon ended are taken up where they stood."""
    _make_vectors(tmp_path)
    first, _ = StoreFolder(tmp_path).open_vectors(OTHER)
    first.put([(NoteId(1), "new", embedded(unit_rows(1)[0]))])
    first.close()
    again, in_use = StoreFolder(tmp_path).open_vectors(OTHER)
    assert not in_use
    assert again.hashes() == {1: "new"}
    again.close()


def test_swap_over_damage(tmp_path: Path) -> None:
    """Finished vectors take the place of damaged ones, which are set aside."""
    _make_vectors(tmp_path)
    shelf = StoreFolder(tmp_path)
    building, _ = shelf.open_vectors(OTHER)
    (tmp_path / VECTORS_FILE).write_bytes(b"garbage " * 1_000)
    shelf._sound.clear()
    swapped = shelf.swap_in(building)
    assert isinstance(swapped, Vectors)
    assert shelf.recorded() == OTHER
    assert len(list(tmp_path.glob("*.damaged-*"))) == 1
    swapped.close()
