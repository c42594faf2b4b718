"""Fixtures of the folders whose tests start daemons of their own; a conftest imports them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daemons import Home, OllamaProcess, daemon_home, ollama_process

__all__ = ["home", "ollama", "ollama_home"]


@pytest.fixture
def home() -> Iterator[Home]:
    """Make a home for one test's daemons: no embedder, a short debounce."""
    with daemon_home() as home:
        yield home


@pytest.fixture
def ollama() -> Iterator[OllamaProcess]:
    """Start a stand-in for Ollama."""
    with ollama_process() as server:
        yield server


@pytest.fixture
def ollama_home(ollama: OllamaProcess) -> Iterator[Home]:
    """Make a home whose daemon embeds through ``ollama``."""
    with daemon_home(ollama.settings) as home:
        yield home
