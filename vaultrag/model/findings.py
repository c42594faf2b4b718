"""What one arm brings, before fusion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultrag.model.notes import NoteId, NotePath
from vaultrag.model.queries import Clause

if TYPE_CHECKING:  # numpy costs 80 ms to import; the commands that only print do without
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ClauseCount:
    """How many notes hold a clause, and what that is worth: ``ln(1 + (N - n + 0.5) / (n + 0.5))``, BM25's idf."""

    clause: Clause
    notes: int
    idf: float


@dataclass(frozen=True, slots=True, eq=False)
class WordResult:
    """The arm's list, best first, and what is known of each clause.

    Attributes:
        ids: Notes, int64[n].
        bm25: Their scores, float64[n]; higher is better.
        held: Which clauses each holds, bool[n, len(counts)].
        notes: How many there are to search.
    """

    ids: NDArray[np.int64]
    bm25: NDArray[np.float64]
    held: NDArray[np.bool_]
    counts: list[ClauseCount] = field(default_factory=list)
    notes: int = 0


@dataclass(frozen=True, slots=True)
class NameHit:
    """A note whose name fits. ``similarity`` 1.0: the same name; ``kind``: title, alias, file or heading."""

    note_id: NoteId
    kind: str
    name: str
    similarity: float
    exact: bool = False


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One note as the index knows it."""

    note_id: NoteId
    path: NotePath
    title: str
    mtime_ns: int
    size: int
    body_line: int
    body_chars: int
    properties: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note linked from or to another. ``out``: the other note links to this one."""

    note_id: NoteId
    out: bool
