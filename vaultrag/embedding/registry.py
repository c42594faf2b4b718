"""Which embedder is used. Nothing heavy is imported here: an embedder's module is, when it is chosen.

An index belongs to one embedder. ``auto`` decides once, when there is no index yet; afterwards what the index records
decides, whether or not Ollama happens to run at the moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultrag.address import is_loopback, listening
from vaultrag.errors import EmbedderUnavailable, EmbedError, ModelMissing

if TYPE_CHECKING:
    from vaultrag.config import EmbedderSettings
    from vaultrag.domain import Identity
    from vaultrag.protocols import Embedder

PROBE_S = 1.0


def choose(settings: EmbedderSettings, recorded: Identity | None) -> Embedder | None:
    """Return the embedder for these settings and this index.

    Args:
        recorded: The identity the index was built under; None when there is no index yet.

    Returns:
        None when meaning search is off. With ``auto`` and no index this asks Ollama and may take a second.
    """
    provider: str = settings.provider
    if provider == "auto":
        provider = recorded.provider if recorded else ""
        if provider not in ("ollama", "builtin"):
            provider = "ollama" if not trouble_with_ollama(settings) else "builtin"
    if provider == "off":
        return None
    if provider == "ollama":
        from vaultrag.embedding.ollama import OllamaEmbedder

        return OllamaEmbedder(settings)
    if settings.builtin == "english":
        from vaultrag.embedding.builtin import BuiltinEmbedder

        return BuiltinEmbedder(idle_unload_s=settings.idle_unload_s)
    from vaultrag.embedding.multilingual import MultilingualEmbedder

    return MultilingualEmbedder(idle_unload_s=settings.idle_unload_s)


def better(settings: EmbedderSettings, in_use: str) -> str:
    """Return what would be better than the embedder in use, and the one command for it. May take a second.

    Args:
        in_use: The provider: ``ollama``, ``builtin``, or empty for none.

    Returns:
        A sentence that ends in a command; empty when there is nothing to gain or the settings want it so.
    """
    if in_use != "builtin" or settings.provider != "auto":
        return ""
    trouble = trouble_with_ollama(settings)
    if trouble is None:
        return (
            f'Ollama has {settings.model}, which reads a note whole; to change over, set provider = "ollama" under '
            "[embedder] and run: vaultrag reindex"
        )
    if isinstance(trouble, ModelMissing):
        return f"Ollama is running without {settings.model}, which reads a note whole; get it with: {trouble.hint}"
    return ""


def trouble_with_ollama(settings: EmbedderSettings) -> EmbedError | None:
    """Return why Ollama cannot be used, if it cannot: it does not answer, or has no such model. May take a second."""
    # The client's libraries take 0.3 s and 25 MB: only where somebody is there to talk to. A server elsewhere may be
    # behind a proxy, which only the client knows.
    if _is_here(settings.host) and not listening(settings.host, PROBE_S):
        return EmbedderUnavailable(f"Ollama does not answer at {settings.host}", hint="ollama serve")
    from vaultrag.embedding.ollama_api import OllamaApi

    api = OllamaApi.of(settings, timeout_s=PROBE_S)
    try:
        api.digest()
    except EmbedError as error:
        return error
    finally:
        api.close()
    return None


def _is_here(host: str) -> bool:
    try:
        return is_loopback(host)
    except ValueError:
        return True
