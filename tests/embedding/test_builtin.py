"""The builtin model: its files, its passages, its coming and going in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support.clocks import ManualClock
from vaultrag.domain import EmbeddedNote, EmbedProblem, NoteText
from vaultrag.embedding import builtin, onnx
from vaultrag.embedding.builtin import PASSAGE_TOKENS, BuiltinEmbedder
from vaultrag.embedding.onnx import TOKENIZER, WEIGHTS, MiniLM, PinnedFile, Tokens, verify
from vaultrag.errors import BadVectors, ModelBroken

if TYPE_CHECKING:
    from vaultrag.domain import Vector

NOTE = NoteText("Pump", "Close the valve.\n\nDrain the housing.")


def in_memory(embedder: BuiltinEmbedder) -> bool:
    return embedder.loaded  # through a call, so that mypy does not take it for constant


def broken_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: str) -> None:
    """Put a file of the same length with one byte changed in the place of a pinned one."""
    real: PinnedFile = getattr(onnx, pinned)
    data = bytearray(onnx.locate(real).read_bytes())
    data[len(data) // 2] ^= 1
    place = tmp_path / "file"
    place.write_bytes(data)
    monkeypatch.setattr(onnx, pinned, PinnedFile(real.distribution, real.version, str(place), real.sha256))


@pytest.mark.model
@pytest.mark.parametrize("pinned", ["WEIGHTS", "TOKENIZER"])
def test_a_changed_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: str) -> None:
    """A file that differs in one bit is not loaded; the message has the command that repairs it."""
    broken_file(tmp_path, monkeypatch, pinned)
    embedder = BuiltinEmbedder()
    with pytest.raises(ModelBroken, match="built against") as caught:
        embedder.embed_query("pump")
    assert caught.value.hint.startswith("pip install --force-reinstall")
    status = embedder.status()
    assert (status.state, status.hint) == ("broken", caught.value.hint)
    assert not embedder.loaded
    embedder.close()


def test_an_absent_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is not installed is noticed when the identity is asked for."""
    monkeypatch.setattr(builtin, "WEIGHTS", PinnedFile("no-such-thing", "1.0", "model.onnx", "0" * 64))
    with pytest.raises(ModelBroken, match="not installed") as caught:
        BuiltinEmbedder().identity()
    assert caught.value.hint == "pip install --force-reinstall --no-deps no-such-thing==1.0"


def test_an_absent_file() -> None:
    """A distribution without its file is noticed too."""
    with pytest.raises(ModelBroken, match="missing"):
        verify(PinnedFile("numpy", "1.0", "numpy/no-such-model.onnx", "0" * 64))


def test_identity_loads_nothing() -> None:
    """The identity is known without loading the model."""
    embedder = BuiltinEmbedder()
    identity = embedder.identity()
    assert not embedder.loaded
    assert (identity.provider, identity.model) == ("builtin", "all-MiniLM-L6-v2-int8")
    assert (identity.digest, identity.dimension) == (WEIGHTS.sha256[:12], 384)
    assert verify(TOKENIZER).name == "tokenizer.json"


def test_an_unloadable_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A runtime that cannot be imported is a broken model with a command, not an ImportError."""
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(ModelBroken, match="cannot be loaded"):
        MiniLM.load()


@pytest.mark.model
def test_passages_are_short() -> None:
    """Each passage is within its tokens with the title in front, and every line of text is in one."""
    text = "\n\n".join(f"Sentence {n} tells of the pump in the upper tank. It ran {n} hours." for n in range(40))
    model = MiniLM.load()
    note = NoteText("A rather long title about a pump that nobody wants to read twice", text)
    plan = builtin._plan(builtin._Piecemeal(model, lambda: True), note)
    assert max(model.count(plan.texts)) <= PASSAGE_TOKENS
    covered = {line for passage in plan.passages for line in range(passage.start_line, passage.end_line + 1)}
    assert covered >= {n for n, line in enumerate(text.split("\n")) if line}


@pytest.mark.model
def test_an_overlong_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where merged passages are longer than the model's window, the share covered is below one."""
    monkeypatch.setattr(builtin, "MAX_PASSAGES", 2)
    embedder = BuiltinEmbedder()
    (note,) = embedder.embed_notes([NoteText("Log", "The pump ran all day. " * 400)])
    assert isinstance(note, EmbeddedNote)
    assert len(note.passage_lines) == 2
    assert 0.1 < note.covered < 0.4
    embedder.close()


@pytest.mark.model
def test_known_vector() -> None:
    """The model and its pooling give the vectors they always gave."""
    model = MiniLM.load()
    pair = model.run(model.tokens(["A man is eating food.", "A man is eating a piece of bread."]))
    other = model.run(model.tokens(["A cheetah is running behind its prey."]))
    assert abs(float(pair[0] @ pair[1]) - 0.755) < 0.02
    assert float(pair[0] @ other[0]) < 0.15


@pytest.mark.model
def test_company_changes_nothing() -> None:
    """A text has the same vector alone and in a batch of longer ones."""
    model = MiniLM.load()
    tokens = model.tokens(["pump", "The pump ran all day and was switched off in the evening. " * 8])
    assert np.abs(model.run(tokens)[0] - model.run(tokens[:1])[0]).max() < 1e-4


@pytest.mark.model
def test_leaves_memory_when_idle() -> None:
    """Without work the model is dropped, not before its time, and comes back by itself."""
    clock = ManualClock()
    embedder = BuiltinEmbedder(idle_unload_s=60.0, clock=clock)
    first = embedder.embed_query("pump")
    assert not embedder.unload_if_idle(59.0)
    assert in_memory(embedder)
    assert embedder.unload_if_idle(60.0)
    assert not in_memory(embedder)
    assert embedder.status().state == "ready"
    embedder.embed_notes([NOTE])
    assert in_memory(embedder)
    assert (embedder.embed_query("pump") == first).all()
    embedder.close()


@pytest.mark.model
def test_idle_thread_ends() -> None:
    """The thread that waits for idleness unloads the model and ends; a closed embedder has none either."""

    def keepers() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "vaultrag-model-idle"]

    embedder = BuiltinEmbedder(idle_unload_s=0.05)
    embedder.embed_query("pump")
    for keeper in keepers():
        keeper.join(5)
    assert not in_memory(embedder)
    assert keepers() == []
    embedder = BuiltinEmbedder(idle_unload_s=300)
    embedder.warm()
    assert len(keepers()) == 1
    embedder.close()
    assert keepers() == []


@pytest.mark.model
def test_one_bad_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text the model makes no vector of is found within its batch; the other notes are embedded."""
    run = MiniLM.run
    pump = MiniLM.load().tokens(["pump"])[0].ids[1]

    def failing(self: MiniLM, batch: Sequence[Tokens]) -> Vector:
        if any(pump in tokens.ids for tokens in batch):
            raise BadVectors("the embedder answered with a zero vector")
        return run(self, batch)

    monkeypatch.setattr(MiniLM, "run", failing)
    embedder = BuiltinEmbedder()
    bread = NoteText("Bread", "Feed the starter.")
    results = embedder.embed_notes([bread, NOTE, bread])
    assert [type(result) for result in results] == [EmbeddedNote, EmbedProblem, EmbeddedNote]
    with pytest.raises(BadVectors):
        embedder.embed_query("pump")
    assert embedder.status().state == "ready"
    embedder.close()


def test_a_failing_runtime() -> None:
    """A runtime that fails in the middle of the work is a broken model, and the status says so."""

    class Session:
        def run(self, *_: object) -> None:
            raise RuntimeError("out of memory")

    class Tokenizer:
        def encode_batch(self, texts: list[str], add_special_tokens: bool) -> list[SimpleNamespace]:
            return [SimpleNamespace(ids=[1], offsets=[(0, 1)]) for _ in texts]

    embedder = BuiltinEmbedder(load=lambda threads: MiniLM(Session(), Tokenizer()))
    with pytest.raises(ModelBroken, match="failed"):
        embedder.embed_query("pump")
    assert embedder.status().state == "broken"
    embedder.close()


def test_in_use_is_not_idle() -> None:
    """A model at work is not dropped, however long the work takes."""
    clock = ManualClock()
    embedder = BuiltinEmbedder(idle_unload_s=10, clock=clock, load=lambda threads: MiniLM(None, None))
    with embedder._lazy.use():
        clock.now = 1000.0
        assert not embedder.unload_if_idle(clock.now)
    assert not embedder.unload_if_idle(1005.0)
    assert embedder.unload_if_idle(1010.0)
    embedder.close()
