"""A home of its own for each test's daemons."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daemons import Home, OllamaProcess, daemon_home, ollama_process


@pytest.fixture
def home() -> Iterator[Home]:
    """Settings: no embedder, a short debounce."""
    with daemon_home() as home:
        yield home


@pytest.fixture
def ollama() -> Iterator[OllamaProcess]:
    with ollama_process() as server:
        yield server


@pytest.fixture
def ollama_home(ollama: OllamaProcess) -> Iterator[Home]:
    """A home whose daemon embeds through ``ollama``."""
    with daemon_home(ollama.settings) as home:
        yield home
