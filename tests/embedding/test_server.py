"""The stand-in for Ollama: what it answers as a process, to a plain HTTP client."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.ollama_server import OllamaServer, hashed_vector


def ask(url: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=5) as answer:
        return json.loads(answer.read())


@pytest.fixture
def process() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.support.ollama_server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        yield f"http://127.0.0.1:{int(started.stdout.readline())}"
        started.terminate()


def test_as_a_process(process: str) -> None:
    """It prints its port, serves, obeys a script from outside and tells what it was asked."""
    assert ask(f"{process}/api/version") == {"version": "0.13.5"}
    request = {"model": "nomic-embed-text", "input": ["one", "two"]}
    answer = ask(f"{process}/api/embed", request)
    assert [len(vector) for vector in answer["embeddings"]] == [768, 768]
    ask(f"{process}/_script", {"fail": [500], "digest": "e" * 64})
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(f"{process}/api/embed", request)
    assert caught.value.code == 500
    caught.value.close()
    assert ask(f"{process}/api/tags")["models"][0]["digest"] == "e" * 64
    report = ask(f"{process}/_script")
    assert report["calls"]["/api/embed"] == 2
    assert report["inputs"] == ["one", "two", "one", "two"]


def test_an_unknown_fault(server: OllamaServer) -> None:
    """A script with a misspelt fault is refused."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(f"{server.url}/_script", {"fial": [500]})
    caught.value.close()


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("/api/embed", {"model": "x", "input": "a"}, 404, 'model "x" not found, try pulling it first'),
        ("/api/show", {"model": "x"}, 404, "model 'x' not found"),
        ("/api/embed", {"model": "nomic-embed-text", "input": [1]}, 400, "invalid input type"),
        (
            "/api/embed",
            {"model": "nomic-embed-text", "input": "1 " * 2048},
            400,
            "the input length exceeds the context length",
        ),
    ],
)
def test_errors(server: OllamaServer, path: str, body: object, status: int, error: str) -> None:
    """Errors have Ollama's status and words."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(server.url + path, body)
    assert caught.value.code == status
    assert json.loads(caught.value.read()) == {"error": error}
    caught.value.close()


def test_vectors_follow_the_words() -> None:
    """Texts that share words are near, the prefix is no word, and the vectors are the same in every process."""
    first = hashed_vector("search_document: replace the seal", 768)
    near = hashed_vector("search_query: seal replace", 768)
    far = hashed_vector("search_query: bread oven", 768)
    assert sum(a * b for a, b in zip(first, near, strict=True)) > 0.8
    assert abs(sum(a * b for a, b in zip(first, far, strict=True))) < 0.3
