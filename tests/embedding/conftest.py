"""The server, settings that lead to it, and note texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.ollama_server import OllamaServer
from vaultrag.config import EmbedderSettings
from vaultrag.embedding.ollama import OllamaEmbedder


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as server:
        yield server


@pytest.fixture
def settings(server: OllamaServer) -> EmbedderSettings:
    return EmbedderSettings(host=server.url, timeout_s=5.0)


@pytest.fixture
def embedder(settings: EmbedderSettings) -> Iterator[OllamaEmbedder]:
    embedder = OllamaEmbedder(settings, refresh_s=0.0)
    yield embedder
    embedder.close()
