"""Other ways to find notes, asked the same queries in the same run. Each is as its own users have it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.bench.plain import LIMIT
from tests.bench.stage import Stage

__all__ = ["LIMIT", "Ask", "CannotRun", "Peer", "all_peers"]

Ask = Callable[[str], int]
"""A query in, the number of results out."""


class CannotRun(Exception):
    """The peer cannot be measured here; the message says why, and what would help."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Attributes:
    what: What of it is measured, where that is not all of it.
    here: It runs in this process, so that this process's time is its own.
    """

    name: str
    open: Callable[[Stage], AbstractContextManager[Ask]]
    what: str = ""
    here: bool = False


def all_peers() -> tuple[Peer, ...]:
    """Every peer, the plain tables first."""
    from tests.bench.peers import basic_memory, qmd, ripgrep, tables, vstash

    return (*tables.PEERS, ripgrep.PEER, vstash.PEER, qmd.PEER, basic_memory.PEER)
