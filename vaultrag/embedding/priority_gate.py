"""Queries go first: no work on notes is begun while somebody waits for an answer, or for the vector of a query.

A query never waits here, not even for the batch that is under way (the model takes both at once). Batches are small,
so the model, and the processor, are a query's own within one batch. Batches of notes go one at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_WAIT_S = 2.0
"""A batch waits no longer than this: someone who types without a pause must not stop the indexing."""


class PriorityGate:
    """Two kinds of entry, ``query`` and ``notes``, for use in a ``with`` statement."""

    def __init__(self, longest_wait_s: float = LONGEST_WAIT_S) -> None:
        self._longest_wait_s = longest_wait_s
        self._quiet = threading.Condition()
        self._queries = 0
        self._batch = threading.Lock()

    @contextmanager
    def query(self) -> Iterator[None]:
        """Enter at once."""
        with self._quiet:
            self._queries += 1
        try:
            yield
        finally:
            with self._quiet:
                self._queries -= 1
                self._quiet.notify_all()

    @contextmanager
    def notes(self) -> Iterator[None]:
        """Enter when no other batch and no query is inside, or when the wait has been long enough."""
        with self._batch:
            self.yield_to_queries()
            yield

    def yield_to_queries(self) -> None:
        """Wait until no query is inside, or until the wait has been long enough."""
        with self._quiet:
            self._quiet.wait_for(lambda: self._queries == 0, timeout=self._longest_wait_s)
