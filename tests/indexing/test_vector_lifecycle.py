"""The vectors of a vault: made once, kept over everything that does not change a text, and changed over as a whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.support.embedders import DIMENSION, HashEmbedder
from tests.support.lifecycles import Lifecycle
from vaultrag.domain import EmbeddedNote, EmbedProblem, NoteId, NoteText
from vaultrag.errors import BadVectors, EmbedderUnavailable, ModelMissing, StoreFull
from vaultrag.indexing import embed_queue as module
from vaultrag.indexing.embed_queue import MAX_TRIES
from vaultrag.indexing.vector_lifecycle import VectorLifecycle
from vaultrag.indexing.vector_state import describe
from vaultrag.storage.folder import StoreFolder
from vaultrag.vector_protocols import VectorStore


class Bench(Lifecycle):
    """Begins with no note, and opens without a step."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, HashEmbedder())

    def write(self, note_id: int, text: str, title: str = "t") -> None:
        self.texts[NoteId(note_id)] = NoteText(title, text)

    def open(self) -> VectorLifecycle:
        self.meaning.open(self.hashes())
        return self.meaning

    def reopen(self) -> VectorLifecycle:
        self.meaning.close()
        self.meaning = self.fresh()
        return self.open()

    def run(self) -> int:
        return self.embed()

    @property
    def vectors(self) -> VectorStore:
        store = self.meaning.view.vectors
        assert store is not None
        return store

    @property
    def state(self) -> str:
        return self.meaning.view.state

    def complete(self) -> bool:
        return dict(self.vectors.hashes()) == self.hashes()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    for n in range(1, 31):
        made.write(n, f"note number {n}")
    yield made
    made.meaning.close()


def test_from_nothing(bench: Bench) -> None:
    """All notes are pending at first, and each text meets the model once."""
    meaning = bench.open()
    assert (meaning.pending, bench.state) == (30, "ready")
    bench.run()
    assert bench.complete()
    assert len(bench.embedder.notes) == 30
    assert bench.recorded == [None]


def test_restart(bench: Bench) -> None:
    """A restart with nothing changed calls no model, and the recorded identity chooses the embedder."""
    bench.open()
    bench.run()
    calls = bench.embedder.calls
    assert bench.reopen().pending == 0
    assert bench.embedder.calls == calls
    assert bench.recorded[-1] == bench.embedder.identity()
    assert bench.complete()


def test_restart_in_the_middle(bench: Bench) -> None:
    """What was made before the end is not made again."""
    meaning = bench.open()
    meaning.step(bench.texts_of)
    done = 30 - meaning.pending
    assert bench.reopen().pending == 30 - done
    bench.run()
    assert len(bench.embedder.notes) == 30


def test_edit_and_back(bench: Bench) -> None:
    """An edit costs one text, and its undoing none."""
    bench.open()
    bench.run()
    before = bench.texts[NoteId(3)]
    bench.write(3, "other words")
    bench.want(3)
    bench.run()
    assert len(bench.embedder.notes) == 31
    bench.texts[NoteId(3)] = before
    bench.want(3)
    assert bench.meaning.pending == 0
    assert bench.complete()


def test_forget(bench: Bench) -> None:
    """A note that is gone has no vector and is not pending."""
    meaning = bench.open()
    meaning.forget([NoteId(1)])
    del bench.texts[NoteId(1)]
    bench.run()
    meaning.forget([NoteId(2)])
    del bench.texts[NoteId(2)]
    assert bench.complete()


def test_repair(bench: Bench) -> None:
    """Vectors without a note are dropped, and notes without a vector made good."""
    meaning = bench.open()
    bench.run()
    del bench.texts[NoteId(1)]
    bench.write(50, "new")
    meaning.repair(bench.hashes)
    assert meaning.pending == 1
    bench.run()
    assert bench.complete()


def test_unknown_text_waits(bench: Bench) -> None:
    """A note whose text cannot be had now is passed over, and found again by the next comparison."""
    meaning = bench.open()
    kept = bench.texts.pop(NoteId(5))
    bench.run()
    bench.texts[NoteId(5)] = kept
    assert not bench.complete()
    meaning.repair(bench.hashes)
    bench.run()
    assert bench.complete()


def test_permanent_problem(bench: Bench) -> None:
    """One text that cannot be embedded is listed with its reason, is not tried again, and holds up nobody."""
    bench.embedder.poison = "number 7"
    meaning = bench.open()
    bench.run()
    assert meaning.failed == {7: "poisoned"}
    assert bench.vectors.hashes().keys() == bench.texts.keys() - {7}
    calls = bench.embedder.calls
    meaning.repair(bench.hashes)
    assert (meaning.pending, meaning.failed) == (0, {7: "poisoned"})
    bench.reopen()
    assert (bench.meaning.pending, bench.meaning.failed) == (0, {7: "poisoned"})
    assert bench.embedder.calls == calls


def test_edit_after_a_problem(bench: Bench) -> None:
    """A text that is changed gets a new chance at once; the same text gets one when a person asks."""
    bench.embedder.poison = "number 7"
    meaning = bench.open()
    bench.run()
    bench.write(7, "better")
    bench.want(7)
    assert meaning.pending == 1
    bench.run()
    assert meaning.failed == {}
    bench.write(7, "number 7 again")
    bench.want(7)
    bench.run()
    assert meaning.failed
    bench.embedder.poison = None
    meaning.retry_failed()
    meaning.repair(bench.hashes)
    bench.run()
    assert meaning.failed == {}
    assert bench.complete()


def test_passing_problem(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that fails for a passing reason is tried a few times, then listed and left alone."""

    def embed(texts: Sequence[NoteText], still_wanted: Callable[[], bool] = bool) -> list[EmbeddedNote | EmbedProblem]:
        bench.embedder.calls += 1
        busy = EmbedProblem("busy", permanent=False)
        return [busy if "number 7" in text.text else bench.embedder._note(text) for text in texts]

    monkeypatch.setattr(bench.embedder, "embed_notes", embed)
    meaning = bench.open()
    bench.run()
    assert meaning.failed == {7: "busy"}
    assert bench.vectors.failures()[bench.texts[NoteId(7)].hash][2] == MAX_TRIES
    calls = bench.embedder.calls
    meaning.repair(bench.hashes)
    bench.reopen()
    assert bench.meaning.failed == {7: "busy"}
    assert bench.embedder.calls == calls


def test_bad_vector(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vector that the store refuses costs its own note only."""

    def embed(texts: Sequence[NoteText], still_wanted: Callable[[], bool] = bool) -> list[EmbeddedNote | EmbedProblem]:
        zero = EmbeddedNote(np.zeros(DIMENSION, np.float32))
        return [zero if "number 7" in text.text else bench.embedder._note(text) for text in texts]

    monkeypatch.setattr(bench.embedder, "embed_notes", embed)
    meaning = bench.open()
    bench.run()
    assert "zero" in meaning.failed[NoteId(7)]
    assert len(bench.vectors.hashes()) == 29


def test_wrong_count(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedder that gives fewer results than texts is not believed, and nothing is lost."""
    meaning = bench.open()
    with monkeypatch.context() as patch:
        patch.setattr(bench.embedder, "embed_notes", lambda texts, _: [bench.embedder._note(t) for t in texts[1:]])
        with pytest.raises(BadVectors):
            meaning.step(bench.texts_of)
    assert meaning.pending == 30
    bench.run()
    assert bench.complete()


def test_full_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """When vectors cannot be stored they stay pending, and are made when there is room."""
    meaning = bench.open()

    def full(rows: object) -> None:
        raise StoreFull("no room")

    with monkeypatch.context() as patch:
        patch.setattr(bench.vectors, "put", full)
        with pytest.raises(StoreFull):
            meaning.step(bench.texts_of)
    assert meaning.pending == 30
    bench.run()
    assert bench.complete()


def test_embedder_raises(bench: Bench) -> None:
    """An embedder that goes away in the middle loses nothing, and the view says so until it is back."""
    meaning = bench.open()
    meaning.step(bench.texts_of)
    left = meaning.pending
    bench.embedder.failure = EmbedderUnavailable("the server is down", hint="start it")
    with pytest.raises(EmbedderUnavailable) as caught:
        meaning.step(bench.texts_of)
    meaning.trouble(caught.value)
    assert (meaning.pending, bench.state, meaning.view.why, meaning.view.hint) == (
        left, "waiting", "the server is down", "start it",
    )  # fmt: skip
    assert meaning.view.vectors is not None
    with pytest.raises(EmbedderUnavailable):
        meaning.check_identity(bench.hashes)
    bench.embedder.failure = None
    meaning.check_identity(bench.hashes)
    assert (meaning.pending, bench.state, meaning.view.why) == (left, "ready", "")
    bench.run()
    assert len(bench.embedder.notes) == 30


def test_away_at_start(bench: Bench) -> None:
    """With the embedder away at start, the vectors there are can be used, and new notes wait."""
    bench.open()
    bench.run()
    bench.write(50, "new")
    bench.embedder.failure = ModelMissing("no such model", hint="ollama pull x")
    meaning = bench.reopen()
    assert (bench.state, meaning.pending) == ("waiting", 1)
    assert len(bench.vectors.hashes()) == 30
    assert bench.vectors.loaded
    bench.embedder.failure = None
    meaning.check_identity(bench.hashes)
    bench.run()
    assert bench.state == "ready"
    assert bench.complete()


def test_away_from_the_beginning(bench: Bench) -> None:
    """With the embedder away and nothing recorded, all wait, also notes that come later."""
    bench.embedder.failure = EmbedderUnavailable("down")
    meaning = bench.open()
    assert (bench.state, meaning.pending, meaning.view.vectors) == ("waiting", 30, None)
    bench.write(31, "later")
    bench.want(31)
    assert meaning.pending == 31
    bench.embedder.failure = None
    meaning.check_identity(bench.hashes)
    bench.run()
    assert bench.complete()


def test_another_model(bench: Bench) -> None:
    """Another model's vectors are made beside, the old ones pause, and all change over in one step."""
    bench.open()
    bench.run()
    bench.embedder.digest = "ffff00000000"
    meaning = bench.reopen()
    assert (bench.state, meaning.pending) == ("mismatch", 30)
    assert "made again" in meaning.view.why
    meaning.step(bench.texts_of)
    assert bench.state == "mismatch"
    bench.write(3, "edited meanwhile")
    bench.want(3)
    meaning.forget([NoteId(4)])
    del bench.texts[NoteId(4)]
    bench.run()
    assert bench.state == "ready"
    assert bench.vectors.identity == bench.embedder.identity()
    assert bench.complete()


def test_model_replaced_while_running(bench: Bench) -> None:
    """A model that is replaced under its name is noticed by the next comparison."""
    meaning = bench.open()
    bench.run()
    bench.embedder.digest = "ffff00000000"
    meaning.check_identity(bench.hashes)
    assert (bench.state, meaning.pending) == ("mismatch", 30)
    bench.run()
    assert bench.state == "ready"
    assert bench.complete()


def test_back_again(bench: Bench) -> None:
    """Going back to the model before costs no call but for what changed since."""
    test_another_model(bench)
    calls, notes = bench.embedder.calls, len(bench.embedder.notes)
    bench.embedder.digest = HashEmbedder().digest
    bench.reopen()
    bench.run()
    assert bench.state == "ready"
    assert bench.complete()
    assert len(bench.embedder.notes) - notes == 1
    assert bench.embedder.calls - calls == 1


def test_back_in_the_middle(bench: Bench) -> None:
    """A change of mind half-way goes back at once to the vectors that are complete."""
    meaning = bench.open()
    bench.run()
    bench.embedder.digest = "ffff00000000"
    meaning.check_identity(bench.hashes)
    meaning.step(bench.texts_of)
    notes = len(bench.embedder.notes)
    bench.embedder.digest = HashEmbedder().digest
    meaning.check_identity(bench.hashes)
    assert (bench.state, meaning.pending) == ("ready", 0)
    assert bench.complete()
    bench.embedder.digest = "ffff00000000"
    meaning.check_identity(bench.hashes)
    assert meaning.pending == 30 - module.BATCH_NOTES
    bench.run()
    assert bench.complete()
    assert len(bench.embedder.notes) == notes + 30 - module.BATCH_NOTES


def test_trouble_while_building(bench: Bench) -> None:
    """An embedder that goes away during a change-over is named as the reason until it is back."""
    bench.open()
    bench.run()
    bench.embedder.digest = "ffff00000000"
    meaning = bench.reopen()
    meaning.trouble(EmbedderUnavailable("down"))
    assert (bench.state, meaning.view.why) == ("mismatch", "down")
    meaning.check_identity(bench.hashes)
    assert "made again" in meaning.view.why


def test_swap_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change-over that fails at its last step is made good by the next one, with no model call."""
    bench.open()
    bench.run()
    bench.embedder.digest = "ffff00000000"
    meaning = bench.reopen()
    while meaning.pending > module.BATCH_NOTES:
        meaning.step(bench.texts_of)

    def full(shelf: StoreFolder, vectors: VectorStore) -> VectorStore:
        raise StoreFull("no room")

    with monkeypatch.context() as patch:
        patch.setattr(StoreFolder, "swap_in", full)
        with pytest.raises(StoreFull):
            meaning.step(bench.texts_of)
    calls = bench.embedder.calls
    meaning.check_identity(bench.hashes)
    assert bench.state == "ready"
    assert bench.complete()
    assert bench.embedder.calls == calls


def test_switched_off(tmp_path: Path) -> None:
    """With no embedder chosen, meaning is off, and nothing of it fails."""
    meaning = VectorLifecycle(StoreFolder(tmp_path), lambda recorded: None)
    meaning.open({NoteId(1): "h"})
    meaning.want({NoteId(2): "h"})
    meaning.check_identity(dict)
    meaning.repair(dict)
    meaning.retry_failed()
    meaning.forget([NoteId(1)])
    assert meaning.step(lambda ids: {}) == 0
    assert meaning.off
    meaning.close()
    meaning.close()


def test_long_notes_wait(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long notes come after the short ones, one by one."""
    monkeypatch.setattr(module, "LONG_CHARS", 100)
    for n in (1, 2, 3):
        bench.write(n, "long " * 50)
        bench.write(n, f"{n} " + "long " * 50)
    bench.open()
    bench.run()
    assert [len(text.text) > 100 for text in bench.embedder.notes[-3:]] == [True] * 3
    assert bench.complete()


def test_batches_are_small(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch ends at so many notes or characters, and holds at least one note."""
    monkeypatch.setattr(module, "BATCH_CHARS", 40)
    sizes: list[list[int]] = []
    embed = bench.embedder.embed_notes

    def spy(texts: Sequence[NoteText], still_wanted: Callable[[], bool] = bool) -> list[EmbeddedNote | EmbedProblem]:
        sizes.append([len(text.text) for text in texts])
        return embed(texts)

    monkeypatch.setattr(bench.embedder, "embed_notes", spy)
    bench.write(9, "x" * 90)
    bench.open()
    bench.run()
    assert all(sum(batch) <= 40 or len(batch) == 1 for batch in sizes)
    assert bench.complete()


class Gate:
    """Holds up a call until it is opened, and tells when the call is there."""

    def __init__(self) -> None:
        self.there = threading.Event()
        self.open = threading.Event()

    def hold(self) -> None:
        self.there.set()
        assert self.open.wait(20)


def _held(bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str) -> Gate:
    gate, real = Gate(), getattr(bench.embedder, name)

    def slow(*args: object) -> object:
        gate.hold()
        return real(*args)

    monkeypatch.setattr(bench.embedder, name, slow)
    return gate


@pytest.mark.parametrize("name", ["embed_notes", "identity"])
def test_a_hanging_embedder_holds_up_nobody(bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """While the embedder hangs in a call, edits, deletions and the end go on."""
    meaning = bench.open()
    gate = _held(bench, monkeypatch, name)
    calls: dict[str, Callable[[], object]] = {
        "embed_notes": partial(meaning.step, bench.texts_of),
        "identity": partial(meaning.check_identity, bench.hashes),
    }
    thread = threading.Thread(target=calls[name])
    thread.start()
    assert gate.there.wait(20)

    def go_on() -> None:
        bench.want(1)
        meaning.forget([NoteId(2)])
        meaning.close()

    others = threading.Thread(target=go_on)
    others.start()
    others.join(20)
    assert not others.is_alive()
    gate.open.set()
    thread.join(20)
    assert not thread.is_alive()
    assert meaning.view.why == "the daemon is stopping"


def test_edited_while_embedding(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that is edited or deleted while the model is at its old text does not get the old vector."""
    meaning = bench.open()
    gate = _held(bench, monkeypatch, "embed_notes")
    thread = threading.Thread(target=lambda: meaning.step(bench.texts_of))
    thread.start()
    assert gate.there.wait(20)
    bench.write(1, "newer")
    bench.want(1)
    del bench.texts[NoteId(2)]
    meaning.forget([NoteId(2)])
    gate.open.set()
    thread.join(20)
    assert not bench.vectors.hashes().keys() & {1, 2}
    bench.run()
    assert bench.complete()


def test_describe() -> None:
    """Each kind of trouble has its word."""
    assert describe(EmbedderUnavailable("x")) == "down"
    assert describe(ModelMissing("x")) == "missing"


class CrashingEmbedder(HashEmbedder):
    """A server that goes away over a note which contains ``crash``, and is back for the next call."""

    crash = "fatal"

    def embed_notes(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        if any(self.crash in text.text for text in texts):
            raise EmbedderUnavailable("the server went away")
        return super().embed_notes(texts, still_wanted)


@pytest.mark.parametrize("length", [10, module.LONG_CHARS + 1])
def test_a_note_that_takes_the_server_down(tmp_path: Path, length: int) -> None:
    """A note over which the server goes away each time is found and given up; the others do not wait for it."""
    bench = Bench(tmp_path / "store")
    bench.embedder = CrashingEmbedder()
    for n in range(20):
        bench.write(n, f"note {n}")
    bench.write(7, "fatal " + "x" * length)
    meaning = bench.open()
    away = 0
    while meaning.pending:
        try:
            meaning.step(bench.texts_of)
        except EmbedderUnavailable:
            away += 1
            meaning.check_identity(bench.hashes)
            meaning.repair(bench.hashes)  # as after every pause
        assert away <= 2 * MAX_TRIES
    assert meaning.failed == {7: "the server went away"}
    assert len(bench.vectors.hashes()) == 19
    assert len(bench.embedder.notes) == 19
    meaning.close()


def test_a_server_that_was_away_blames_no_note(tmp_path: Path) -> None:
    """A server that goes away in the middle of the work, and is back, costs no note its vector or a second call."""
    bench = Bench(tmp_path / "store")
    for n in range(20):
        bench.write(n, f"note {n}")
    meaning = bench.open()
    for _ in range(2):
        bench.embedder.failure = EmbedderUnavailable("away")
        with pytest.raises(EmbedderUnavailable):
            meaning.step(bench.texts_of)
        bench.embedder.failure = None
        meaning.step(bench.texts_of)
    bench.run()
    assert meaning.failed == {}
    assert len(bench.embedder.notes) == 20
    assert bench.complete()
    meaning.close()
