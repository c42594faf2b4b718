"""What one vault is made of, and the bounds of what is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vaultrag.indexing.embedding import Embedding
from vaultrag.indexing.meaning import Meaning
from vaultrag.indexing.worker import IndexWorker
from vaultrag.ports import Clock, NoteIndex, NoteTable, Reranker, VaultReader
from vaultrag.search.engine import Engine
from vaultrag.search.hits import HitMaker

MAX_LIMIT = 200
LISTED = 200
"""Skipped or odd notes listed in full by ``status``; further ones are counted."""


@dataclass(frozen=True, slots=True)
class VaultParts:
    """What one vault is made of; put together in ``daemon``."""

    id: str
    root: Path
    reader: VaultReader
    index: NoteIndex
    table: NoteTable
    engine: Engine
    hits: HitMaker
    meaning: Meaning
    worker: IndexWorker
    embedding: Embedding
    clock: Clock
    why_excluded: Callable[[str], str | None]
    watching: Callable[[], str]
    events: Sequence[str]
    close: Callable[[], None]
    reranker: Reranker | None = None
