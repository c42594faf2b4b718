"""The Ollama adapter when all is well: prefixes, windows, identity, caches, downloads."""

from __future__ import annotations

import threading

import pytest

from tests.support.ollama_server import MODEL, Model, OllamaServer
from vaultrag.config import EmbedderSettings
from vaultrag.domain import EmbeddedNote, EmbedProblem, NoteText
from vaultrag.embedding.model_input import PASSAGE_TOKENS, estimate_tokens
from vaultrag.embedding.ollama import OllamaEmbedder
from vaultrag.errors import EmbedderUnavailable, ModelMissing

NOTE = NoteText("Pump", "Close the valve.")


def test_creating_asks_nothing(server: OllamaServer, settings: EmbedderSettings) -> None:
    """Creating an embedder, and asking for its status, makes no request."""
    embedder = OllamaEmbedder(settings)
    assert embedder.status().state == "loading"
    assert not server.calls


def test_nomic_prefixes(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Notes and queries go out with the prefixes nomic-embed-text was trained with, and these are in the identity."""
    embedder.embed_notes([NOTE])
    embedder.embed_query("valve")
    assert server.inputs == ["search_document: Pump\nClose the valve.", "search_query: valve"]
    assert embedder.identity().document_prefix == "search_document: "
    assert embedder.identity().query_prefix == "search_query: "


def test_settings_override_prefixes(server: OllamaServer) -> None:
    """Prefixes from the settings win, an empty one included."""
    embedder = OllamaEmbedder(EmbedderSettings(host=server.url, document_prefix="", query_prefix="q: "))
    embedder.embed_notes([NOTE])
    embedder.embed_query("valve")
    embedder.close()
    assert server.inputs == ["Pump\nClose the valve.", "q: valve"]


def test_requests_never_truncate(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Every request forbids the server to cut, and says how long to keep the model."""
    embedder.embed_notes([NOTE])
    embedder.embed_query("valve")
    assert [body["truncate"] for body in server.bodies] == [False, False]
    assert [body["keep_alive"] for body in server.bodies] == ["30m", "30m"]


def test_keep_alive_as_a_number(server: OllamaServer) -> None:
    """A number of seconds goes out as a number; the server takes no number in quotes."""
    embedder = OllamaEmbedder(EmbedderSettings(host=server.url, keep_alive="-1"))
    embedder.embed_query("valve")
    embedder.close()
    assert server.bodies[0]["keep_alive"] == -1


def test_small_batches(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """No request carries more than eight texts, and long texts travel in fewer."""
    embedder.embed_notes([NoteText(f"Note {n}", "word " * 5) for n in range(30)])
    assert [len(body["input"]) for body in server.bodies] == [8, 8, 8, 6]
    server.bodies.clear()
    embedder.embed_notes([NoteText(f"Note {n}", "valve seat " * 320) for n in range(4)])
    assert max(len(body["input"]) for body in server.bodies) <= 3


def test_one_request_within_the_window(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A note that fits the window goes in whole."""
    embedder.embed_notes([NoteText("Pump", "Close the valve. " * 200)])
    assert len(server.inputs) == 1


def test_windows_beyond_it(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A longer note goes in windows, each with prefix and title, and is covered whole without one refusal."""
    text = "\n\n".join(f"Paragraph {n} tells of pressure and flow in the upper tank." for n in range(600))
    (note,) = embedder.embed_notes([NoteText("Pump", text)])
    assert isinstance(note, EmbeddedNote)
    assert note.covered == 1.0
    assert len(server.inputs) > 3
    assert all(text.startswith("search_document: Pump\n") for text in server.inputs)
    sent = " ".join(text.removeprefix("search_document: Pump\n") for text in server.inputs)
    assert sent.split() == text.split()


def test_passages(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Passages are whole sentences within their budget, title in front, and go out as documents, eight at a time."""
    text = "\n".join(f"Sentence {n} tells of the pressure in the upper tank." for n in range(60))
    cut = embedder.cut(NoteText("Pump", text))
    assert not server.calls
    assert all(passage.text.startswith("Pump: Sentence ") and passage.text.endswith("tank.") for passage in cut)
    assert all(estimate_tokens(passage.text) <= PASSAGE_TOKENS for passage in cut)
    assert [cut[0].start_line, cut[-1].end_line] == [0, 59]
    vectors = embedder.embed_passages([passage.text for passage in cut])
    assert len(vectors) == len(cut)
    assert server.inputs == [f"search_document: {passage.text}" for passage in cut]
    assert max(len(body["input"]) for body in server.bodies) == 8


def test_long_titles_in_passages(embedder: OllamaEmbedder) -> None:
    """Of a long title a passage carries the start, of a title of one long word as well."""
    for title in ("a title of many words " * 20, "x" * 3000, "題" * 300):
        (passage,) = embedder.cut(NoteText(title, "Close the valve."))
        assert passage.text[0] == title[0]
        assert passage.text.endswith(": Close the valve.")
        assert estimate_tokens(passage.text) <= PASSAGE_TOKENS


def test_a_bad_passage(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A passage that the server refuses is a problem of its own; its neighbours are embedded."""
    server.script.poison = {"venom": "nan"}
    results = embedder.embed_passages(["one", "venom", "three"])
    assert [isinstance(result, EmbedProblem) for result in results] == [False, True, False]


def test_passages_are_in_the_identity(embedder: OllamaEmbedder) -> None:
    """How passages are cut is part of what makes two indexes comparable."""
    assert f"passages of {PASSAGE_TOKENS} tokens" in embedder.identity().windows


def test_the_models_own_window(server: OllamaServer) -> None:
    """A model with a smaller window gets smaller windows; a larger one is not trusted beyond the plan."""
    server.models["mxbai-embed-large:latest"] = Model(1024, 512, architecture="bert", parameters="")
    server.models["bge-m3:latest"] = Model(1024, 8192, architecture="bert", parameters="")
    note = NoteText("Pump", "Close the valve. " * 800)
    sizes = {}
    for model in ("mxbai-embed-large", "bge-m3"):
        embedder = OllamaEmbedder(EmbedderSettings(host=server.url, model=model))
        server.inputs.clear()
        (result,) = embedder.embed_notes([note])
        embedder.close()
        assert isinstance(result, EmbeddedNote)
        assert result.covered == 1.0
        assert result.vector.shape == (1024,)
        sizes[model] = max(map(len, server.inputs))
    assert sizes["mxbai-embed-large"] < 1500 < sizes["bge-m3"] < 6000


def test_num_ctx_bounds_the_window(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A model file that sets a smaller num_ctx is believed."""
    server.models[MODEL].parameters = 'stop    "x"\nnum_ctx                        256'
    embedder.embed_notes([NoteText("Pump", "Close the valve. " * 200)])
    assert max(map(len, server.inputs)) < 900


def test_a_tremendous_note_is_sampled(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Beyond 256 windows the note is sampled from end to end, and the share covered is told."""
    server.models[MODEL].context_length = 64
    (note,) = embedder.embed_notes([NoteText("Log", "The pump ran well all day long. " * 1800 + "giraffe " * 60)])
    assert isinstance(note, EmbeddedNote)
    assert 0.2 < note.covered < 0.9
    assert len(server.inputs) == 256
    assert any("giraffe" in text for text in server.inputs[-10:])


def test_identity(embedder: OllamaEmbedder) -> None:
    """Name, twelve digits of the digest and the dimension come from the server, without asking the model."""
    identity = embedder.identity()
    assert (identity.provider, identity.model) == ("ollama", "nomic-embed-text")
    assert (identity.digest, identity.dimension) == ("0a109f422b47", 768)


def test_identity_asks_no_model(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Start-up with nothing to embed costs no model call."""
    embedder.identity()
    assert server.calls == {"/api/tags": 1, "/api/show": 1}


def test_unknown_dimension_is_probed(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Where the server does not tell the dimension, one short text is embedded to see it."""
    server.script.hide_dimension = True
    assert embedder.identity().dimension == 768
    assert server.calls["/api/embed"] == 1


def test_new_digest_is_noticed(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Another model under the same name makes another identity, and old query vectors are not served."""
    before = embedder.identity()
    embedder.embed_query("valve")
    server.models[MODEL].digest = "f" * 64
    after = embedder.identity()
    assert after.digest == "f" * 12
    assert after.key != before.key
    embedder.embed_query("valve")
    assert len(server.inputs) == 2


def test_identity_is_not_asked_all_the_time(server: OllamaServer, settings: EmbedderSettings) -> None:
    """Within the refresh time the known identity is given; after it the server is asked."""
    now = 100.0
    embedder = OllamaEmbedder(settings, refresh_s=10.0, clock=lambda: now)
    for _ in range(5):
        embedder.identity()
    assert server.calls["/api/tags"] == 1
    now = 111.0
    embedder.identity()
    embedder.close()
    assert server.calls == {"/api/tags": 2, "/api/show": 1}


@pytest.mark.parametrize("name", ["nomic-embed-text:latest", "Nomic-Embed-Text", "nomic-embed-text"])
def test_names_with_and_without_tag(server: OllamaServer, name: str) -> None:
    """The model is found by its name with and without the tag, in any case."""
    embedder = OllamaEmbedder(EmbedderSettings(host=server.url, model=name))
    assert embedder.identity().digest == "0a109f422b47"
    embedder.close()


def test_queries_are_remembered(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """The same query asks the model once, and its vector cannot be changed by who gets it."""
    first = embedder.embed_query("valve seat")
    again = embedder.embed_query(" valve seat ")
    assert (first == again).all()
    assert len(server.inputs) == 1
    with pytest.raises(ValueError):
        first[0] = 1.0


def test_a_long_query(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A pasted page as a query is answered."""
    assert embedder.embed_query("0123456789 " * 2000).shape == (768,)


def test_proxies_are_left_out(monkeypatch: pytest.MonkeyPatch, embedder: OllamaEmbedder) -> None:
    """A proxy in the environment sees nothing of what goes to this machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert embedder.embed_query("valve").shape == (768,)


def test_warm_loads_and_embeds_nothing(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Warming up sends no text."""
    embedder.warm()
    assert server.calls == {"/api/embed": 1}
    assert server.inputs == []


def test_pull(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """A missing model can be fetched, with progress in bytes, and works at once."""
    server.models.clear()
    with pytest.raises(ModelMissing):
        embedder.identity()
    steps: list[tuple[str, int, int]] = []
    embedder.pull(lambda *step: steps.append(step))
    assert steps[0] == ("pulling manifest", 0, 0)
    assert ("pulling 0a109f422b47", 200_000_000, 274_290_656) in steps
    assert steps[-1][0] == "success"
    assert embedder.embed_query("valve").shape == (768,)
    assert embedder.status().state == "ready"


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("pull model manifest: file does not exist", ModelMissing),
        ('max retries exceeded: Get "https://registry.ollama.ai": no such host', EmbedderUnavailable),
    ],
)
def test_pull_fails(
    server: OllamaServer, embedder: OllamaEmbedder, message: str, error: type[EmbedderUnavailable | ModelMissing]
) -> None:
    """A download that fails says why: no such model, or no network."""
    server.script.pull_error = message
    with pytest.raises(error, match="could not download"):
        embedder.pull(lambda *_: None)


def test_status_never_waits(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """While a request hangs, the status is there at once."""
    server.script.delay_s = 0.5
    worker = threading.Thread(target=embedder.embed_query, args=("valve",))
    worker.start()
    while not server.inputs:
        worker.join(0.005)
    assert embedder.status().state == "ready"
    assert worker.is_alive()
    worker.join()


def test_threads_share_it(server: OllamaServer, embedder: OllamaEmbedder) -> None:
    """Queries and notes from many threads at once all get their answers."""
    done: list[int] = []

    def work(n: int) -> None:
        embedder.embed_query(f"query {n}")
        done.append(len(embedder.embed_notes([NoteText(f"Note {n}", "text")] * 3)))

    workers = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert done == [3] * 8
