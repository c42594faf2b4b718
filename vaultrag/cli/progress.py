"""Waiting for a vault: how far it is, read off the daemon's status, and a bar that shows it.

Words can be searched long before meaning: one who waits says for how much.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol

from vaultrag.cli.output import console, remark
from vaultrag.client.stages import TITLES, Name, Stage, stage_of
from vaultrag.domain import DaemonStatus, VaultStatus
from vaultrag.errors import VaultUnknown

if TYPE_CHECKING:
    from rich.progress import Progress

POLL_S = 0.1
SHOW_AFTER_S = 0.3
"""What takes less needs no bar."""

Goal = Literal["words", "loaded", "vectors"]
"""words: every note's words can be searched; loaded: so can the vectors there are; vectors: every note has one."""

_SHORT_OF: dict[Goal, tuple[Name, ...]] = {
    "words": ("opening", "reading"),
    "loaded": ("opening", "reading", "loading"),
    "vectors": ("opening", "reading", "loading", "embedding"),
}


class Asked(Protocol):
    """A client that can be asked for its progress: ``rpc.client.Client``."""

    def status(self, *, full: bool = False) -> DaemonStatus: ...


def vault_in(status: DaemonStatus, vault_id: str) -> VaultStatus:
    """Return the vault with this id.

    Raises:
        VaultUnknown: It is served no longer.
    """
    for vault in status.vaults:
        if vault.id == vault_id:
            return vault
    raise VaultUnknown(f"the vault {vault_id} is not served any more")


def wait(
    client: Asked,
    vault_id: str,
    goal: Goal,
    *,
    patience_s: float = 0.0,
    scans: int = -1,
    quiet: bool = False,
    most_s: float = math.inf,
) -> DaemonStatus:
    """Wait until a vault is so far, or is stuck, and return the status then.

    Args:
        client: Asked every 100 ms.
        vault_id: Which vault.
        goal: How far.
        patience_s: So long, being stuck is waited out.
        scans: Go on until the vault was looked through more often than so.
        quiet: Show nothing.
        most_s: Return after so long, however far it is.
    """
    started = time.monotonic()
    with _bar(quiet) as show:
        while True:
            status = client.status()
            vault = vault_in(status, vault_id)
            stage = stage_of(status, vault)
            waited = time.monotonic() - started
            looked = vault.counters.get("full_scans", 0) > scans or vault.state in ("away", "broken", "refused")
            stuck = stage.name == "stuck" and waited < patience_s
            if (looked and not stuck and stage.name not in _SHORT_OF[goal]) or waited >= most_s:
                return status
            if waited >= SHOW_AFTER_S:
                show(stage)
            time.sleep(POLL_S)


class _Show(Protocol):
    def __call__(self, stage: Stage) -> None: ...


@contextmanager
def _bar(quiet: bool) -> Iterator[_Show]:
    """Show stages on stderr: as a bar on a terminal, else as a line when a stage begins."""
    if quiet:
        yield lambda stage: None
    elif sys.stderr.isatty():
        with _drawn() as progress:
            yield _Drawing(progress)
    else:
        yield _Telling()


class _Telling:
    def __init__(self) -> None:
        self._told: set[Name] = set()

    def __call__(self, stage: Stage) -> None:
        if stage.name not in self._told and stage.name != "done":
            self._told.add(stage.name)
            remark(f"{TITLES[stage.name]} …" if not stage.left else f"{TITLES[stage.name]} ({stage.left:,} to do) …")


class _Drawing:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task(TITLES["opening"], total=None, left="", visible=False)
        self._name: Name | None = None
        self._total = 0

    def __call__(self, stage: Stage) -> None:
        if stage.name != self._name:
            self._name, self._total = stage.name, 0
        # The status says what is left; the most that ever was left is the whole.
        self._total = max(self._total, stage.left)
        self._progress.update(
            self._task,
            description=TITLES[stage.name],
            total=self._total or None,
            completed=self._total - stage.left,
            left=_left(stage),
            visible=True,
        )


def _left(stage: Stage) -> str:
    from vaultrag.wording import duration

    return "" if stage.eta_s is None else f"about {duration(stage.eta_s)} left"


def _drawn() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        console=console(sys.stderr),
        transient=True,
    )
