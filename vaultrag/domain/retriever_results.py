"""What one retriever brings, before the ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from vaultrag.domain.dates import NoteDates
from vaultrag.domain.notes import NoteId, NotePath
from vaultrag.domain.queries import Clause

if TYPE_CHECKING:  # numpy costs 80 ms to import; the commands that only print do without
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ClauseCount:
    """The number of notes that hold a clause, and its weight: ``ln(1 + (N - n + 0.5) / (n + 0.5))``, BM25's idf."""

    clause: Clause
    notes: int
    idf: float


@dataclass(frozen=True, slots=True, eq=False)
class LexicalFeatures:
    """The lexical features of some notes for one query; all float64[n], 0 to 1.

    Attributes:
        words: BM25 as a share of the most that any note could have.
        coverage: Share of the query's weight (idf) that the note holds anywhere.
        near: Share that stands together in one field (``retrieval.proximity``).
        near_titled: The same where the title's words count everywhere.
        literal: Whether the note holds the query as it was typed, bool[n] (``retrieval.proximity.verbatim``).
    """

    words: NDArray[np.float64]
    coverage: NDArray[np.float64]
    near: NDArray[np.float64]
    near_titled: NDArray[np.float64]
    literal: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class VectorMatches:
    """The cosines of one query with notes and their passages.

    Attributes:
        ids: Notes, int64[n], ascending.
        notes: Cosine of each note's own vector, float64[n]; NaN for none.
        passages: Cosine of each note's best passage, float64[n]; NaN for none.
        counts: Passages of each note, int64[n].
    """

    ids: NDArray[np.int64]
    notes: NDArray[np.float64]
    passages: NDArray[np.float64]
    counts: NDArray[np.int64]


class NameMatch(IntEnum):
    """The way a query names a note; a higher one ranks first, whatever else fits."""

    NONE = 0
    PART = 1
    """The query is a whole part of a name: words of it, in a row."""
    SAME = 2
    """The query is a name but for accents and the signs between words."""
    VERBATIM = 3
    """The query is a name, or the end of the path, sign for sign."""
    PATH = 4
    """The query is the path."""


@dataclass(frozen=True, slots=True)
class NameHit:
    """A note whose name fits. ``similarity`` 1.0: the same name; ``kind``: title, alias, file or heading."""

    note_id: NoteId
    kind: str
    name: str
    similarity: float
    match: NameMatch = NameMatch.NONE

    @property
    def exact(self) -> bool:
        """Return whether the name is the query."""
        return self.match >= NameMatch.SAME


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
    dates: NoteDates | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note linked from or to another. ``out``: the other note links to this one."""

    note_id: NoteId
    out: bool
