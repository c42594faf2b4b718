"""Which embedder is chosen, and what that costs to import."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

import vaultrag.embedding
from tests.support.ollama_server import OllamaServer
from vaultrag.config import EmbedderSettings
from vaultrag.domain import Identity
from vaultrag.embedding.builtin import BuiltinEmbedder
from vaultrag.embedding.ollama import OllamaEmbedder
from vaultrag.embedding.registry import better, choose

BUILTIN = Identity("builtin", "all-MiniLM-L6-v2-int8", "8199be6f699a", 384)
OLLAMA = Identity("ollama", "nomic-embed-text", "0a109f422b47", 768)
NOWHERE = EmbedderSettings(host="http://127.0.0.1:1")


def test_off() -> None:
    """Off is no embedder, whatever the index records."""
    assert choose(EmbedderSettings(provider="off"), OLLAMA) is None


def test_auto_takes_ollama(settings: EmbedderSettings) -> None:
    """Without an index, Ollama is taken where it answers and has the model."""
    assert isinstance(choose(settings, None), OllamaEmbedder)


def test_auto_without_the_model(server: OllamaServer, settings: EmbedderSettings) -> None:
    """An Ollama without the model is no choice."""
    server.models.clear()
    assert isinstance(choose(settings, None), BuiltinEmbedder)


def test_auto_without_ollama() -> None:
    """Where nothing answers, the builtin model serves."""
    assert isinstance(choose(NOWHERE, None), BuiltinEmbedder)


def test_auto_with_another_program_there(server: OllamaServer, settings: EmbedderSettings) -> None:
    """Another program on Ollama's port is not taken for Ollama."""
    server.script.garbage = True
    assert isinstance(choose(settings, None), BuiltinEmbedder)


def test_auto_with_a_bad_address() -> None:
    """A host that is no address leaves the builtin model."""
    assert isinstance(choose(EmbedderSettings(host="http://127.0.0.1:ninety"), None), BuiltinEmbedder)


def test_never_switched_in_silence(server: OllamaServer, settings: EmbedderSettings) -> None:
    """An index stays with its provider, whether Ollama appears or goes away, and nobody is asked."""
    assert isinstance(choose(settings, BUILTIN), BuiltinEmbedder)
    assert isinstance(choose(NOWHERE, OLLAMA), OllamaEmbedder)
    assert not server.calls


def test_the_settings_decide(settings: EmbedderSettings) -> None:
    """A provider that is named is taken, though the index records another."""
    assert isinstance(choose(replace(settings, provider="ollama"), BUILTIN), OllamaEmbedder)
    assert isinstance(choose(replace(settings, provider="builtin"), OLLAMA), BuiltinEmbedder)


def test_better_is_ready(settings: EmbedderSettings) -> None:
    """Where Ollama has the model and the index is builtin, the command that changes over is told."""
    assert better(settings, "builtin").endswith("vaultrag reindex")


def test_better_must_be_pulled(server: OllamaServer, settings: EmbedderSettings) -> None:
    """Where only the model is missing, the command that fetches it is told."""
    server.models.clear()
    assert better(settings, "builtin").endswith("ollama pull nomic-embed-text")


def test_nothing_better(settings: EmbedderSettings) -> None:
    """No advice for who has Ollama, cannot have it, or has decided."""
    assert better(settings, "ollama") == ""
    assert better(settings, "") == ""
    assert better(NOWHERE, "builtin") == ""
    assert better(replace(settings, provider="builtin"), "builtin") == ""


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import vaultrag.embedding.registry", {"numpy", "onnxruntime", "tokenizers", "ollama", "httpx"}),
        ("from vaultrag.embedding import choose, better", {"numpy", "onnxruntime", "tokenizers", "ollama", "httpx"}),
        (
            "from vaultrag.embedding import BuiltinEmbedder; BuiltinEmbedder().identity()",
            {"onnxruntime", "ollama", "httpx"},
        ),
        ("from vaultrag.embedding import OllamaEmbedder", {"onnxruntime", "tokenizers"}),
        (
            (
                "import vaultrag.embedding as e, vaultrag.config as c;"
                " e.choose(c.EmbedderSettings(host='127.0.0.1:1'), None)"
            ),
            {"onnxruntime", "tokenizers", "ollama", "httpx"},
        ),
    ],
)
def test_imports_are_lazy(code: str, forbidden: set[str]) -> None:
    """Libraries are imported by the embedder that needs them, not by asking which one that is."""
    report = f"{code}; import sys; print(*sorted({forbidden!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_names_of_the_package() -> None:
    """The package gives its four names, and an AttributeError for others."""
    assert vaultrag.embedding.BuiltinEmbedder is BuiltinEmbedder
    with pytest.raises(AttributeError):
        vaultrag.embedding.NoSuchThing  # noqa: B018
