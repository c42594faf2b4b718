"""The objects of one vault that its use cases share, and limits of requests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from vaultrag.app.admission import Admission
from vaultrag.config import RuleSettings
from vaultrag.domain import NotePath, NoteRow, Reason
from vaultrag.indexing.embed_worker import EmbedWorker
from vaultrag.indexing.index_worker import IndexWorker
from vaultrag.indexing.vector_lifecycle import VectorLifecycle
from vaultrag.protocols import Census, Clock, NoteReader, NoteTable, SessionMemory
from vaultrag.retrieval.hit_maker import HitMaker
from vaultrag.retrieval.pipeline import Pipeline
from vaultrag.retrieval.validity import Validities
from vaultrag.vector_protocols import VectorScan

MAX_LIMIT = 200

AT_ONCE = 2
"""Answers made at the same time: while SQLite works for one, Python works for the other."""

LISTED = 200
"""Skipped or odd notes listed in full by ``status``; further ones are counted."""


@dataclass(frozen=True, slots=True)
class VaultContext:
    """The objects of one vault, put together in ``daemon``. For agents, see ``agent_view.blind``.

    Attributes:
        lacking: Counts the notes without a vector of the index's model, or of the multilingual one.
        looking: Threads that compare vectors while the words are looked up.
        standings: The notes that no longer hold, or do not hold yet.
        rules: Settings that make a note a rule, beside its own properties.
        sessions: The notes that agents have been shown in their sessions.
        narrowed: Limits a comparison of vectors to the notes that may be seen.
        asked: Entered while an answer is made; indexing pauses meanwhile.
        turns: Admits answers, one turn at a time.
        private: Says why a note is private; empty for one that agents may see.
        waiting: Counts the changes that the watcher has not passed on yet.
        files_waiting: Counts the files of other kinds whose text is still to be read.
        is_there: Returns ``file``, ``folder`` or nothing for a path.
        files: Lists every file of the vault, and why it is left out; empty for a note.
        indexed: Lists the notes in the index.
        beside: Says which other vaults of the daemon cannot be opened, and why.
        build: Digest of the daemon's source.
        for_agents: Private notes are left out; counts of the whole vault must not be given.
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
    standings: Validities
    rules: RuleSettings
    sessions: SessionMemory
    private: Callable[[NoteRow], str] = lambda row: ""
    narrowed: Callable[[VectorScan], VectorScan] = lambda scan: scan
    asked: Callable[[], AbstractContextManager[None]] = nullcontext
    turns: Admission = field(default_factory=lambda: Admission(AT_ONCE))
    waiting: Callable[[], int] = lambda: 0
    files_waiting: Callable[[], int] = lambda: 0
    is_there: Callable[[str], str] = lambda path: ""
    files: Callable[[], Iterable[tuple[str, str]]] = tuple
    indexed: Callable[[], Collection[NotePath]] = frozenset
    beside: Callable[[], Sequence[Reason]] = lambda: ()
    build: str = ""
    for_agents: bool = False
