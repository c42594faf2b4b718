"""The stage of a vault, from the daemon's status, and waiting until it has reached one.

Words can be searched long before meaning, so that whoever waits says for how much.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from vaultrag.domain import DaemonStatus, VaultStatus
from vaultrag.errors import VaultUnknown
from vaultrag.rpc.client_methods import Notification
from vaultrag.rpc.messages import StatusChanged, Subscribed

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


Goal = Literal["words", "loaded", "vectors"]
"""words: every note's words can be searched; loaded: so can the vectors there are; vectors: every note has one."""

_SHORT_OF: dict[Goal, tuple[Name, ...]] = {
    "words": ("opening", "reading"),
    "loaded": ("opening", "reading", "loading"),
    "vectors": ("opening", "reading", "loading", "embedding"),
}

ASK_AGAIN_S = 1.0
"""Some of what is waited for is no change of the status: a scan that found nothing, time that is up."""


class Subscriber(Protocol):
    """A client that hears of changes: ``rpc.client.Client``."""

    def status(self) -> DaemonStatus: ...
    def subscribe(self, status: bool = True, notes: bool = True) -> Subscribed: ...
    def notifications(self, timeout_s: float | None = None) -> Iterator[Notification]: ...


def vault_in(status: DaemonStatus, vault_id: str) -> VaultStatus:
    """Return the vault with this id.

    Raises:
        VaultUnknown: It is served no longer.
    """
    for vault in status.vaults:
        if vault.id == vault_id:
            return vault
    raise VaultUnknown(f"the vault {vault_id} is not served any more")


def wait_for(
    client: Subscriber,
    vault_id: str,
    goal: Goal,
    *,
    show: Callable[[Stage], None] = lambda stage: None,
    patience_s: float = 0.0,
    scans: int = -1,
    most_s: float = math.inf,
) -> DaemonStatus:
    """Wait until a vault has reached a goal, or is stuck, and return the status then.

    Args:
        client: A connection; its subscription is replaced, and ended.
        vault_id: The vault.
        goal: What to wait for.
        show: Called with each stage on the way.
        patience_s: How long to wait while the vault is stuck.
        scans: Wait until the vault was scanned more often than this, too.
        most_s: Return after so long, whatever the stage.

    Raises:
        VaultUnknown: The vault is served no longer.
    """
    started = time.monotonic()
    status = client.subscribe(notes=False).status
    try:
        while True:
            vault = vault_in(status, vault_id)
            stage = stage_of(status, vault)
            waited = time.monotonic() - started
            scanned = vault.counters.get("full_scans", 0) > scans or vault.state in ("away", "broken", "refused")
            stuck = stage.name == "stuck" and waited < patience_s
            if (scanned and not stuck and stage.name not in _SHORT_OF[goal]) or waited >= most_s:
                return status
            show(stage)
            change = next(client.notifications(min(ASK_AGAIN_S, max(0.0, most_s - waited) or ASK_AGAIN_S)), None)
            status = change.status if isinstance(change, StatusChanged) else client.status()
    finally:
        client.subscribe(status=False, notes=False)
