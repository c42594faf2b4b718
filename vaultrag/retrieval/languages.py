"""Which languages an embedding model reads. Pure."""

from __future__ import annotations

from vaultrag.notes.language import language_weight

ENGLISH_ONLY = ("all-MiniLM-L6-v2-int8",)
"""Models whose cosines say (nearly) nothing about text in other languages."""

FOREIGN = 0.6
"""A language weight from which a query is not English."""


def readable(model: str, text: str) -> float:
    """Tell how well a model reads a text's language: 1, or 0 for what it was not trained on."""
    return 0.0 if model in ENGLISH_ONLY and language_weight(text) >= FOREIGN else 1.0
