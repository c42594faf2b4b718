"""What one arm brings, before fusion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vaultrag.model.notes import NoteId, NotePath
from vaultrag.model.queries import Clause


@dataclass(frozen=True, slots=True)
class ClauseCount:
    """How many notes hold a clause, and what that is worth: ``ln(1 + (N - n + 0.5) / (n + 0.5))``, BM25's idf."""

    clause: Clause
    notes: int
    idf: float


@dataclass(frozen=True, slots=True)
class WordHit:
    """A note found by words. ``bm25``: higher is better. ``held``: indices into ``WordResult.counts``."""

    note_id: NoteId
    bm25: float
    held: frozenset[int]


@dataclass(frozen=True, slots=True)
class WordResult:
    """The arm's list, best first, and what is known of each clause."""

    hits: list[WordHit] = field(default_factory=list)
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
