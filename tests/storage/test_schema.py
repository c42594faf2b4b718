"""Opening the files: created once, whoever opens them, and never touched when they are from the future."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.support.stores import IDENTITY, add
from vaultrag.errors import StoreError, StoreFull, StoreTooNew
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.schema import NOTE_STEPS, VECTOR_STEPS, migrate
from vaultrag.storage.sqlite import Readers, connect, scalar
from vaultrag.storage.vectors.vector_store import Vectors, stored_identity


def test_open_twice(tmp_path: Path) -> None:
    """Opening a file again changes nothing and finds what was written."""
    path = tmp_path / "n.db"
    first = NoteIndex.open(path)
    add(first, "a.md", "words")
    first.close()
    second = NoteIndex.open(path)
    assert second.count() == 1
    second.close()


def test_close_twice(tmp_path: Path) -> None:
    """Closing a closed store does nothing."""
    index = NoteIndex.open(tmp_path / "n.db")
    vectors = Vectors.open(tmp_path / "v.db", IDENTITY)
    for store in (index, vectors, index, vectors):
        store.close()


def test_openers_at_once(tmp_path: Path) -> None:
    """Several openers of a new file at the same moment all get a whole schema."""
    barrier = threading.Barrier(6)
    faults: list[BaseException] = []

    def open_both() -> None:
        barrier.wait(10)
        try:
            NoteIndex.open(tmp_path / "n.db").close()
            Vectors.open(tmp_path / "v.db", IDENTITY).close()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=open_both) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert faults == []
    assert stored_identity(tmp_path / "v.db") == IDENTITY


@pytest.mark.parametrize("steps", [NOTE_STEPS, VECTOR_STEPS])
def test_newer_version(tmp_path: Path, steps: tuple[str, ...]) -> None:
    """A file from a newer vaultrag is refused with the way out, and not changed."""
    path = tmp_path / "x.db"
    connection = connect(path)
    connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreTooNew, match="newer vaultrag") as caught:
        migrate(connection, steps, path)
    assert "pip install" in caught.value.hint
    assert scalar(connection, "PRAGMA user_version") == 99
    assert scalar(connection, "SELECT count(*) FROM sqlite_master") == 0
    connection.close()


def test_step_fails(tmp_path: Path) -> None:
    """A step that fails leaves the file as it was before all of them: an older vaultrag can still open it."""
    path = tmp_path / "x.db"
    connection = connect(path)
    migrate(connection, ("CREATE TABLE a (x)",), path)
    with pytest.raises(StoreError):
        migrate(
            connection, ("CREATE TABLE a (x)", "CREATE TABLE b (x)", "CREATE TABLE c (x); CREATE TABLE a (y)"), path
        )
    assert scalar(connection, "PRAGMA user_version") == 1
    assert scalar(connection, "SELECT count(*) FROM sqlite_master WHERE name IN ('b', 'c')") == 0
    migrate(connection, ("CREATE TABLE a (x)", "CREATE TABLE b (x)", "CREATE TABLE c (x)"), path)
    assert scalar(connection, "PRAGMA user_version") == 3
    assert scalar(connection, "SELECT count(*) FROM sqlite_master") == 3
    connection.close()


def test_no_such_folder(tmp_path: Path) -> None:
    """A place that cannot be written is told as such, with what to do."""
    with pytest.raises(StoreFull) as caught:
        connect(tmp_path / "absent" / "x.db")
    assert "writable" in caught.value.hint


def test_other_identity(vectors: Vectors) -> None:
    """A vector file is never opened under another identity."""
    other = type(IDENTITY)("test", "rows", "9999", IDENTITY.dimension)
    with pytest.raises(ValueError, match="another identity"):
        Vectors.open(vectors.path, other)


def test_readers_end_with_their_threads(tmp_path: Path) -> None:
    """A thread's connection is given back when the thread ends."""
    NoteIndex.open(tmp_path / "n.db").close()
    readers = Readers(tmp_path / "n.db")
    for _ in range(8):
        thread = threading.Thread(target=readers.get)
        thread.start()
        thread.join(10)
    assert len(readers._all) <= 1
    readers.close()


def test_reading_after_close(index: NoteIndex) -> None:
    """A reader that comes after the end gets a typed error."""
    index.close()
    with pytest.raises(StoreError):
        index.count()


def test_unfinished_read(index: NoteIndex) -> None:
    """A reader that raises leaves no transaction behind."""
    with pytest.raises(RuntimeError), index.readers.reading():
        raise RuntimeError
    with index.readers.reading() as connection:
        assert connection.in_transaction
    assert not index.readers.get().in_transaction
