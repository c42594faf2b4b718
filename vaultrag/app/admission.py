"""Answers take turns at the processor: clients in turn, and each client's in the order in which they were asked for.

Python runs one thread at a time. Many that make answers at once hand the interpreter to and fro, at every statement of
SQLite's and every product of two matrices, and all of them together get half as much done as two would. An answer
that waits for a model holds no turn; when it goes on, it comes before whatever was asked for after it.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from vaultrag.app.fair_queue import FairQueue, Position


class Admission:
    """So many at once. Callable from any thread."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: list[tuple[Position, threading.Event]] = []
        self._order = FairQueue()
        self._lock = threading.Lock()

    @property
    def all_taken(self) -> bool:
        """Return True while the limit is reached."""
        return not self._free

    def ticket(self) -> Position:
        """Draw one before the first turn, for all turns of one answer."""
        with self._lock:
            return self._order.position()

    @contextmanager
    def turn(self, ticket: Position) -> Iterator[None]:
        """Enter when it is this ticket's turn: the lowest of those that wait comes first."""
        called = None
        with self._lock:
            if self._free:
                self._free -= 1
                self._order.begin(ticket)
            else:
                called = threading.Event()
                heapq.heappush(self._waiting, (ticket, called))
        if called is not None:
            called.wait()
        try:
            yield
        finally:
            with self._lock:
                if self._waiting:
                    following, called = heapq.heappop(self._waiting)
                    self._order.begin(following)
                    called.set()
                else:
                    self._free += 1
