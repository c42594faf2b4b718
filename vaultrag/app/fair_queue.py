"""Fair queueing: each client's work is ordered by how much it has asked for, not by when it asked.

Start-time fair queueing with work of one size. A client that was idle is placed at the work begun last; one that sends
many requests at once is placed one step further back with each, so that an idle client's request is behind at most one
request of every other client. Nobody starves: positions only grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from weakref import WeakKeyDictionary

Position = tuple[int, int]
"""The lowest comes first: a step, and the order of arrival within it."""


class Client:
    """Whoever shares the processor with others: one connection."""


_client: ContextVar[Client | None] = ContextVar("client", default=None)


@contextmanager
def on_behalf_of(client: Client) -> Iterator[None]:
    """Charge what this thread asks for to ``client``."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


class FairQueue:
    """Gives out positions. The owner holds a lock while it calls."""

    def __init__(self) -> None:
        self._step = 0
        self._next_step: WeakKeyDictionary[Client, int] = WeakKeyDictionary()
        self._arrivals = count()

    def position(self, client: Client | None = None) -> Position:
        """Return the place of one more request of ``client``; by default, of the client this thread works for."""
        client = client or _client.get() or Client()
        step = max(self._step, self._next_step.get(client, 0))
        self._next_step[client] = step + 1
        return step, next(self._arrivals)

    def begin(self, position: Position) -> None:
        """Note that the request at ``position`` is being worked on."""
        self._step = max(self._step, position[0])
