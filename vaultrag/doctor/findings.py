"""What a check has found, and what the checks are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vaultrag.config import Places, Settings
from vaultrag.domain import DaemonStatus

Grade = Literal["ok", "warning", "fault"]
"""warning: it works, but not as well as it could, or not for long; fault: something does not work."""

GRADES: tuple[Grade, ...] = ("ok", "warning", "fault")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's.

    Attributes:
        check: What was looked at, in two or three words.
        text: What was found, for the person at the machine.
        plain: The same for a report to others: no path, no name of a note, a vault, a person or a machine is in it.
        repair: The command or step that repairs it.
        fix: Repairs it without harm to anything; None where a person should decide.
    """

    check: str
    grade: Grade
    text: str
    plain: str
    repair: str = ""
    fix: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """The facts that the checks look at.

    Attributes:
        roots: The vaults that are, or would be, served.
        status: Of the running daemon, with skipped notes listed; None while none answers.
        why_silent: Why none answers, if there is more to it than that none runs.
        proc: Where the kernel tells of processes and limits.
        now_ns: The time.
    """

    places: Places
    settings: Settings
    environ: Mapping[str, str]
    roots: Sequence[Path]
    status: DaemonStatus | None
    why_silent: str
    proc: Path
    now_ns: int

    def number(self, root: Path) -> str:
        """Return what a vault is called where its name must not be told."""
        return f"vault {list(self.roots).index(root) + 1}"


def ok(check: str, text: str, plain: str | None = None, repair: str = "") -> Finding:
    """All is well; ``plain`` where the text names something. ``repair``: what would make it better still."""
    return Finding(check, "ok", text, text if plain is None else plain, repair)


def worst(findings: Sequence[Finding]) -> Grade:
    return max((finding.grade for finding in findings), key=GRADES.index, default="ok")
