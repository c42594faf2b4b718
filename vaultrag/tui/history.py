"""What was searched for: a file with a query a line, which only its owner can read; the newest at the end.

The file is a convenience. What goes wrong with it is let be: no search fails because of it.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

KEPT = 500
"""Queries that are kept."""

MAX_CHARS = 500


class History:
    """Queries asked earlier, and a finger that goes through them."""

    def __init__(self, file: Path | None) -> None:
        """Read the history.

        Args:
            file: Where they are kept; None to keep them in memory only.
        """
        self._file = file
        self._queries = _read(file) if file is not None else []
        self._at = len(self._queries)
        self._typed = ""

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(self._queries)

    def earlier(self, now: str) -> str:
        """Return the query before; the oldest again at the end. ``now``: the text in the prompt."""
        if self._at == len(self._queries):
            self._typed = now
        at = self._at - 1
        while at >= 0 and self._queries[at] == now:
            at -= 1
        if at < 0:
            return now
        self._at = at
        return self._queries[at]

    def later(self, now: str) -> str:
        """Return the query after; at the end what was typed before."""
        if self._at >= len(self._queries):
            return now
        self._at += 1
        return self._queries[self._at] if self._at < len(self._queries) else self._typed

    def rest(self) -> None:
        """Something was typed: one begins from the newest again."""
        self._at = len(self._queries)

    def add(self, query: str) -> None:
        """Remember a query that led somewhere. One that is there moves to the end."""
        query = " ".join(query.split())[:MAX_CHARS]
        if not query or (self._queries and self._queries[-1] == query):
            self.rest()
            return
        # Another screen may have written meanwhile.
        queries = _read(self._file) if self._file is not None else self._queries
        self._queries = [*(one for one in queries if one != query), query][-KEPT:]
        self.rest()
        if self._file is not None:
            with contextlib.suppress(OSError):
                _write(self._file, self._queries)


def _read(file: Path) -> list[str]:
    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    return [line for line in lines if line.strip()][-KEPT:]


def _write(file: Path, queries: list[str]) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as opened:
        opened.write("".join(f"{query}\n" for query in queries))
    beside.replace(file)
