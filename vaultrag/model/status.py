"""How the daemon, its embedder and its vaults fare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vaultrag.model.changes import Skipped


@dataclass(frozen=True, slots=True)
class EmbedderStatus:
    """What turns text into vectors, and how it fares. ``state``: ready, loading, down, missing, off, broken,
    waiting (for it to be back) or mismatch (its vectors are being made).
    """

    provider: str
    model: str
    state: str
    why: str = ""
    hint: str = ""
    dimension: int = 0
    identity: str = ""


@dataclass(frozen=True, slots=True)
class VaultStatus:
    """How one vault fares. ``state``: starting, indexing, embedding, ready, away, broken, or refused: not to be opened.

    ``identity`` stands for the model and the way its vectors were made; of those in use, empty while there are none.

    ``checked_ns``: when the index was last compared with the vault and brought up to date; 0 before the first time.

    ``passages_pending``: notes that have their vector, but whose passages are still to be made. Search is full without.
    """

    id: str
    name: str
    root: str
    state: str
    notes: int = 0
    embedded: int = 0
    pending: int = 0
    passages_pending: int = 0
    to_read: int = 0
    skipped: int = 0
    failed: int = 0
    problems: int = 0
    watching: str = ""
    identity: str = ""
    why: str = ""
    hint: str = ""
    eta_s: float | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    events: Sequence[str] = ()
    skipped_notes: Sequence[Skipped] = ()
    problem_notes: Sequence[Skipped] = ()
    checked_ns: int = 0


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """How the daemon fares. ``state``: the worst of its vaults' states, or idle without one."""

    pid: int
    version: str
    state: str
    uptime_s: float
    started_ns: int
    notes: int
    pending: int
    skipped: int
    embedder: EmbedderStatus
    vaults: tuple[VaultStatus, ...] = ()
    build: str = ""


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag and the number of notes that have it."""

    tag: str
    notes: int
