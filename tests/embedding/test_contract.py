"""What every embedder does, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from tests.support.embedders import HashEmbedder, WholeHashEmbedder
from tests.support.ollama_server import OllamaServer
from vaultrag.config import EmbedderSettings
from vaultrag.domain import EmbeddedNote, EmbedProblem, NoteText
from vaultrag.embedding.builtin import BuiltinEmbedder
from vaultrag.embedding.ollama import OllamaEmbedder
from vaultrag.errors import EmbedderUnavailable, EmbedError
from vaultrag.protocols import Embedder, PassageEmbedder

if TYPE_CHECKING:
    from vaultrag.domain import Vector

SEAL = NoteText("Replace a mechanical seal", "Close both valves.\n\nDrain the pump before you open the seal housing.\n")
BREAD = NoteText("Sourdough", "Feed the starter in the evening.\n\nBake the bread at 240 degrees.\n")
LONG = NoteText("Logbook", "\n\n".join(f"Entry {n}: the pump ran {n * 7} hours, nothing special." for n in range(300)))
STRANGE = (
    NoteText("Tagebuch 日記", "今日はポンプを直した。\n\nМы починили насос.\n\n펌프를 고쳤다.\n"),
    NoteText("🚰", "🚰🔧" * 500),
    NoteText("broken \ud800 title", "a lone \udfff surrogate and a NUL \x00 in the text"),
    NoteText("x" * 5000, "y" * 5000),
    NoteText("table", "|" + "|".join("0123456789" for _ in range(300)) + "|"),
    NoteText("blank", " \n\t\n\n"),
)


def builtin() -> Iterator[Embedder]:
    yield BuiltinEmbedder()


def ollama() -> Iterator[Embedder]:
    with OllamaServer() as server:
        yield OllamaEmbedder(EmbedderSettings(host=server.url))


def hashed() -> Iterator[Embedder]:
    yield HashEmbedder()


def hashed_whole() -> Iterator[Embedder]:
    yield WholeHashEmbedder()


@pytest.fixture(scope="module", params=[pytest.param(builtin, marks=pytest.mark.model), ollama, hashed, hashed_whole])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    make: Callable[[], Iterator[Embedder]] = request.param
    for made in make():
        yield made
        made.close()


def one(embedder: Embedder, note: NoteText) -> EmbeddedNote:
    (result,) = embedder.embed_notes([note])
    assert isinstance(result, EmbeddedNote)
    return result


def passages_of(embedder: Embedder, note: NoteText) -> tuple[list[tuple[int, int]], list[Vector]]:
    """A note's passages, whether they come with its vector or apart."""
    result = one(embedder, note)
    if not isinstance(embedder, PassageEmbedder):
        return list(result.passage_lines), [] if result.passage_vectors is None else list(result.passage_vectors)
    assert result.passage_vectors is None
    cut = embedder.cut(note)
    vectors = embedder.embed_passages([passage.text for passage in cut])
    assert not any(isinstance(vector, EmbedProblem) for vector in vectors)
    lines = [(passage.start_line, passage.end_line) for passage in cut]
    return lines, [vector for vector in vectors if not isinstance(vector, EmbedProblem)]


def is_unit(vector: Vector, dimension: int) -> bool:
    return vector.dtype == np.float32 and vector.shape == (dimension,) and abs(float(vector @ vector) - 1) < 1e-5


def test_identity_stays(embedder: Embedder) -> None:
    """The identity is the same whenever it is asked for, and names a dimension."""
    first = embedder.identity()
    assert first == embedder.identity()
    assert first.dimension > 0
    assert first.digest
    assert first.windows


def test_vectors_are_units(embedder: Embedder) -> None:
    """Notes, passages and queries come as float32 of length one and of the identity's dimension."""
    dimension = embedder.identity().dimension
    note = one(embedder, SEAL)
    assert is_unit(note.vector, dimension)
    assert is_unit(embedder.embed_query("mechanical seal"), dimension)
    if note.passage_vectors is not None:
        assert note.passage_vectors.shape == (len(note.passage_lines), dimension)
        assert all(is_unit(row, dimension) for row in note.passage_vectors)


def test_meaning_is_near(embedder: Embedder) -> None:
    """A query is nearer to the note about it than to another."""
    seal, bread = one(embedder, SEAL), one(embedder, BREAD)
    query = embedder.embed_query("drain the pump, then replace the seal")
    assert float(query @ seal.vector) > float(query @ bread.vector) + 0.1


def test_order_is_kept(embedder: Embedder) -> None:
    """Results come in the order of the texts, whatever their length, and equal those of single calls."""
    notes = [BREAD, LONG, SEAL, NoteText("Only a title", ""), BREAD]
    results = embedder.embed_notes(notes)
    assert len(results) == len(notes)
    for note, result in zip(notes, results, strict=True):
        assert isinstance(result, EmbeddedNote)
        assert float(result.vector @ one(embedder, note).vector) > 0.999


def test_nothing_is_cut(embedder: Embedder) -> None:
    """A note beyond any window is covered whole, and its last line counts."""
    end = NoteText(LONG.title, LONG.text + "\n\n" + "The giraffe sanctuary opens on Sunday. " * 40)
    plain, ended = one(embedder, LONG), one(embedder, end)
    assert plain.covered == ended.covered == 1.0
    query = embedder.embed_query("giraffe sanctuary")
    assert float(query @ ended.vector) > float(query @ plain.vector)


def test_passages_point_into_the_text(embedder: Embedder) -> None:
    """Passage lines are in order, inside the text, and the best passage holds what was asked for."""
    lines, vectors = passages_of(embedder, SEAL)
    assert lines
    assert lines == sorted(lines)
    assert all(0 <= start <= end < len(SEAL.text.split("\n")) for start, end in lines)
    best = int((np.stack(vectors) @ embedder.embed_query("drain the pump")).argmax())
    start, end = lines[best]
    assert start <= 2 <= end


@pytest.mark.parametrize("note", STRANGE, ids=range(len(STRANGE)))
def test_strange_passages(embedder: Embedder, note: NoteText) -> None:
    """Passages of strange texts have vectors like any other; a note without a body has no passage."""
    lines, vectors = passages_of(embedder, note)
    assert bool(lines) == bool(note.text.strip())
    assert all(is_unit(vector, embedder.identity().dimension) for vector in vectors)


def test_a_title_is_enough(embedder: Embedder) -> None:
    """A note without a body is found by its title and has no passages."""
    note = one(embedder, NoteText("Mechanical seal", ""))
    assert note.passage_lines == ()
    assert note.covered == 1.0
    assert float(note.vector @ embedder.embed_query("mechanical seal")) > 0.7


def test_nothing_gives_a_problem(embedder: Embedder) -> None:
    """A note with neither title nor text is a permanent problem, and its neighbours are embedded."""
    results = embedder.embed_notes([SEAL, NoteText("", " \n"), BREAD])
    assert [type(result) for result in results] == [EmbeddedNote, EmbedProblem, EmbeddedNote]
    assert isinstance(results[1], EmbedProblem)
    assert results[1].permanent


def test_an_empty_batch(embedder: Embedder) -> None:
    """No texts, no results."""
    assert embedder.embed_notes([]) == []


@pytest.mark.parametrize("note", STRANGE, ids=range(len(STRANGE)))
def test_strange_notes(embedder: Embedder, note: NoteText) -> None:
    """Other scripts, emoji, lone surrogates, NUL and endless words are embedded like any text."""
    result = one(embedder, note)
    assert is_unit(result.vector, embedder.identity().dimension)
    assert 0 < result.covered <= 1


@profile(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(title=st.text(max_size=40), text=st.text(st.characters(), max_size=400))
def test_any_text(embedder: Embedder, title: str, text: str) -> None:
    """Whatever the text, the answer is a vector or a problem, and never an exception."""
    (result,) = embedder.embed_notes([NoteText(title, text)])
    assert isinstance(result, EmbeddedNote | EmbedProblem)
    if isinstance(result, EmbeddedNote):
        assert np.isfinite(result.vector).all()


def test_an_empty_query(embedder: Embedder) -> None:
    """A query of nothing is refused, not answered with a vector of nothing."""
    with pytest.raises(EmbedError):
        embedder.embed_query("  ")


def test_status_says_ready(embedder: Embedder) -> None:
    """After work the status is ready, and names what is in use."""
    embedder.embed_query("pump")
    status = embedder.status()
    assert status.state == "ready"
    assert status.provider == embedder.identity().provider
    assert status.model == embedder.identity().model


@pytest.mark.parametrize("make", [pytest.param(builtin, marks=pytest.mark.model), ollama, hashed])
def test_close(make: Callable[[], Iterator[Embedder]]) -> None:
    """Closing twice is fine; afterwards the status is off and work is refused as unavailable."""
    for embedder in make():
        embedder.embed_query("pump")
        embedder.close()
        embedder.close()
        assert embedder.status().state == "off"
        with pytest.raises(EmbedderUnavailable):
            embedder.embed_notes([SEAL])
