"""A few threads that run methods, and that never hold up the end of the process.

The standard library's pool is waited for when Python ends, however long a call hangs on a server that does not answer.
These threads are daemons: what they do for a client is not worth waiting for once the client's connection is closed.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

_Job = tuple[Future[Any], Callable[[], Any]]


class Workers(Executor):
    """At most ``count`` threads, started as they are needed."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._waiting = 0  # threads with nothing to do
        self._closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run ``fn`` soon.

        Raises:
            RuntimeError: The workers are closed.
        """
        future: Future[Any] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the workers are closed")
            self._jobs.put((future, lambda: fn(*args, **kwargs)))
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
                self._drop()
            for _ in self._threads:
                self._jobs.put(None)
        if wait:
            for thread in self._threads:
                thread.join(timeout_s)

    def _drop(self) -> None:
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return
            if job is not None:
                job[0].cancel()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, call = job
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
        """This thread can take the next job; said before the answer is out, so that who has it finds a free thread."""
        with self._lock:
            self._waiting += 1
