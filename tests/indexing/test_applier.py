"""Applying: each file is read once, keeps its id wherever it goes, and never stops another."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.readers import MemoryVault
from vaultrag.domain import IndexedEntry, Note, NoteId, NotePath, NoteValues, ReadResult
from vaultrag.errors import StoreFull
from vaultrag.indexing import applier
from vaultrag.indexing.applier import Applied, Applier
from vaultrag.indexing.planner import plan
from vaultrag.markdown import parse_note
from vaultrag.storage.notes.note_index import NoteIndex


class Bench:
    def __init__(self, index: NoteIndex) -> None:
        self.vault = MemoryVault()
        self.index = index
        self.applier = Applier(self.vault, index)
        self.deleting: list[NoteId] = []

    def look(self, *scopes: str) -> Applied:
        asked = tuple(NotePath(scope) for scope in scopes)
        indexed = self.index.entries(asked)
        todo = plan(self.vault.scan(asked), indexed)
        return self.applier.apply(todo, indexed, before_delete=self.deleting.extend)

    def entry(self, path: str) -> IndexedEntry:
        return self.index.entries()[NotePath(path)]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    index = NoteIndex.open(tmp_path / "n.db")
    yield Bench(index)
    index.close()


def test_first_look(bench: Bench) -> None:
    """Every note is read once, and its text is wanted."""
    bench.vault.write("a.md", "one")
    bench.vault.write("b/c.md", "two")
    applied = bench.look()
    assert (applied.read, applied.written, applied.moved) == (2, 2, 0)
    assert applied.wanted == bench.index.text_hashes()
    assert bench.look() == Applied()


def test_the_next_batch_is_read_while_one_is_written(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is written while the one behind it is read, and all of them are in the index at the end."""
    monkeypatch.setattr(applier, "BATCH", 2)
    for number in range(6):
        bench.vault.write(f"{number}.md", f"note {number}")
    read: list[NotePath] = []
    third_read = threading.Event()
    upsert, reading = bench.index.upsert, bench.vault.read

    def slow(notes: list[NoteValues]) -> list[NoteId]:
        if not bench.index.count():
            assert third_read.wait(10), "nothing was read while the first batch was written"
        return upsert(notes)

    def noting(path: NotePath) -> ReadResult:
        read.append(path)
        if len(read) == 3:
            third_read.set()
        return reading(path)

    monkeypatch.setattr(bench.index, "upsert", slow)
    monkeypatch.setattr(bench.vault, "read", noting)
    assert bench.look().written == 6
    assert bench.index.count() == 6


def test_answers_go_first(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between a few notes and the next, and before a batch is written, who waits for an answer is let go first."""
    monkeypatch.setattr(applier, "FEW", 2)
    offered: list[None] = []
    bench.applier = Applier(bench.vault, bench.index, lambda: offered.append(None))
    for number in range(5):
        bench.vault.write(f"{number}.md", "x")
    bench.look()
    assert len(offered) == 3 + 1


def test_touch(bench: Bench) -> None:
    """A file that was only touched is read, and nothing of it is written or wanted but the time."""
    bench.vault.write("a.md", "one")
    bench.look()
    before = bench.entry("a.md")
    bench.vault.write("a.md", "one")
    applied = bench.look()
    assert (applied.read, applied.written, applied.wanted) == (1, 0, {})
    after = bench.entry("a.md")
    assert after.mtime_ns > before.mtime_ns
    assert (after.note_id, after.text_hash) == (before.note_id, before.text_hash)
    assert bench.look().read == 0


def test_edit(bench: Bench) -> None:
    """An edit keeps the id and changes the hash of the text; a new property alone does not."""
    bench.vault.write("a.md", "one")
    bench.look()
    first = bench.entry("a.md")
    bench.vault.write("a.md", "---\nstatus: done\n---\none")
    bench.look()
    assert bench.entry("a.md").text_hash == first.text_hash
    bench.vault.write("a.md", "two")
    bench.look()
    assert bench.entry("a.md").note_id == first.note_id
    assert bench.entry("a.md").text_hash != first.text_hash


@pytest.mark.parametrize("target", ["b.md", "sub/a.md", "A.md", "sub/other.md"])
def test_move(bench: Bench, target: str) -> None:
    """A file that is found elsewhere with the same bytes keeps its id; its text is new only where its title is."""
    bench.vault.write("a.md", "one")
    bench.vault.write("rest.md", "rest")
    bench.look()
    before = bench.entry("a.md")
    bench.vault.move("a.md", target)
    applied = bench.look()
    after = bench.entry(target)
    assert after.note_id == before.note_id
    assert (after.text_hash == before.text_hash) == (Path(target).stem == "a")
    assert (applied.moved, applied.deleted, bench.deleting) == (1, [], [])
    assert set(bench.index.entries()) == {target, "rest.md"}


def test_move_of_a_folder(bench: Bench) -> None:
    """A folder that moves takes all of its notes along, also those that are alike."""
    for name in "abc":
        bench.vault.write(f"old/{name}.md", "same")
        bench.vault.write(f"old/sub/{name}.md", "same")
    bench.look()
    before = {path: entry.note_id for path, entry in bench.index.entries().items()}
    bench.vault.move("old", "new")
    bench.look("old", "new")
    after = {path: entry.note_id for path, entry in bench.index.entries().items()}
    assert after == {path.replace("old", "new", 1): note_id for path, note_id in before.items()}


def test_copy_then_delete(bench: Bench) -> None:
    """A move whose arrival is seen before its departure costs no text: both have the same hash."""
    bench.vault.write("a.md", "one")
    bench.look()
    bench.vault.write("sub/a.md", "one")
    bench.look()
    assert bench.entry("sub/a.md").text_hash == bench.entry("a.md").text_hash
    assert bench.entry("sub/a.md").note_id != bench.entry("a.md").note_id
    bench.vault.remove("a.md")
    assert len(bench.look().deleted) == 1


def test_parted_move(bench: Bench) -> None:
    """A move whose departure is seen first is named by the text that is embedded, as any other."""
    bench.vault.write("old.md", "one")
    bench.look()
    before = bench.entry("old.md")
    bench.vault.remove("old.md")
    bench.look()
    bench.vault.write("sub/old.md", "one")
    bench.look()
    assert bench.entry("sub/old.md").text_hash == before.text_hash
    bench.vault.write("new.md", "one")
    bench.look()
    assert bench.entry("new.md").text_hash != before.text_hash


def test_swapped_names(bench: Bench) -> None:
    """Two notes that swap their names are two edits, and nothing is lost."""
    bench.vault.write("a.md", "one")
    bench.vault.write("b.md", "two")
    bench.look()
    for source, target in (("a.md", "t.md"), ("b.md", "a.md"), ("t.md", "b.md")):
        bench.vault.move(source, target)
    applied = bench.look()
    assert applied.written == 2
    assert set(bench.index.entries()) == {"a.md", "b.md"}
    assert bench.look() == Applied()


def test_chain(bench: Bench) -> None:
    """A name that one note leaves and another takes belongs to the other."""
    bench.vault.write("a.md", "one")
    bench.vault.write("b.md", "two")
    bench.look()
    bench.vault.move("b.md", "c.md")
    bench.vault.move("a.md", "b.md")
    bench.look()
    assert {path: e.content_hash for path, e in bench.index.entries().items()} == {
        "b.md": applier.content_hash(b"one"), "c.md": applier.content_hash(b"two"),
    }  # fmt: skip


def test_vectors_go_first(bench: Bench) -> None:
    """Who keeps the vectors hears of a deletion before the note is gone from the index."""
    bench.vault.write("a.md", "one")
    bench.vault.write("b.md", "two")
    bench.look()
    gone = bench.entry("a.md").note_id
    seen: list[bool] = []
    bench.vault.remove("a.md")
    indexed = bench.index.entries()
    todo = plan(bench.vault.scan(), indexed)
    bench.applier.apply(todo, indexed, before_delete=lambda ids: seen.append(gone in bench.index.text_hashes()))
    assert seen == [True]
    assert set(bench.index.entries()) == {"b.md"}


def test_no_longer_a_note(bench: Bench) -> None:
    """A note that becomes binary is taken out of the index and listed as skipped."""
    bench.vault.write("a.md", "one")
    bench.look()
    bench.vault.write("a.md", b"\0" * 500)
    applied = bench.look()
    assert set(applied.skipped) == {"a.md"}
    assert len(applied.deleted) == 1
    assert bench.index.count() == 0


def test_unreadable(bench: Bench) -> None:
    """A note that cannot be read now stays as it is known."""
    bench.vault.write("a.md", "one")
    bench.look()
    bench.vault.write("a.md", "two")
    scan, indexed = bench.vault.scan(), bench.index.entries()
    bench.vault.fail("a.md")
    applied = bench.applier.apply(plan(scan, indexed), indexed)
    assert applied.unreadable == {"a.md": "permission denied"}
    assert bench.index.entries() == indexed
    bench.vault.heal("a.md")
    assert bench.look().written == 1


def test_gone_meanwhile(bench: Bench) -> None:
    """A file that goes between the look and the reading is nobody's fault."""
    bench.vault.write("a.md", "one")
    scan = bench.vault.scan()
    bench.vault.remove("a.md")
    assert bench.applier.apply(plan(scan, {}), {}) == Applied(read=1)


def test_stop(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked to stop, it ends between two batches, deletes nothing, and the next look does the rest."""
    monkeypatch.setattr(applier, "BATCH", 2)
    bench.vault.write("gone.md", "x")
    bench.look()
    bench.vault.remove("gone.md")
    for n in range(6):
        bench.vault.write(f"{n}.md", str(n))
    indexed = bench.index.entries()
    done: list[int] = []
    bench.applier.apply(plan(bench.vault.scan(), indexed), indexed, progress=done.append, stop=lambda: len(done) == 2)
    assert done == [2, 4]
    assert bench.index.count() == 5
    bench.look()
    assert bench.index.count() == 6


def test_batches_are_bounded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large notes are not held in memory together."""
    monkeypatch.setattr(applier, "BATCH_BYTES", 100)
    for n in range(5):
        bench.vault.write(f"{n}.md", "x" * 60)
    sizes: list[int] = []
    upsert = bench.index.upsert

    def counted(notes: Iterable[NoteValues]) -> list[NoteId]:
        notes = list(notes)
        sizes.append(len(notes))
        return upsert(notes)

    monkeypatch.setattr(bench.index, "upsert", counted)
    bench.look()
    assert sizes == [1] * 5


def test_batches_grow(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first notes are written soon, many of them together, and the last ones soon after they were read."""
    monkeypatch.setattr(applier, "BATCH", 2)
    monkeypatch.setattr(applier, "LARGEST_BATCH", 8)
    for n in range(40):
        bench.vault.write(f"{n}.md", str(n))
    done: list[int] = []
    indexed = bench.index.entries()
    bench.applier.apply(plan(bench.vault.scan(), indexed), indexed, progress=done.append)
    assert [after - before for before, after in pairwise([0, *done])] == [2, 2, 4, 8, 8, 8, 4, 2, 2]
    assert bench.index.count() == 40


class Picky:
    """An index that one note breaks."""

    def __init__(self, index: NoteIndex, fault: Exception) -> None:
        self._index = index
        self._fault = fault

    def upsert(self, notes: Iterable[NoteValues]) -> Sequence[NoteId]:
        notes = list(notes)
        if any("strange" in values.entry.path for values in notes):
            raise self._fault
        return self._index.upsert(notes)

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)


def test_one_strange_note(bench: Bench) -> None:
    """A note that breaks the index in a way nobody foresaw is passed by and listed; all others are written."""
    for n in range(20):
        bench.vault.write(f"{n}.md", str(n))
    bench.vault.write("7-strange.md", "x")
    bench.applier = Applier(bench.vault, Picky(bench.index, UnicodeError("odd")))  # type: ignore[arg-type]
    applied = bench.look()
    assert applied.written == 20
    assert set(applied.skipped) == applied.faulty == {"7-strange.md"}
    assert len(applied.wanted) == 20


def test_parser_fault(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that cannot be parsed is passed by, and what was known of it is kept."""
    bench.vault.write("a.md", "one")
    bench.vault.write("b.md", "two")
    bench.look()

    def parse(path: NotePath, data: bytes) -> Note:
        if data == b"strange":
            raise RecursionError
        return parse_note(path, data)

    monkeypatch.setattr(applier, "parse_note", parse)
    bench.vault.write("a.md", "strange")
    bench.vault.write("b.md", "three")
    applied = bench.look()
    assert applied.faulty == {"a.md"}
    assert bench.index.count() == 2
    assert bench.entry("b.md").content_hash == applier.content_hash(b"three")


def test_full_disk(bench: Bench) -> None:
    """A disk that is full is no note's fault: the error goes up."""
    bench.vault.write("strange.md", "x")
    bench.applier = Applier(bench.vault, Picky(bench.index, StoreFull("full")))  # type: ignore[arg-type]
    with pytest.raises(StoreFull):
        bench.look()


ODD = [
    '---\na: "\\ud83d"\n---\nx',
    "---\n1: 2\n---\n",
    "a\0b",
    "\ufeff---\nt: x\n---\n",
    "---\ntags: [[[a]]]\n---\n",
    "\r\r\n",
    "[[" * 900,
]


@pytest.mark.parametrize("text", ODD)
def test_strange_texts(bench: Bench, text: str) -> None:
    """Whatever stands in a note, it is indexed or passed by alone."""
    bench.vault.write("odd.md", text)
    bench.vault.write("good.md", "words")
    applied = bench.look()
    assert "good.md" in bench.index.entries()
    assert not applied.faulty
