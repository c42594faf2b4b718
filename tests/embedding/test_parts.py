"""The small parts: pooling, estimates, cutting, addresses, the gate, the cache."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.address import is_loopback, listening, split_host
from vaultrag.domain import NoteText
from vaultrag.embedding.batch_splitter import MAX_BATCH, MAX_BATCH_TOKENS, batches
from vaultrag.embedding.model_input import Piece, cut_in_two, estimate_tokens, note_pieces, prefixes, sendable
from vaultrag.embedding.ollama_api import OllamaApi
from vaultrag.embedding.pooling import checked, normalise, weighted_mean
from vaultrag.embedding.priority_gate import PriorityGate
from vaultrag.embedding.query_cache import QueryCache
from vaultrag.errors import BadVectors


def test_normalise() -> None:
    """Rows come out with length one, also from very large values."""
    rows = normalise([[3.0, 4.0], [1e30, 0.0]])
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8], [1.0, 0.0]])


@pytest.mark.parametrize("bad", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [1e-9, 0.0]])
def test_no_direction(bad: list[float]) -> None:
    """Zero and non-finite vectors are refused."""
    with pytest.raises(BadVectors):
        normalise([[1.0, 0.0], bad])


@pytest.mark.parametrize(
    ("rows", "count", "dimension"),
    [
        ([[1.0, 0.0]], 2, 2),
        ([[1.0, 0.0], [1.0, 0.0]], 1, 2),
        ([], 1, 2),
        ([[1.0, 0.0]], 1, 3),
        ([[1.0, 0.0], [1.0]], 2, 0),
        ([[]], 1, 0),
    ],
)
def test_checked_refuses(rows: list[list[float]], count: int, dimension: int) -> None:
    """A wrong count, a wrong dimension and rows of different length are refused."""
    with pytest.raises(BadVectors):
        checked(rows, count, dimension)


def test_checked_takes_nothing_for_nothing() -> None:
    """No vectors to no texts is right."""
    assert len(checked([], 0, 768)) == 0


def test_weighted_mean() -> None:
    """The mean leans to the heavier row and has length one; rows that cancel out are refused."""
    rows = normalise([[1.0, 0.0], [0.0, 1.0]])
    assert np.allclose(weighted_mean(rows), [0.7071, 0.7071], atol=1e-4)
    assert weighted_mean(rows, [3.0, 1.0])[0] > 0.9
    with pytest.raises(BadVectors):
        weighted_mean(normalise([[1.0, 0.0], [-1.0, 0.0]]))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("The pump in the upper tank runs all day. " * 10, 100, 200),
        ("0123456789" * 10, 100, 101),
        ("水位が下がったらポンプを止める" * 10, 150, 151),
        ("펌프를 고쳤다" * 10, 180, 181),
        ("|---|---|", 9, 10),
        (" \n\t", 0, 1),
        ("", 0, 1),
    ],
)
def test_estimate(text: str, low: int, high: int) -> None:
    """Prose costs about 2.8 letters a token; digits, signs and ideographs one each, Hangul three."""
    assert low <= estimate_tokens(text) <= high


@pytest.mark.model
@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog, and then it sleeps. " * 20,
        "Grundwasserschutzgebietsverordnung und Trinkwasserversorgungsanlage. " * 20,
        "Ёлки стояли в снегу, а насос гудел. " * 20,
        "def read_level(self, tank_id: int) -> float: return self._cache[tank_id]\n" * 20,
        "2026-01-13 14:02:55 ERR-4471 0x7ffe flow=12.7 m3/h\n" * 20,
        "水位計の値が下がったら、手動でポンプを止める。" * 20,
        "상수도 펌프를 고쳤다. 내일 다시 본다. " * 20,
        "🚰🔧💧 " * 20,
    ],
)
def test_estimate_against_a_tokenizer(text: str) -> None:
    """The estimate is never under what the vocabulary of nomic-embed-text makes of a text, nor over four times it."""
    from vaultrag.embedding.onnx import MiniLM

    (real,) = MiniLM.load().count([text])
    assert real <= estimate_tokens(text) <= 4 * real + 2


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("nomic-embed-text", ("search_document: ", "search_query: ")),
        ("nomic-embed-text:v1.5", ("search_document: ", "search_query: ")),
        ("someone/nomic-embed-text-v2-moe", ("search_document: ", "search_query: ")),
        ("mxbai-embed-large:latest", ("", "Represent this sentence for searching relevant passages: ")),
        ("bge-m3", ("", "")),
    ],
)
def test_prefixes(model: str, expected: tuple[str, str]) -> None:
    """Each model gets the prefixes it was trained with, the others none."""
    assert prefixes(model) == expected
    assert prefixes(model, "a", "") == ("a", "")


@given(st.text(st.characters()))
def test_sendable(text: str) -> None:
    """Any text can be sent afterwards, and keeps its length."""
    made = sendable(text)
    assert len(made) == len(text)
    made.encode()
    assert "\0" not in made


@given(st.text(max_size=30), st.text("ab1 .\n水", max_size=4000), st.integers(40, 400))
def test_pieces_fit(title: str, text: str, window: int) -> None:
    """Pieces are within the window by the estimate, and together they hold every word of the note."""
    pieces = note_pieces(NoteText(title, text), "p: ", window + 120)
    assert all(estimate_tokens(piece.body) <= window + 120 for piece in pieces)
    assert bool(pieces) == bool(sendable(title).strip() or text.strip())
    if text.strip():
        assert "".join("".join(piece.body for piece in pieces).split()) == "".join(text.split())


@given(st.text(min_size=2))
def test_cut_in_two(text: str) -> None:
    """Two halves make the whole, and neither is empty."""
    left, right = cut_in_two(text)
    assert left + right == text
    assert left
    assert right


@given(st.lists(st.integers(0, 3000), max_size=40))
def test_batches(sizes: list[int]) -> None:
    """Batches take every piece once, in order, and stay small; one that is too large goes alone."""
    pieces = [Piece("", "1" * size) for size in sizes]
    slices = list(batches(pieces))
    assert [piece for part in slices for piece in pieces[part]] == pieces
    for part in slices:
        batch = pieces[part]
        assert 0 < len(batch) <= MAX_BATCH
        assert len(batch) == 1 or sum(estimate_tokens(piece.text) for piece in batch) <= MAX_BATCH_TOKENS


@pytest.mark.parametrize(
    ("host", "where", "here"),
    [
        ("http://127.0.0.1:11434", ("127.0.0.1", 11434), True),
        ("localhost", ("localhost", 11434), True),
        (":9000", ("127.0.0.1", 9000), True),
        ("0.0.0.0:11434", ("0.0.0.0", 11434), True),
        ("http://[::1]:1", ("::1", 1), True),
        ("https://example.org", ("example.org", 443), False),
        ("192.168.1.4", ("192.168.1.4", 11434), False),
    ],
)
def test_addresses(host: str, where: tuple[str, int], here: bool) -> None:
    """Addresses are read as the client reads them, and this machine is known by all its names."""
    assert split_host(host) == where
    assert is_loopback(host) is here


def test_nobody_listens() -> None:
    """An address that is none is one where nobody listens."""
    assert not listening("http://127.0.0.1:ninety", 0.1)


def test_a_host_elsewhere_may_use_a_proxy() -> None:
    """Only servers on this machine are kept from the environment's proxies."""
    for host, expected in (("http://example.org", True), ("http://localhost:1", False)):
        api = OllamaApi(host, "m")
        assert api._client(1.0)._client.trust_env is expected
        api.close()


def test_queries_go_first() -> None:
    """A batch of notes does not begin while a query is inside, and begins as soon as it has left."""
    gate = PriorityGate(longest_wait_s=30)
    order: list[str] = []
    waiting = threading.Event()

    def notes() -> None:
        waiting.set()
        with gate.notes():
            order.append("notes")

    worker = threading.Thread(target=notes)
    with gate.query(), gate.query():
        worker.start()
        waiting.wait(5)
        worker.join(0.05)
        order.append("query")
    worker.join(5)
    assert order == ["query", "notes"]


def test_notes_are_not_starved() -> None:
    """A query that never ends holds the notes up only so long."""
    gate = PriorityGate(longest_wait_s=0.01)
    with gate.query(), gate.notes():
        pass


def test_a_query_does_not_wait_for_notes() -> None:
    """A query goes in while a batch is under way."""
    gate = PriorityGate()
    with gate.notes(), gate.query():
        pass


def test_cache() -> None:
    """The least recently used query is forgotten first."""
    cache = QueryCache(size=2)
    vector = np.ones(2, dtype=np.float32)
    cache.put("a", vector)
    cache.put("b", vector)
    assert cache.get("a") is vector
    cache.put("c", vector)
    assert cache.get("b") is None
    assert cache.get("a") is vector
