"""Many hints into few looks: waits until a path is quiet, folds neighbours into their folder, stays small. Pure.

A path is *due* ``debounce_ms`` after its last event, or ``storm_ms`` after its first where it never is quiet. No
pending path covers another: a folder takes over what lies in it, and is never due later than ``storm_ms`` after the
first event of any of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from vaultrag.domain import NotePath
from vaultrag.watcher.paths import covers, parent

FOLDER_LIMIT = 500
"""So many pending notes of one folder become that folder: one listing is cheaper than so many single looks."""
TOTAL_LIMIT = 4000
"""Beyond so many pending paths the deepest are folded into their folders, up to the whole vault if need be."""


class Debouncer:
    """Not thread-safe; its owner holds a lock. Times are seconds of one monotonic clock."""

    def __init__(
        self, debounce_ms: int, storm_ms: int, *, folder_limit: int = FOLDER_LIMIT, total_limit: int = TOTAL_LIMIT
    ) -> None:
        self._quiet_s = debounce_ms / 1000
        self._storm_s = storm_ms / 1000
        self._folder_limit = folder_limit
        self._total_limit = total_limit
        self._pending: dict[NotePath, tuple[float, float]] = {}  # path -> (first event, last event)
        self._inside: Counter[NotePath] = Counter()  # folder -> pending paths directly in it
        self._below: Counter[NotePath] = Counter()  # folder -> pending paths anywhere under it

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, path: NotePath, now: float) -> None:
        """Something happened at this path, or under it if it is a folder."""
        for known in _self_and_above(path):
            if known in self._pending:
                self._pending[known] = (self._pending[known][0], now)
                return
        self._insert(path, now, now)
        folder = parent(path)
        if self._inside[folder] > self._folder_limit:
            self._insert(folder, now, now)
        elif len(self._pending) > self._total_limit:
            self._fold()

    def due(self, now: float) -> tuple[list[NotePath], float | None]:
        """Take out what is due, sorted; and say when the next will be (None: nothing is pending)."""
        ready = sorted(path for path in self._pending if self._due_at(path) <= now)
        for path in ready:
            self._remove(path)
        return ready, min((self._due_at(path) for path in self._pending), default=None)

    def _due_at(self, path: NotePath) -> float:
        first, last = self._pending[path]
        return min(last + self._quiet_s, first + self._storm_s)

    def _insert(self, path: NotePath, first: float, last: float) -> None:
        if self._below[path]:
            for inner in [p for p in self._pending if covers(path, p)]:
                inner_first, inner_last = self._remove(inner)
                first, last = min(first, inner_first), max(last, inner_last)
        self._pending[path] = (first, last)
        if path:
            self._inside[parent(path)] += 1
            for folder in _above(path):
                self._below[folder] += 1

    def _remove(self, path: NotePath) -> tuple[float, float]:
        times = self._pending.pop(path)
        if path:
            _decrease(self._inside, parent(path))
            for folder in _above(path):
                _decrease(self._below, folder)
        return times

    def _fold(self) -> None:
        """Replace the deepest paths by their folders, level by level, until half the room is free."""
        pending = self._pending
        while len(pending) > self._total_limit // 2:
            deepest = max(path.count("/") for path in pending)
            folded: dict[NotePath, tuple[float, float]] = {}
            for path, (first, last) in pending.items():
                # Nothing lies deeper, so a folder put in here covers only what is folded into it.
                target = parent(path) if path.count("/") == deepest else path
                known = folded.get(target, (first, last))
                folded[target] = (min(first, known[0]), max(last, known[1]))
            pending = folded
        self._pending, self._inside, self._below = {}, Counter(), Counter()
        for path, (first, last) in pending.items():
            self._insert(path, first, last)


def _above(path: NotePath) -> Iterator[NotePath]:
    while path:
        path = parent(path)
        yield path


def _self_and_above(path: NotePath) -> Iterator[NotePath]:
    yield path
    yield from _above(path)


def _decrease(counter: Counter[NotePath], key: NotePath) -> None:
    counter[key] -= 1
    if not counter[key]:
        del counter[key]
