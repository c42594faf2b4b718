"""A bar that shows how far a vault is while a command waits for it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from vaultrag.cli.output import console, remark
from vaultrag.client.stages import TITLES, Goal, Name, Stage, Subscriber, wait_for
from vaultrag.domain import DaemonStatus

if TYPE_CHECKING:
    from rich.progress import Progress

SHOW_AFTER_S = 0.3
"""What takes less needs no bar."""


def wait(
    client: Subscriber,
    vault_id: str,
    goal: Goal,
    *,
    patience_s: float = 0.0,
    scans: int = -1,
    most_s: float = math.inf,
) -> DaemonStatus:
    """Wait until a vault has reached a goal, with a bar; see ``client.stages.wait_for``."""
    started = time.monotonic()
    with _bar() as bar:

        def show(stage: Stage) -> None:
            if time.monotonic() - started >= SHOW_AFTER_S:
                bar(stage)

        return wait_for(client, vault_id, goal, show=show, patience_s=patience_s, scans=scans, most_s=most_s)


class _Show(Protocol):
    def __call__(self, stage: Stage) -> None: ...


@contextmanager
def _bar() -> Iterator[_Show]:
    """Show stages on stderr: as a bar on a terminal, else as a line when a stage begins."""
    if sys.stderr.isatty():
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
