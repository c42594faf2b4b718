"""How the daemon, its embedder and its vaults fare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vaultrag.domain.changes import Skipped


@dataclass(frozen=True, slots=True)
class EmbedderStatus:
    """The model that turns text into vectors, and its state.

    ``state``: ready, loading, down, missing, off, broken, waiting (for it to be back) or mismatch (its vectors are
    being made). ``languages``: those that it reads; empty where that is not known.
    """

    provider: str
    model: str
    state: str
    why: str = ""
    hint: str = ""
    dimension: int = 0
    identity: str = ""
    languages: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FileCount:
    """Files of a vault that had the same fate for the same reason.

    Attributes:
        fate: ``indexed``, ``waiting`` (to be read), ``unreadable`` now, ``skipped`` for what it is, ``excluded`` by a
            rule, ``other`` (another kind of file than a note) or ``hidden``.
        why: The reason or the rule; for ``other``, how the names end.
        files: How many.
        paths: Some of them, where they were asked for.
    """

    fate: str
    why: str
    files: int
    paths: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class VaultStatus:
    """The state of one vault: starting, indexing, embedding, ready, away, broken, or refused (it cannot be opened).

    ``identity`` stands for the model and the way its vectors were made; of those in use, empty while there are none.

    ``checked_ns``: when the index was last compared with the vault and brought up to date; 0 before the first time.

    ``files_waiting``: files of other kinds than Markdown whose text is still to be read; their names are found already.

    ``files``: everything in the vault by what became of it, where that was asked for.

    ``passages_pending``: notes that have their vector, but whose passages are still to be made. Search is full without.

    ``multilingual_pending``: notes that have their vector, and that questions in other languages than English do not
    find by meaning yet.
    """

    id: str
    name: str
    root: str
    state: str
    notes: int = 0
    embedded: int = 0
    pending: int = 0
    passages_pending: int = 0
    multilingual_pending: int = 0
    to_read: int = 0
    files_waiting: int = 0
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
    files: Sequence[FileCount] = ()


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """The state of the daemon. ``state``: the worst of its vaults' states, or idle without one."""

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
