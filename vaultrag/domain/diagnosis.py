"""What has become of one note: whether it can be found, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Standing = Literal["indexed", "waiting", "stale", "excluded", "skipped", "unreadable", "gone", "absent", "outside"]
"""indexed: as it is on the disk; waiting: there, and not read yet; stale: changed since it was read; excluded: by a
rule; skipped: for what it is; unreadable: not to be read now; gone: known, and no longer there; absent: there is no
such note; outside: in no vault that is served."""


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines of a file, from 1, both inclusive."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The state of one path, and why.

    Attributes:
        path: As the index knows it, else as it was asked for.
        vault: Its vault's id; empty for none.
        standing: What has become of it.
        why: The same in words, with the rule and where it stands.
        hint: The command or step that helps.
        kept_from_agents: What makes it private; empty for a note that agents may see.
        saved_ns: When the version in the index was saved; 0 where there is none.
        meaning: How it stands with its vector, in words.
        covered: Share of its text that the vector stands for; None without one.
        passages: Those that have a vector of their own.
        near: Paths of the index that were perhaps meant.
    """

    path: str
    vault: str
    standing: Standing
    why: str
    hint: str = ""
    kept_from_agents: str = ""
    saved_ns: int = 0
    meaning: str = ""
    covered: float | None = None
    passages: tuple[LineRange, ...] = ()
    near: tuple[str, ...] = ()
