"""Work that another thread may take half of, and that is done here where none does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

First = TypeVar("First")
Second = TypeVar("Second")


def both(beside: Executor, first: Callable[[], First], second: Callable[[], Second]) -> tuple[First, Second]:
    """Do both, the second in one of these threads unless they are busy for as long as the first takes, or closed."""
    try:
        other = beside.submit(second)
    except RuntimeError:  # closed: a vault's last answers still come to their end
        return first(), second()
    mine = first()
    return mine, second() if other.cancel() else other.result()
