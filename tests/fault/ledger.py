"""The books: what was tried, and what became of it. The table of the long form is made from them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from typing import TypeVar

import pytest

LONG = os.environ.get("VAULTRAG_FAULTS", "") == "long"
"""Whether this is the long form."""


long_form = pytest.mark.skipif(not LONG, reason="the long form only: make fault")

T = TypeVar("T")


def times(short: T, long: T) -> T:
    """How often, or what, by the form of the run."""
    return long if LONG else short


@dataclass
class Entry:
    """One kind of fault. ``lost`` and ``wrong`` are notes not found and answers not true, over all tries."""

    fault: str
    tries: int = 0
    survived: int = 0
    lost: int = 0
    wrong: int = 0


class Ledger:
    """The entries of one test."""

    def __init__(self, node: pytest.Item) -> None:
        self._node = node

    @contextmanager
    def attempt(self, fault: str) -> Iterator[Entry]:
        """One try. It is survived when the block ends without an exception, and nothing was lost or wrong."""
        entry = Entry(fault, tries=1)
        try:
            yield entry
            assert (entry.lost, entry.wrong) == (0, 0), f"{fault}: {entry.lost} notes lost, {entry.wrong} wrong answers"
            entry.survived = 1
        finally:
            self._node.user_properties.append(("fault", astuple(entry)))


def table(entries: Iterable[tuple[str, int, int, int, int]]) -> list[str]:
    """The lines of the table, the faults in the order they came."""
    sums: dict[str, Entry] = {}
    for fault, *figures in entries:
        known = sums.setdefault(fault, Entry(fault))
        known.tries, known.survived, known.lost, known.wrong = (
            old + new for old, new in zip((known.tries, known.survived, known.lost, known.wrong), figures, strict=True)
        )
    rows = [("fault", "tries", "survived", "notes lost", "wrong answers")]
    rows += [(e.fault, str(e.tries), str(e.survived), str(e.lost), str(e.wrong)) for e in sums.values()]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = [
        " | ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, 5))]).rstrip() for row in rows
    ]
    lines.insert(1, "-|-".join("-" * width for width in widths))
    return lines
