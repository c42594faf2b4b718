"""A few threads that run methods, and that never hold up the end of the process.

The standard library's pool is waited for when Python ends, however long a call hangs on a server that does not answer.
These threads are daemons: what they do for a client is not worth waiting for once the client's connection is closed.

Clients take turns: one that sends a thousand requests at once delays another's request by one of its own.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from vaultrag.app.fair_queue import Client, FairQueue, Position, on_behalf_of

_Job = tuple[Position, Future[Any], Callable[[], Any]]


class Workers(Executor):
    """At most ``count`` threads, started as they are needed."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._jobs: list[_Job] = []  # a heap
        self._order = FairQueue()
        self._lock = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._waiting = 0  # threads with nothing to do
        self._closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run ``fn`` soon.

        Raises:
            RuntimeError: The workers are closed.
        """
        return self.submit_for(Client(), lambda: fn(*args, **kwargs))

    def submit_for(self, client: Client, call: Callable[[], Any]) -> Future[Any]:
        """Run ``call`` when it is the client's turn.

        Raises:
            RuntimeError: The workers are closed.
        """
        future: Future[Any] = Future()

        def charged() -> Any:
            with on_behalf_of(client):
                return call()

        with self._lock:
            if self._closed:
                raise RuntimeError("the workers are closed")
            heapq.heappush(self._jobs, (self._order.position(client), future, charged))
            self._lock.notify()
            if self._waiting:
                self._waiting -= 1
            elif len(self._threads) < self._count:
                name = f"{self._name}-{len(self._threads)}"
                thread = threading.Thread(target=self._work, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False, timeout_s: float = 1.0) -> None:
        """Take no more jobs.

        Args:
            wait: For the jobs at hand, at most ``timeout_s``.
            cancel_futures: Cancel those not begun.
            timeout_s: See ``wait``.
        """
        with self._lock:
            self._closed = True
            if cancel_futures:
                for _, future, _ in self._jobs:
                    future.cancel()
                self._jobs.clear()
            self._lock.notify_all()
        if wait:
            for thread in self._threads:
                thread.join(timeout_s)

    def _take(self) -> _Job | None:
        """Wait for the next job; None when the workers are closed and nothing is left."""
        with self._lock:
            while not self._jobs:
                if self._closed:
                    return None
                self._lock.wait()
            job = heapq.heappop(self._jobs)
            self._order.begin(job[0])
            return job

    def _work(self) -> None:
        while (job := self._take()) is not None:
            _, future, call = job
            if future.set_running_or_notify_cancel():
                try:
                    result = call()
                except BaseException as error:
                    self._free()
                    future.set_exception(error)
                else:
                    self._free()
                    future.set_result(result)
                    del result
            else:
                self._free()
            del job, future, call  # an idle thread keeps no answer alive

    def _free(self) -> None:
        """Mark this thread as free. Done before the answer is out, so that its receiver finds a free thread."""
        with self._lock:
            self._waiting += 1
