"""The Ollama adapter when something is wrong: one bad note, a bad server, no server."""

from __future__ import annotations

import socket

import numpy as np
import pytest

from tests.support.ollama_server import MODEL, OllamaServer
from vaultrag.config import EmbedderSettings
from vaultrag.domain import EmbeddedNote, EmbedProblem, NoteText
from vaultrag.embedding.ollama import OllamaEmbedder
from vaultrag.errors import BadVectors, EmbedderUnavailable, EmbedError, ModelBroken, ModelMissing

NOTES = [NoteText(f"Note {n}", f"number {n} is about valves") for n in range(11)]


def with_poison(place: int) -> list[NoteText]:
    return [*NOTES[:place], NoteText("Bad", "the poison is here"), *NOTES[place:]]


@pytest.mark.parametrize("kind", ["nan", "nan_400", "bad", "zero", "null"])
@pytest.mark.parametrize("place", [0, 5, 11])
def test_one_bad_note(server: OllamaServer, embedder: OllamaEmbedder, kind: str, place: int) -> None:
    """A note that makes its batch fail is found and is a permanent problem; all others are embedded."""
    server.script.poison["poison"] = kind
    results = embedder.embed_notes(with_poison(place))
    assert [i for i, result in enumerate(results) if isinstance(result, EmbedProblem)] == [place]
    problem = results[place]
    assert isinstance(problem, EmbedProblem)
    assert problem.permanent
    assert "poison is here" not in problem.reason
    assert server.calls["/api/embed"] < 14


def test_a_note_that_crashes_the_runner(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A crash on one note is that note's problem, though not for ever."""
    server.script.poison["poison"] = "crash"
    results = embedder.embed_notes(with_poison(3))
    assert isinstance(results[3], EmbedProblem)
    assert not results[3].permanent
    assert sum(isinstance(result, EmbeddedNote) for result in results) == len(NOTES)


def test_a_passing_error_is_no_problem(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """An error that a second attempt does not meet leaves no trace."""
    server.script.fail = [500]
    (result,) = embedder.embed_notes(NOTES[:1])
    assert isinstance(result, EmbeddedNote)


@pytest.mark.parametrize("status", [400, 413, 500])
def test_denser_than_estimated(server: OllamaServer, embedder: OllamaEmbedder, status: int) -> None:
    """A text refused as too long is halved until it fits, whatever the status, and is covered whole."""
    embedder.identity()
    server.models[MODEL].context_length = 300
    server.script.too_long_status = status
    results = embedder.embed_notes([NOTES[0], NoteText("Dense", "pressure in the upper tank. " * 180), NOTES[1]])
    assert all(isinstance(result, EmbeddedNote) for result in results)
    assert isinstance(results[1], EmbeddedNote)
    assert results[1].covered == 1.0
    assert abs(float(np.linalg.norm(results[1].vector)) - 1) < 1e-5


def test_a_part_that_never_fits(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """What cannot be embedded even in the smallest part lowers the share covered, and the rest stands."""
    server.script.poison["poison"] = "too_long"
    text = "calm words before. " * 40 + "poison " + "calm words after. " * 40
    (result,) = embedder.embed_notes([NoteText("Partly", text)])
    assert isinstance(result, EmbeddedNote)
    assert 0.8 < result.covered < 1.0


def test_nothing_of_it_fits(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A note that is refused down to the smallest part is a permanent problem."""
    server.script.poison["search_document"] = "too_long"
    (result,) = embedder.embed_notes([NoteText("Never", "some words " * 40)])
    assert isinstance(result, EmbedProblem)
    assert result.permanent


@pytest.mark.parametrize("off", [-1, 1])
def test_wrong_count(server: OllamaServer, embedder: OllamaEmbedder, off: int) -> None:
    """A server that answers with too many or too few vectors is broken, and no note is blamed."""
    server.script.count_off = off
    with pytest.raises(ModelBroken, match="vectors"):
        embedder.embed_notes(NOTES[:3])
    assert embedder.status().state == "broken"


def test_wrong_dimension(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Vectors of another size than the index holds are refused, and no note is blamed."""
    embedder.identity()
    server.script.dimension_off = -256
    with pytest.raises(ModelBroken, match="512"):
        embedder.embed_notes(NOTES[:3])


def test_wrong_dimension_asks_again(server: OllamaServer, settings: EmbedderSettings) -> None:
    """After vectors of another size the server is asked what the model is now, without waiting for the refresh."""
    embedder = OllamaEmbedder(settings, refresh_s=1e9)
    embedder.identity()
    server.models[MODEL].dimension, server.models[MODEL].digest = 512, "e" * 64
    with pytest.raises(ModelBroken):
        embedder.embed_notes(NOTES[:1])
    assert embedder.identity().dimension == 512
    assert isinstance(embedder.embed_notes(NOTES[:1])[0], EmbeddedNote)
    embedder.close()


@pytest.mark.parametrize(("status", "error"), [(400, ModelBroken), (501, ModelBroken), (500, EmbedderUnavailable)])
def test_the_model_refuses_everything(
    server: OllamaServer, embedder: OllamaEmbedder, status: int, error: type[EmbedError]
) -> None:
    """Where a plain word is refused as well, the model is at fault and no note is marked as bad."""
    server.script.fail_always = status
    with pytest.raises(error, match="refuses every text"):
        embedder.embed_notes(NOTES)
    assert server.calls["/api/embed"] < 10


def test_busy(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A busy server is worth another try later; it is not asked again at once."""
    server.script.fail = [503]
    with pytest.raises(EmbedderUnavailable, match="busy"):
        embedder.embed_notes(NOTES)
    assert server.calls["/api/embed"] == 1
    assert isinstance(embedder.embed_notes(NOTES)[0], EmbeddedNote)


def test_connection_lost_in_the_middle(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """An answer cut off in the middle is unavailability, and the next call works."""
    server.script.drop = 1
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_notes(NOTES)
    assert embedder.status().state == "down"
    assert isinstance(embedder.embed_notes(NOTES)[0], EmbeddedNote)
    assert embedder.status().state == "ready"


def test_slow(server: OllamaServer) -> None:
    """A request over its time limit is unavailability."""
    server.script.delay_s = 0.6
    embedder = OllamaEmbedder(EmbedderSettings(host=server.url, timeout_s=0.2))
    with pytest.raises(EmbedderUnavailable, match="in time"):
        embedder.embed_query("valve")
    embedder.close()


def test_dead(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A server that is gone is unavailable with the command that starts it; when it is back, so is the work."""
    embedder.embed_notes(NOTES)
    server.stop()
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed_notes(NOTES)
    assert caught.value.hint == "ollama serve"
    assert embedder.status().state == "down"
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_query("valve")
    server.start()
    assert isinstance(embedder.embed_notes(NOTES)[0], EmbeddedNote)
    assert embedder.status().state == "ready"


def test_model_missing(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A model that is not there is said so, with the command that fetches it."""
    server.models.clear()
    with pytest.raises(ModelMissing) as caught:
        embedder.embed_notes(NOTES)
    assert caught.value.hint == "ollama pull nomic-embed-text"
    assert embedder.status().state == "missing"
    assert embedder.status().hint == "ollama pull nomic-embed-text"


def test_model_removed_later(server: OllamaServer, settings: EmbedderSettings) -> None:
    """A model that is removed while in use is missing, not a fault of the notes."""
    embedder = OllamaEmbedder(settings)
    embedder.identity()
    server.models.clear()
    with pytest.raises(ModelMissing):
        embedder.embed_notes(NOTES)
    with pytest.raises(ModelMissing):
        embedder.embed_query("valve")
    embedder.close()


def test_something_else_on_the_port(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Another program on Ollama's port is told apart from a missing model."""
    server.script.garbage = True
    with pytest.raises(EmbedderUnavailable, match="does not behave like Ollama"):
        embedder.identity()


def test_not_an_address() -> None:
    """A host that is no address is unavailable, and the message names the setting."""
    embedder = OllamaEmbedder(EmbedderSettings(host="http://127.0.0.1:ninety"))
    with pytest.raises(EmbedderUnavailable, match=r"embedder\.host"):
        embedder.identity()


def test_a_port_that_never_answers() -> None:
    """A program that accepts and stays silent costs the time limit, no more."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"http://127.0.0.1:{silent.getsockname()[1]}"
        embedder = OllamaEmbedder(EmbedderSettings(host=host, timeout_s=0.2))
        with pytest.raises(EmbedderUnavailable, match="in time"):
            embedder.identity()
        embedder.close()


def test_a_query_that_cannot_be_embedded(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A query the model fails on is an error of that query, and the embedder stays ready."""
    server.script.poison["poison"] = "nan"
    with pytest.raises(BadVectors):
        embedder.embed_query("poison")
    assert embedder.status().state == "ready"
