"""What one vault is made of, and the bounds of what is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from vaultrag.app.admission import Admission
from vaultrag.config import RuleSettings
from vaultrag.domain import NoteId, NotePath, NoteRow, NoteValidity, Reason
from vaultrag.indexing.embed_worker import EmbedWorker
from vaultrag.indexing.index_worker import IndexWorker
from vaultrag.indexing.vector_lifecycle import VectorLifecycle
from vaultrag.protocols import Census, Clock, NoteReader, NoteTable, SessionMemory
from vaultrag.retrieval.hit_maker import HitMaker
from vaultrag.retrieval.pipeline import Pipeline
from vaultrag.vector_protocols import VectorScan

MAX_LIMIT = 200

AT_ONCE = 2
"""Answers that are worked at at the same time: while SQLite works for one, Python does for the other."""

LISTED = 200
"""Skipped or odd notes listed in full by ``status``; further ones are counted."""


@dataclass(frozen=True, slots=True)
class VaultContext:
    """What one vault is made of; put together in ``daemon``. For agents, see ``agents.blind``.

    Attributes:
        lacking: Counts the notes without a vector of the index's model, or of the multilingual one.
        looking: Runs looks through the vectors beside what else an answer needs.
        standings: The notes that no longer hold, or not yet.
        rules: What makes a note a rule, beside what notes say themselves.
        sessions: What acting agents have been shown.
        narrowed: What may be seen of a comparison with all vectors.
        asked: Entered while an answer is made: what is done to notes meanwhile gives way.
        turns: Which answer is worked at.
        private: What makes a note private, in words; empty for one that agents may see.
        waiting: Counts the changes that were noticed and that the worker has not been told of yet.
        is_there: Tells what stands at a path: ``file``, ``folder`` or nothing.
        files: Lists every file of the vault, and why it is left out; empty for a note.
        indexed: Lists the notes in the index.
        beside: Which other vaults of the daemon cannot be opened, and why.
        build: Digest of the daemon's source.
        for_agents: These parts are blind to private notes; figures of the whole vault are not to be told.
    """

    id: str
    root: Path
    reader: NoteReader
    index: Census
    table: NoteTable
    engine: Pipeline
    hits: HitMaker
    meaning: VectorLifecycle
    worker: IndexWorker
    embedding: EmbedWorker
    clock: Clock
    why_excluded: Callable[[str], str | None]
    watching: Callable[[], str]
    events: Sequence[str]
    close: Callable[[], None]
    lacking: Callable[[bool], int]
    looking: Executor
    standings: Callable[[], Mapping[NoteId, NoteValidity]]
    rules: RuleSettings
    sessions: SessionMemory
    private: Callable[[NoteRow], str] = lambda row: ""
    narrowed: Callable[[VectorScan], VectorScan] = lambda scan: scan
    asked: Callable[[], AbstractContextManager[None]] = nullcontext
    turns: Admission = field(default_factory=lambda: Admission(AT_ONCE))
    waiting: Callable[[], int] = lambda: 0
    is_there: Callable[[str], str] = lambda path: ""
    files: Callable[[], Iterable[tuple[str, str]]] = tuple
    indexed: Callable[[], Collection[NotePath]] = frozenset
    beside: Callable[[], Sequence[Reason]] = lambda: ()
    build: str = ""
    for_agents: bool = False
