"""Results kept for short texts: while a query is typed, the same notes are read and shown at every key."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

Result = TypeVar("Result")

KEPT = 256
LONGEST = 16 << 10
"""Characters or bytes of a text whose result is kept, so that all of them take some megabytes at most."""


def cached_if_short(function: Callable[..., Result]) -> Callable[..., Result]:
    """Keep the last results of a pure function whose first parameter is a text. They must not be changed."""
    kept = lru_cache(KEPT)(function)

    def call(text: str | bytes, *args: Any) -> Result:
        return (kept if len(text) <= LONGEST else function)(text, *args)

    return call
