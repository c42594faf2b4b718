"""How far a vault is, read off the daemon's status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vaultrag.domain import DaemonStatus, VaultStatus

Name = Literal["opening", "reading", "loading", "embedding", "done", "stuck"]

TITLES: dict[Name, str] = {
    "opening": "looking for notes",
    "reading": "reading notes",
    "loading": "loading the model",
    "embedding": "embedding",
    "done": "done",
    "stuck": "waiting",
}

_NO_VECTORS_FOR_NOW = ("down", "missing", "broken", "waiting")


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of indexing. ``left``: notes still to do in it; ``stuck``: it will not go on by itself soon."""

    name: Name
    left: int = 0
    eta_s: float | None = None


def stage_of(status: DaemonStatus, vault: VaultStatus) -> Stage:
    """Return the stage that this vault is in."""
    if vault.state in ("away", "broken", "refused"):
        return Stage("stuck")
    if vault.state == "starting":
        return Stage("opening")
    if vault.state == "indexing":
        return Stage("reading", vault.to_read, vault.eta_s)
    embedder = status.embedder.state
    if embedder == "off" or not vault.notes:
        return Stage("done")
    if embedder in _NO_VECTORS_FOR_NOW:
        return Stage("stuck", vault.pending)
    if vault.pending:
        return Stage("embedding", vault.pending, vault.eta_s)
    # Between the last note read and the first vector the model is chosen and loaded; nothing is pending meanwhile.
    return Stage("done") if vault.embedded + vault.failed >= vault.notes else Stage("loading")
