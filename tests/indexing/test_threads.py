"""The two threads of a vault, end to end: from a file on the disk to its words and its vector, and to rest."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.indexing.conftest import Build, House
from tests.support.embedders import HashEmbedder
from tests.support.stores import found
from vaultrag.config import NoteSettings
from vaultrag.domain import EmbeddedNote, EmbedProblem, NoteId, NotePath, NoteText, ReadResult
from vaultrag.errors import EmbedderUnavailable, StoreFull
from vaultrag.indexing import applier
from vaultrag.indexing import embed_worker as embedding_module
from vaultrag.indexing import index_worker as module
from vaultrag.indexing.applier import BATCH
from vaultrag.indexing.embed_worker import WORDS_FIRST_S
from vaultrag.storage.notes import note_writer
from vaultrag.watcher.reader import DiskReader


def _fill(house: House, count: int = 40) -> House:
    for n in range(count):
        house.vault.write(f"f{n % 4}/{n}.md", f"note number {n}")
    return house


def test_from_nothing(build: Build) -> None:
    """Every note is found by its words and has a vector, and then both threads rest."""
    house = _fill(build()).start().settle()
    assert len(house.paths) == 40
    assert found(house.index, "number 7") and house.consistent()  # type: ignore[arg-type]  # noqa: PT018
    assert house.worker.progress.phase == "idle"
    assert house.worker.searchable.is_set()
    assert len(house.hash.notes) == 40


def test_words_before_vectors(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as many notes are still to be read, no vector is made, though some could be; then all of them are."""
    house = build().start().settle()
    half_read, go_on, reading = threading.Event(), threading.Event(), house.vault.read

    def read(path: NotePath) -> ReadResult:
        if len(house.vault.reads) >= 3 * BATCH and threading.current_thread().name.startswith("index-"):
            half_read.set()
            go_on.wait(20)
        return reading(path)

    monkeypatch.setattr(house.vault, "read", read)
    _fill(house, 4 * BATCH)
    house.worker.reconcile()
    assert half_read.wait(10)
    house.embedding.want(house.index.text_hashes())
    threading.Event().wait(3 * WORDS_FIRST_S)
    calls = house.hash.calls
    go_on.set()
    house.settle()
    assert calls == 0
    assert house.consistent()


def test_many_new_notes_are_put_in_order(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """What many notes have left behind is put in order before the thread rests."""
    monkeypatch.setattr(note_writer, "LARGE", 4)
    monkeypatch.setattr(applier, "BATCH", 4)
    monkeypatch.setattr(note_writer, "TIDY_PAGES", 1)
    house = build()
    done: list[bool] = []
    merge_segments = house.index.merge_segments

    def noted() -> bool:
        done.append(merge_segments())
        return done[-1]

    monkeypatch.setattr(house.index, "merge_segments", noted)
    _fill(house).start().settle()
    assert done[:1] == [True]
    assert done[-1:] == [False]
    assert house.consistent()
    house.vault.write("one.md", "more")
    house.look("one.md")
    assert done.count(True) == done.index(False)


def test_what_quickens_answers_is_done_last(build: Build) -> None:
    """Step by step until there is no more of it, after the words are in; and a note that was saved goes before it."""
    house = build()
    steps: list[int] = []

    def prepare() -> bool:
        steps.append(house.index.count())
        if len(steps) == 2:
            house.vault.write("urgent.md", "now")
            house.worker.notice([NotePath("urgent.md")])
        return len(steps) < 3

    house.worker._prepare = prepare
    _fill(house).start().settle()
    assert steps == [40, 40, 41]
    house.look("urgent.md")
    assert len(steps) > 3


def test_the_end_of_much_work_is_told_once(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the last of many vectors is made; a note more is not many."""
    monkeypatch.setattr(embedding_module, "MUCH", 30)
    house = build()
    pending: list[int] = []
    house.embedding.much_done = lambda: pending.append(house.meaning.pending)
    _fill(house).start().settle()
    assert pending == [0]
    house.vault.write("one.md", "more")
    house.look("one.md")
    assert pending == [0]


def test_rest(build: Build) -> None:
    """At rest nothing is looked at, read, written or embedded."""
    house = _fill(build()).start().settle()
    before = (dict(house.worker.counters), len(house.vault.scans), len(house.vault.reads), house.hash.calls)
    assert not threading.Event().wait(0.2)
    assert (dict(house.worker.counters), len(house.vault.scans), len(house.vault.reads), house.hash.calls) == before


def test_regular_comparison(build: Build) -> None:
    """The regular comparison is one look: it reads no file, embeds nothing and writes nothing."""
    house = _fill(build(reconcile_s=300)).start().settle()
    house.vault.write("bin.md", b"\0" * 100)
    house.look("bin.md")
    reads, calls, generation = len(house.vault.reads), house.hash.calls, house.index.generation  # type: ignore[attr-defined]
    for turn in range(1, 4):
        house.push(301)
        house.until(lambda: house.worker.counters["full_scans"] == 1 + turn)  # noqa: B023
        house.settle()
    assert len(house.vault.reads) == reads
    assert house.hash.calls == calls
    assert house.index.generation == generation  # type: ignore[attr-defined]
    assert set(house.index.skipped()) == {"bin.md"}


def test_unchanged_restart(build: Build) -> None:
    """A restart with nothing changed reads no file and calls no model."""
    first = _fill(build()).start().settle()
    ids = first.ids()
    first.close()
    second = build(reader=first.vault)
    reads = len(first.vault.reads)
    second.start().settle()
    assert len(first.vault.reads) == reads
    assert second.hash.calls == 0
    assert second.ids() == ids
    assert second.consistent()


def test_changes(build: Build) -> None:
    """New, edited, moved and deleted notes are all seen, and only what is new meets the model."""
    house = _fill(build()).start().settle()
    ids, texts = house.ids(), len(house.hash.notes)
    house.vault.write("new.md", "brand new")
    house.vault.write("f0/0.md", "edited")
    house.vault.move("f1", "g1")
    house.vault.remove("f2/2.md")
    house.look("new.md", "f0/0.md", "f1", "g1", "f2/2.md")
    after = house.ids()
    assert len(house.hash.notes) == texts + 2
    assert after["f0/0.md"] == ids["f0/0.md"]
    assert after["g1/1.md"] == ids["f1/1.md"]
    assert "f2/2.md" not in after
    assert house.consistent()
    assert house.worker.counters["notes_moved"] == 10
    assert house.worker.counters["second_looks"] == 0


def test_edited_while_away(build: Build) -> None:
    """What changed while the daemon was off is seen at the next start."""
    first = _fill(build()).start().settle()
    first.close()
    first.vault.write("f0/0.md", "edited")
    first.vault.remove("f1/1.md")
    second = build(reader=first.vault).start().settle()
    assert second.hash.calls == 1
    assert second.consistent()
    assert "f1/1.md" not in second.paths


def test_second_look(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many notes missing at once are forgotten only when a second look misses them too."""
    monkeypatch.setattr(module, "SECOND_LOOK_S", 500.0)  # not before this test lets it pass
    house = _fill(build()).start().settle()
    house.vault.remove("f0")
    house.vault.remove("f1")
    house.look()
    assert len(house.paths) == 40
    assert "are missing" in house.worker.progress.why
    house.push(module.SECOND_LOOK_S + 0.1)
    house.until(lambda: len(house.paths) == 20)
    house.settle()
    assert house.consistent()
    assert house.worker.counters["second_looks"] == 1
    assert house.worker.progress.phase == "idle"


def test_second_look_finds_them(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes that are back at the second look have never been away."""
    monkeypatch.setattr(module, "SECOND_LOOK_S", 500.0)  # not before this test lets it pass
    house = _fill(build()).start().settle()
    ids, calls = house.ids(), house.hash.calls
    house.vault.move("f0", "elsewhere.txt")
    house.vault.move("f1", ".hidden")
    house.look()
    house.vault.move("elsewhere.txt", "f0")
    house.vault.move(".hidden", "f1")
    house.push(module.SECOND_LOOK_S + 0.1)
    house.until(lambda: house.worker.progress.phase == "idle")
    house.settle()
    assert house.ids() == ids
    assert house.hash.calls == calls
    assert house.worker.counters["notes_deleted"] == 0


def test_empty_vault(build: Build) -> None:
    """A vault that is suddenly empty keeps its index, look after look, until a person says it is so."""
    house = _fill(build()).start().settle()
    for n in range(4):
        house.vault.remove(f"f{n}")
    house.look()
    for turn in range(3):
        looks = house.worker.counters["second_looks"]
        house.push(module.EMPTY_LOOK_S + 0.1)
        house.until(lambda: house.worker.counters["second_looks"] > looks, f"look {turn}")  # noqa: B023
        house.settle()
    assert len(house.paths) == 40
    assert house.worker.progress.phase == "away"
    assert "reindex" in house.worker.progress.hint
    house.look(confirmed=True)
    assert house.paths == set()
    assert house.vectors() == {}
    assert house.worker.progress.phase == "idle"


def test_root_away(build: Build) -> None:
    """A vault whose folder is away keeps all that is known, and goes on when it is back."""
    house = _fill(build()).start().settle()
    house.vault.away = True
    house.look()
    assert house.worker.progress.phase == "away"
    assert len(house.paths) == 40
    house.look("f0", "f0/0.md", confirmed=False)
    assert len(house.paths) == 40
    house.vault.away = False
    house.vault.write("new.md", "new")
    house.look()
    assert house.worker.progress.phase == "idle"
    assert "new.md" in house.paths


def test_unreadable(build: Build) -> None:
    """Notes in a folder that cannot be read now are kept, and still found."""
    house = _fill(build()).start().settle()
    house.vault.fail("f0")
    house.vault.fail("f1/1.md")
    house.look()
    house.look("f0", "f1/1.md")
    assert len(house.paths) == 40
    house.vault.heal("f0")
    house.vault.heal("f1/1.md")
    reads = len(house.vault.reads)
    house.look()
    assert len(house.vault.reads) == reads
    assert house.consistent()


def test_unreadable_for_a_moment(build: Build) -> None:
    """What could not be read is looked at once more soon, by itself; not again and again while it stays so."""
    house = _fill(build()).start().settle()
    house.vault.write("f1/1.md", "changed")
    house.vault.fail("f1/1.md", "too many open files")
    house.vault.fail("f2/2.md")
    house.look("f1/1.md")
    house.vault.heal("f1/1.md")
    reads = len(house.vault.reads)
    house.push(module.UNREAD_LOOK_S + 0.1)
    house.until(lambda: len(house.vault.reads) > reads, "it is read")
    house.settle()
    house.push(module.UNREAD_LOOK_S + 0.1)  # the other one failed for the first time
    house.settle()
    scans = house.worker.counters["scans"]
    house.push(10 * module.UNREAD_LOOK_S)
    house.settle()
    assert house.worker.counters["scans"] <= scans + 1
    scans = house.worker.counters["scans"]
    house.push(10 * module.UNREAD_LOOK_S)
    house.settle()
    assert house.worker.counters["scans"] == scans
    assert house.consistent()


def test_away_is_told_and_looked_at_again(build: Build) -> None:
    """A vault that cannot be looked at is told to whoever watches it, and looked at again by itself."""
    house = _fill(build()).start().settle()
    told: list[str] = []
    house.worker._away = lambda: told.append("away")
    house.vault.away = True
    house.look("f0/0.md")
    assert told
    house.vault.away = False
    house.push(module.EMPTY_LOOK_S + 0.1)
    house.until(lambda: house.worker.progress.phase == "idle", "it is back")
    assert len(house.paths) == 40


def test_binary_is_remembered(build: Build) -> None:
    """A file that is no note is read once, stays listed, and is read again when it changes."""
    house = build()
    house.vault.write("bin.md", b"\0" * 100)
    house.vault.write("a.md", "text")
    house.start().settle()
    house.look()
    house.look()
    assert house.vault.reads.count(NotePath("bin.md")) == 1
    assert set(house.index.skipped()) == {"bin.md"}
    house.vault.write("bin.md", "a note after all")
    house.look()
    assert house.index.skipped() == {}
    assert "bin.md" in house.paths


def test_note_becomes_binary(build: Build) -> None:
    """A note that is none any more leaves no ghost."""
    house = _fill(build(), 8).start().settle()
    house.vault.write("f0/0.md", b"\0" * 100)
    house.look("f0/0.md")
    assert "f0/0.md" not in house.paths
    assert house.consistent()
    assert set(house.index.skipped()) == {"f0/0.md"}


def test_full_disk(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is told and survived: when there is room again, all is made good without a restart."""
    house = _fill(build()).start().settle()
    upsert = house.index.upsert
    monkeypatch.setattr(house.index, "upsert", _raiser(StoreFull("no room", hint="make room")))
    house.vault.write("new.md", "new")
    house.look("new.md")
    assert (house.worker.progress.phase, house.worker.progress.hint) == ("broken", "make room")
    monkeypatch.setattr(house.index, "upsert", upsert)
    house.push(module.FAULT_LOOK_S + 1)
    house.until(lambda: "new.md" in house.paths)
    house.settle()
    assert house.worker.progress.phase == "idle"
    assert house.consistent()


def _raiser(fault: Exception) -> object:
    def raises(*args: object, **kwargs: object) -> None:
        raise fault

    return raises


def test_unforeseen_fault(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that nobody foresaw does not end the thread either."""
    house = _fill(build()).start().settle()
    with monkeypatch.context() as patch:
        patch.setattr(house.vault, "scan", _raiser(OSError(errno.EIO, "odd")))
        house.look()
        assert house.worker.progress.phase == "broken"
    house.look()
    assert house.worker.progress.phase == "idle"


def test_vectors_on_a_full_disk(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words go on while vectors cannot be kept, and these follow when they can."""
    house = _fill(build()).start().settle()
    store = house.meaning.view.vectors
    put = store.put  # type: ignore[union-attr]
    monkeypatch.setattr(store, "put", _raiser(StoreFull("no room")))
    house.vault.write("new.md", "zebra")
    house.look("new.md")
    assert found(house.index, "zebra") == ["new.md"]  # type: ignore[arg-type]
    assert house.meaning.pending == 1
    assert house.embedding.hindrance is not None
    assert house.embedding.hindrance.message == "no room"
    monkeypatch.setattr(store, "put", put)
    house.push(120)
    house.until(house.consistent)


def test_embedder_away_then_back(build: Build) -> None:
    """With the embedder away words are found at once; when it is back, vectors follow by themselves."""
    house = _fill(build())
    house.hash.failure = EmbedderUnavailable("down", hint="start it")
    house.start().settle()
    assert len(house.paths) == 40
    assert (house.meaning.view.state, house.meaning.pending) == ("waiting", 40)
    house.vault.write("new.md", "new")
    house.look("new.md")
    assert house.meaning.pending == 41
    house.hash.failure = None
    house.push(120)
    house.until(lambda: house.meaning.view.state == "ready" and not house.meaning.pending)
    assert house.consistent()
    assert len(house.hash.notes) == 41


def test_retry_when_asked(build: Build) -> None:
    """When a person asks, an embedder that was away is asked at once, and what was given up is tried again."""
    house = _fill(build())
    house.hash.poison = "number 7"
    house.start().settle()
    assert len(house.meaning.failed) == 1
    house.hash.poison = None
    house.hash.failure = EmbedderUnavailable("down")
    house.look(confirmed=True)
    house.until(lambda: house.meaning.view.state == "waiting")
    house.hash.failure = None
    house.look(confirmed=True)
    house.until(lambda: not house.meaning.failed and not house.meaning.pending)
    assert house.consistent()


def test_another_model(build: Build) -> None:
    """A model that is replaced under its name is noticed, and all vectors are made anew while words go on."""
    house = _fill(build()).start().settle()
    house.hash.digest = "ffff00000000"
    house.look()

    def changed_over() -> bool:
        store = house.meaning.view.vectors
        return house.meaning.view.state == "ready" and store is not None and store.identity.digest == "ffff00000000"

    house.until(changed_over)
    house.settle()
    assert house.consistent()
    assert len(house.hash.notes) == 80


def test_edited_between_words_and_vector(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that changes between the reading for words and that for its vector gets the vector of its newest text."""
    house = _fill(build(), 4)
    embed, edited = house.hash.embed_notes, threading.Event()

    def meddle(texts: Sequence[NoteText], still_wanted: Callable[[], bool] = bool) -> list[EmbeddedNote | EmbedProblem]:
        if not edited.is_set():
            edited.set()
            house.vault.write("f0/0.md", "edited at once")
        return embed(texts)

    monkeypatch.setattr(house.hash, "embed_notes", meddle)
    house.start().settle()
    house.look("f0/0.md")
    assert house.consistent()
    assert house.hash.notes[-1].text == "edited at once"


class Slow(HashEmbedder):
    """Hangs in its first call for two seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.there = threading.Event()
        self.hang = threading.Event()

    def embed_notes(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        self.there.set()
        self.hang.wait(2)
        return super().embed_notes(texts, still_wanted)


def test_end_while_the_embedder_hangs(build: Build) -> None:
    """The end waits for the call at hand and no longer, and the next start takes up where it stood."""
    slow = Slow()
    house = _fill(build(embedder=slow)).start()
    assert slow.there.wait(20)
    started = time.monotonic()
    house.close()
    assert time.monotonic() - started < 10
    assert not house.worker._thread.is_alive()
    assert not house.embedding._thread.is_alive()
    again = build(reader=house.vault).start().settle()
    assert again.consistent()
    assert len(again.hash.notes) + len(slow.notes) <= 40 + 16


def test_end_gives_up_waiting(build: Build) -> None:
    """An end that may not wait does not wait, and the call that comes back late does no harm."""
    slow = Slow()
    house = _fill(build(embedder=slow)).start()
    assert slow.there.wait(20)
    house.worker.close(5)
    started = time.monotonic()
    house.embedding.close(0.05)
    house.meaning.close()
    assert time.monotonic() - started < 1.5
    slow.hang.set()
    house.embedding._thread.join(20)
    assert not house.embedding._thread.is_alive()


def test_end_at_rest(build: Build) -> None:
    """At rest the end is immediate, and can be asked for twice."""
    house = _fill(build()).start().settle()
    started = time.monotonic()
    house.close()
    assert time.monotonic() - started < 5
    house.worker.close()
    house.embedding.close()


def test_end_before_the_start(build: Build) -> None:
    """A vault that never started can be closed."""
    build().close()


def test_wanted_while_opening(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that is written while the vectors are being opened gets its vector without waiting for a comparison."""
    house = _fill(build(), 4)
    opened, go_on = house.meaning.open, threading.Event()
    there = threading.Event()

    def slow(hashes: object) -> None:
        there.set()
        assert go_on.wait(20)
        opened(hashes)  # type: ignore[arg-type]

    monkeypatch.setattr(house.meaning, "open", slow)
    house.start()
    assert there.wait(20)
    house.vault.write("late.md", "late")
    house.worker.notice([NotePath("late.md")])
    house.until(lambda: "late.md" in house.paths)
    go_on.set()
    house.settle()
    assert house.consistent()


def test_not_counted_while_opening(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told that all notes have vectors while one, written during the opening, is in no count yet."""
    house = _fill(build(), 4)
    opened, compared, go_on = house.meaning.open, house.meaning.repair, threading.Event()
    late = {NoteId(4_711): "late"}
    counted: list[bool] = []

    def open_and_want(hashes: object) -> None:
        opened(hashes)  # type: ignore[arg-type]
        house.embedding.want(late)

    def wait(hashes: object) -> None:
        counted.append(house.embedding.counted)
        assert go_on.wait(20)
        compared(hashes)  # type: ignore[arg-type]

    monkeypatch.setattr(house.meaning, "open", open_and_want)
    monkeypatch.setattr(house.meaning, "repair", wait)
    house.start()
    house.until(lambda: bool(counted))
    go_on.set()
    house.settle()
    assert counted[:1] == [False]
    assert house.embedding.counted
    assert house.consistent()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "sub").mkdir(parents=True)
    for n in range(12):
        (root / ("sub" if n % 2 else ".") / f"{n}.md").write_text(f"# Note {n}\nabout thing{n}", "utf-8")
    return root


def test_on_a_disk(build: Build, root: Path) -> None:
    """On a real disk: all is found, a restart costs nothing, and renames, edits and deletions are followed."""
    house = build(reader=DiskReader(root, NoteSettings())).start().settle()
    assert len(house.paths) == 12
    ids = house.ids()
    house.close()
    house = build(reader=DiskReader(root, NoteSettings())).start().settle()
    assert house.hash.calls == 0
    assert house.worker.counters["files_read"] == 0
    (root / "sub").rename(root / "moved")
    (root / "0.md").rename(root / "zero.md")
    (root / "2.md").write_text("now about zebras", "utf-8")
    (root / "4.md").unlink()
    house.look()
    after = house.ids()
    assert after["moved/1.md"] == ids["sub/1.md"]
    assert after["zero.md"] == ids["0.md"]
    assert "4.md" not in after
    assert found(house.index, "zebras") == ["2.md"]  # type: ignore[arg-type]
    assert sorted(text.title for text in house.hash.notes) == ["2", "zero"]  # the edit, and the new title
    assert house.consistent()


def test_case_only_rename_on_a_disk(build: Build, root: Path) -> None:
    """A rename that changes the case only is one move, with no note twice; a new title meets the model once."""
    house = build(reader=DiskReader(root, NoteSettings())).start().settle()
    ids, notes = house.ids(), len(house.hash.notes)
    (root / "sub" / "1.md").rename(root / "sub" / "1.MD")
    (root / "sub" / "3.md").rename(root / "sub" / "Three.md")
    (root / "sub" / "Three.md").rename(root / "sub" / "three.md")
    house.look("sub/1.md", "sub/1.MD", "sub/3.md", "sub/three.md", "sub/Three.md")
    after = house.ids()
    assert after["sub/three.md"] == ids["sub/3.md"]
    assert len(after) == 12
    assert [text.title for text in house.hash.notes[notes:]] == ["three"]
    assert house.consistent()
