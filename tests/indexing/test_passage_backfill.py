"""The second pass: passages beside vectors that are there, made in small steps and resumed wherever they ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.indexing.conftest import Build, House
from tests.support.embedders import HashEmbedder, WholeHashEmbedder
from tests.support.lifecycles import Lifecycle
from tests.support.stores import passages_in
from vaultrag.domain import EmbedProblem, NoteId, NoteText
from vaultrag.errors import BadVectors, EmbedderUnavailable, StoreFull
from vaultrag.indexing import passage_backfill as module
from vaultrag.storage.vectors.vector_store import Vectors

if TYPE_CHECKING:
    from vaultrag.domain import Vector

NOTES = 12


class Bench(Lifecycle):
    """Every note has two paragraphs but the last, which has a title only; opens with all notes embedded."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, WholeHashEmbedder())
        self.texts = {NoteId(n): NoteText(f"t{n}", f"first {n}\n\nsecond {n}") for n in range(1, NOTES)}
        self.texts[NoteId(NOTES)] = NoteText("only a title", "")

    @property
    def whole(self) -> WholeHashEmbedder:
        assert isinstance(self.embedder, WholeHashEmbedder)
        return self.embedder

    def open(self) -> Bench:
        self.meaning.open(self.hashes())
        self.embed()
        return self

    def reopen(self, *, passages: bool = True) -> Bench:
        self.meaning.close()
        self.meaning = self.fresh(passages=passages)
        return self.open()

    def step(self) -> None:
        self.meaning.step_passages(self.texts_of, self.hashes)

    def run(self) -> Bench:
        steps = 0
        while self.meaning.passages_pending:
            self.step()
            steps += 1
            assert steps < 200
        return self

    def write(self, note_id: int, text: str) -> None:
        self.texts[NoteId(note_id)] = NoteText(f"t{note_id}", text)
        self.want(note_id)

    @property
    def vectors(self) -> Vectors:
        store = self.meaning.view.vectors
        assert isinstance(store, Vectors)
        return store

    def lines(self, note_id: int, query: str) -> tuple[int, int] | None:
        """Where in the note the query is, by its best passage."""
        found = self.vectors.scan(self.embedder.embed_query(query)).passage(NoteId(note_id))
        return found[1:] if found else None


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.meaning.close()


def test_after_the_vectors(bench: Bench) -> None:
    """Passages wait until every note has its vector, and the vectors are ready before they are there."""
    bench.meaning.open(bench.hashes())
    bench.step()
    assert bench.whole.passages == []
    bench.open()
    assert (bench.meaning.view.state, bench.meaning.pending, bench.meaning.passages_pending) == ("ready", 0, NOTES)
    assert bench.lines(3, "second 3") is None
    bench.run()
    assert len(bench.whole.passages) == 2 * (NOTES - 1)
    assert passages_in(bench.vectors) == 2 * (NOTES - 1)
    assert bench.lines(3, "second 3") == (2, 2)
    assert len(bench.embedder.notes) == NOTES


def test_recent_first_in_small_steps(bench: Bench) -> None:
    """The note that changed last comes first, and no step asks for more than a few passages."""
    bench.open().step()
    assert len(bench.whole.passages) <= module.BATCH_PASSAGES
    assert bench.whole.passages[:4] == ["t11: first 11", "t11: second 11", "t10: first 10", "t10: second 10"]


def test_a_long_note_in_several_steps(bench: Bench) -> None:
    """A long note's passages are gathered over several steps and stored together; a fresh edit comes in between."""
    bench.open().run()
    bench.write(20, "\n\n".join(f"line {n}" for n in range(40)))
    bench.open().step()
    assert bench.meaning.passages_pending == 1
    bench.write(1, "edited one\n\nedited two")
    assert bench.meaning.pending == 1
    bench.open().run()
    assert bench.lines(20, "line 39") == (78, 78)
    assert bench.lines(1, "edited two") == (2, 2)
    assert sum(text.startswith("t20: ") for text in bench.whole.passages) == 40


def test_one_passage_is_the_note(bench: Bench) -> None:
    """A note of one passage costs no second model call: its own vector is the passage's."""
    bench.open().run()
    sent = len(bench.whole.passages)
    bench.write(1, "one paragraph")
    bench.open().run()
    assert len(bench.whole.passages) == sent
    assert bench.lines(1, "one paragraph") == (0, 0)


def test_restart(bench: Bench) -> None:
    """A restart goes on where it ended, and once all is made asks neither disk nor model."""
    bench.open().step()
    bench.reopen()
    assert 0 < bench.meaning.passages_pending < NOTES
    bench.run()
    assert len(bench.whole.passages) == 2 * (NOTES - 1)
    calls, read = bench.embedder.calls, len(bench.read)
    bench.reopen()
    assert bench.meaning.passages_pending == 0
    bench.run()
    assert (bench.embedder.calls, len(bench.read)) == (calls, read)
    assert bench.lines(3, "second 3") == (2, 2)


def test_edited_meanwhile(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that is edited while its passages are made gets those of its newest text only."""
    bench.open()
    embed = bench.whole.embed_passages

    def meddle(texts: Sequence[str]) -> list[Vector | EmbedProblem]:
        monkeypatch.setattr(bench.embedder, "embed_passages", embed)
        bench.write(11, "fresh words\n\nother words")
        return embed(texts)

    monkeypatch.setattr(bench.embedder, "embed_passages", meddle)
    bench.step()
    assert bench.lines(11, "first") is None
    bench.open().run()
    assert bench.lines(11, "other words") == (2, 2)
    assert bench.vectors.hashes() == bench.hashes()


def test_not_as_it_was(bench: Bench) -> None:
    """A note whose text on disk is another one is passed over, and comes again with its new text."""
    bench.open()
    bench.texts[NoteId(11)] = NoteText("t11", "written\n\njust now")
    bench.run()
    assert bench.lines(11, "just now") is None
    bench.meaning.repair(bench.hashes)
    bench.open().run()
    assert bench.lines(11, "just now") == (2, 2)


def test_gone_meanwhile(bench: Bench) -> None:
    """A note that is deleted is waited for no longer."""
    bench.open()
    del bench.texts[NoteId(11)]
    bench.meaning.forget([NoteId(11)])
    assert bench.meaning.passages_pending == NOTES - 1
    bench.run()
    assert bench.vectors.hashes() == bench.hashes()


def test_edit_and_back(bench: Bench) -> None:
    """An edit that is undone brings the passages back with the vector; one before they were made has them made."""
    bench.open().run()
    before, sent = bench.texts[NoteId(3)], len(bench.whole.passages)
    bench.write(3, "one\n\ntwo")
    bench.open()
    bench.write(3, before.text)
    assert (bench.meaning.pending, bench.meaning.passages_pending) == (0, 0)
    assert bench.lines(3, "second 3") == (2, 2)
    bench.write(3, "one\n\ntwo")
    assert (bench.meaning.pending, bench.meaning.passages_pending) == (0, 1)
    bench.run()
    assert bench.lines(3, "two") == (2, 2)
    assert len(bench.whole.passages) == sent + 2


def test_same_text_twice(bench: Bench) -> None:
    """Two notes of one text share its passages."""
    bench.texts[NoteId(30)] = bench.texts[NoteId(3)]
    bench.open().run()
    assert bench.lines(30, "second 3") == bench.lines(3, "second 3") == (2, 2)
    assert sum(text.startswith("t3: ") for text in bench.whole.passages) in (2, 4)
    assert bench.reopen().meaning.passages_pending == 0


def test_embedder_away(bench: Bench) -> None:
    """An embedder that goes away loses nothing; when it is back, what was gathered is not made again."""
    bench.open()
    bench.texts[NoteId(11)] = NoteText("t11", "\n\n".join(f"line {n}" for n in range(40)))
    bench.meaning.repair(bench.hashes)
    bench.open().step()
    bench.embedder.failure = EmbedderUnavailable("down")
    with pytest.raises(EmbedderUnavailable) as caught:
        bench.step()
    bench.meaning.trouble(caught.value)
    assert bench.meaning.view.state == "waiting"
    bench.embedder.failure = None
    bench.meaning.check_identity(bench.hashes)
    assert bench.meaning.view.state == "ready"
    bench.run()
    assert bench.lines(11, "line 39") == (78, 78)
    assert len(bench.whole.passages) == len(set(bench.whole.passages)) == 40 + 2 * (NOTES - 2)


def test_another_model(bench: Bench) -> None:
    """With another model all passages are made again, and none of the old model's stays in a note half done."""
    bench.texts[NoteId(11)] = NoteText("t11", "\n\n".join(f"line {n}" for n in range(40)))
    bench.open().step()
    bench.embedder.digest = "ffff00000000"
    bench.meaning.check_identity(bench.hashes)
    assert bench.meaning.view.state == "mismatch"
    bench.whole.passages.clear()
    bench.open()
    assert (bench.meaning.view.state, bench.meaning.passages_pending) == ("ready", NOTES)
    bench.run()
    assert len(bench.whole.passages) == 40 + 2 * (NOTES - 2)


def test_a_bad_passage(bench: Bench) -> None:
    """A passage that cannot be embedded is left out; its note has the others, and is no failure."""
    bench.whole.bad_passage = "second 3"
    bench.open().run()
    assert bench.lines(3, "second 3") == (0, 0)
    assert bench.meaning.failed == {}
    assert bench.reopen().meaning.passages_pending == 0


def test_a_passage_that_fails_for_now(bench: Bench) -> None:
    """A passage that fails for a passing reason is tried a few times with its note, then left out."""
    bench.whole.bad_passage, bench.whole.permanent = "second 3", False
    bench.open().run()
    assert bench.whole.passages.count("t3: second 3") == module.MAX_TRIES
    assert bench.lines(3, "second 3") == (0, 0)
    assert passages_in(bench.vectors) == 2 * (NOTES - 1) - 1


def test_wrong_count(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedder that gives fewer results than texts is not believed, and nothing is lost."""
    bench.open()
    with monkeypatch.context() as patch:
        patch.setattr(bench.embedder, "embed_passages", lambda texts: [])
        with pytest.raises(BadVectors):
            bench.step()
    bench.run()
    assert passages_in(bench.vectors) == 2 * (NOTES - 1)


def test_refused_vectors(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passages that the store refuses are done without: the note's own vector stands for it."""
    zero = np.zeros(bench.embedder.dimension, np.float32)
    monkeypatch.setattr(bench.embedder, "embed_passages", lambda texts: [zero] * len(texts))
    bench.open().run()
    assert passages_in(bench.vectors) == 0
    assert bench.reopen().meaning.passages_pending == 0


def test_full_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passages that cannot be stored are made when there is room."""
    bench.open()

    def full(*_: object) -> None:
        raise StoreFull("no room")

    with monkeypatch.context() as patch:
        patch.setattr(bench.vectors, "put_passages", full)
        with pytest.raises(StoreFull):
            bench.step()
    assert bench.meaning.passages_pending == NOTES
    bench.run()
    assert passages_in(bench.vectors) == 2 * (NOTES - 1)


@pytest.mark.parametrize("kind", [HashEmbedder, WholeHashEmbedder])
def test_switched_off_and_on(bench: Bench, kind: Callable[[], HashEmbedder]) -> None:
    """Without passages none are kept, none are made and the vectors stay; with them again they are filled in."""
    bench.embedder = kind()
    bench.open().run()
    whole = bench.vectors.vector(NoteId(3))
    notes = len(bench.embedder.notes)
    bench.reopen(passages=False)
    bench.write(3, "one\n\ntwo")
    bench.open()
    assert (bench.meaning.pending, bench.meaning.passages_pending, passages_in(bench.vectors)) == (0, 0, 0)
    assert bench.vectors.scan(bench.embedder.embed_query("first")).passages(10) == []
    bench.write(3, "first 3\n\nsecond 3")
    assert bench.meaning.pending == 0
    assert np.array_equal(bench.vectors.vector(NoteId(3)), whole)  # type: ignore[arg-type]
    assert len(bench.embedder.notes) == notes + 1
    bench.reopen()
    assert (bench.meaning.view.state, bench.meaning.pending) == ("ready", 0)
    assert bench.meaning.passages_pending == NOTES
    bench.run()
    assert passages_in(bench.vectors) == 2 * (NOTES - 1)
    assert bench.lines(3, "second 3") == (2, 2)
    assert bench.reopen().meaning.passages_pending == 0


def test_together_there_is_no_second_pass(bench: Bench) -> None:
    """An embedder that gives passages with the vector is asked once for each note, also for one of a title only."""
    bench.embedder = HashEmbedder()
    bench.open()
    assert bench.meaning.passages_pending == 0
    assert passages_in(bench.vectors) == 2 * (NOTES - 1)
    assert bench.reopen().meaning.passages_pending == 0
    assert len(bench.embedder.notes) == NOTES


def _filled(house: House) -> House:
    for n in range(10):
        house.vault.write(f"{n}.md", f"first thing {n}\n\nsecond thing {n}")
    return house


def test_in_its_thread(build: Build) -> None:
    """The thread makes vectors, then passages, and rests; a restart has nothing to do."""
    whole = WholeHashEmbedder()
    house = _filled(build(embedder=whole)).start().settle()
    assert (house.meaning.pending, house.meaning.passages_pending) == (0, 0)
    assert len(whole.passages) == 20
    house.vault.write("3.md", "edited\n\ntwice")
    house.look("3.md")
    assert whole.passages[20:] == ["3: edited", "3: twice"]
    house.close()
    again = build(reader=house.vault, embedder=(second := WholeHashEmbedder())).start().settle()
    assert again.meaning.passages_pending == 0
    assert second.calls == 0


class GoesAway(WholeHashEmbedder):
    """Away from the first passage on, until it is told to be back."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | EmbedProblem]:
        if not self.asked.is_set():
            self.asked.set()
            self.failure = EmbedderUnavailable("down", hint="start it")
        return super().embed_passages(texts)


def test_away_then_back_in_its_thread(build: Build) -> None:
    """With the embedder away the passages wait and the thread rests; when it is back they follow by themselves."""
    embedder = GoesAway()
    house = _filled(build(embedder=embedder)).start()
    house.until(lambda: house.meaning.view.state == "waiting")
    assert (house.meaning.pending, house.meaning.passages_pending) == (0, 10)
    embedder.failure = None
    house.push(120)
    house.until(lambda: not house.meaning.passages_pending)
    house.settle()
    assert house.meaning.view.state == "ready"
    assert len(embedder.passages) == 20
