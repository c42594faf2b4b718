"""Work that another thread may take a part of, and that is all done here where none does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from typing import TypeVar

Job = TypeVar("Job")


def shared(
    beside: Executor, jobs: Iterable[Job], here: Callable[[Iterator[Job]], None], there: Callable[[Iterator[Job]], None]
) -> None:
    """Have two threads take one job after the other, until none is left.

    Args:
        beside: Threads one of which may help; one that is busy all the while, or closed, is not waited for.
        jobs: Each is taken once.
        here: Does those that it takes, in this thread.
        there: The same for the other thread. It may take none.
    """
    left = deque(jobs)
    try:
        other = beside.submit(there, _taken(left))
    except RuntimeError:  # closed: a vault's last answers still come to their end
        here(_taken(left))
        return
    here(_taken(left))
    if not other.cancel():
        other.result()


def _taken(left: deque[Job]) -> Iterator[Job]:
    while left:
        try:
            yield left.popleft()
        except IndexError:  # the other thread was quicker
            return
