"""Which model reads a query's language. Pure."""

from __future__ import annotations

from vaultrag.text.language import is_english

ENGLISH_ONLY = ("all-MiniLM-L6-v2-int8",)
"""Models whose cosines say (nearly) nothing about text in other languages."""


def is_foreign(text: str, mostly_foreign: bool = False) -> bool:
    """Tell whether a query is in another language than English.

    Args:
        text: The query.
        mostly_foreign: Whether most notes are: a query that could be of any language is then of theirs.
    """
    english = is_english(text)
    return mostly_foreign if english is None else not english


def readable(model: str, text: str) -> float:
    """Tell how well a model reads a text's language: 1, or 0 for what it was not trained on."""
    return 0.0 if model in ENGLISH_ONLY and is_english(text) is False else 1.0
