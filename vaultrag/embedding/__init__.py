"""Text into vectors: the adapters of ``ports.Embedder``.

``registry.choose`` picks one: ``BuiltinEmbedder`` (a small model in this process) or ``OllamaEmbedder`` (a model served
by a local Ollama). Names are imported when first used, so that commands which embed nothing load no model library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vaultrag.embedding.builtin import BuiltinEmbedder as BuiltinEmbedder
    from vaultrag.embedding.ollama import OllamaEmbedder as OllamaEmbedder
    from vaultrag.embedding.registry import better as better
    from vaultrag.embedding.registry import choose as choose

_HOMES = {"BuiltinEmbedder": "builtin", "OllamaEmbedder": "ollama", "better": "registry", "choose": "registry"}

__all__ = ["BuiltinEmbedder", "OllamaEmbedder", "better", "choose"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
