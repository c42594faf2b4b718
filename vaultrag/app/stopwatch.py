"""What each retriever takes of an answer's time, measured where the retrievers are called."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from vaultrag.domain import Clause, NameHit, NoteId
from vaultrag.protocols import LexicalMatches, LexicalRetriever, TitleRetriever

_times: ContextVar[dict[str, float] | None] = ContextVar("times", default=None)


@contextmanager
def stopwatch() -> Iterator[dict[str, float]]:
    """Collect the milliseconds of every lap in this block, by name."""
    times: dict[str, float] = {}
    token = _times.set(times)
    try:
        yield times
    finally:
        _times.reset(token)


@contextmanager
def lap(name: str) -> Iterator[None]:
    """Add the time that this block takes to the stopwatch that runs, if one does."""
    times = _times.get()
    started = time.perf_counter()
    try:
        yield
    finally:
        if times is not None:
            times[name] = round(times.get(name, 0.0) + (time.perf_counter() - started) * 1000, 3)


class TimedLexicalRetriever:
    """A ``LexicalRetriever`` whose searches are measured."""

    def __init__(self, words: LexicalRetriever) -> None:
        self._words = words
        self.stems = words.stems
        self.containing = words.containing

    def search(
        self,
        clauses: Sequence[Clause],
        *,
        k: int = 80,
        allowed: frozenset[NoteId] | None = None,
        row: Sequence[tuple[Clause, int]] = (),
    ) -> LexicalMatches:
        with lap("words"):
            return self._words.search(clauses, k=k, allowed=allowed, row=row)

    def holding(self, clauses: Sequence[Clause]) -> frozenset[NoteId]:
        with lap("words"):
            return self._words.holding(clauses)


class TimedTitleRetriever:
    """A ``TitleRetriever`` whose searches are measured."""

    def __init__(self, names: TitleRetriever) -> None:
        self._names = names

    def search(self, text: str, *, k: int = 20, allowed: frozenset[NoteId] | None = None) -> list[NameHit]:
        with lap("names"):
            return self._names.search(text, k=k, allowed=allowed)

    def has(self, text: str) -> bool:
        with lap("names"):
            return self._names.has(text)

    def spelled(self, word: str) -> list[str]:
        with lap("names"):
            return self._names.spelled(word)
