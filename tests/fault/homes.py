"""Short ways to start ill-used daemons, to wait until they have recovered, and to judge them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tests.fault.ledger import Entry
from tests.fault.truth import Truth, whole
from tests.support.daemons import Home, RunningDaemon
from vaultrag.domain import VaultStatus
from vaultrag.errors import StoreError

VICTIM = "tests.fault.victim"


def cursed(**curse: Any) -> dict[str, str]:
    return {"VICTIM": json.dumps(curse)}


def told(daemon: RunningDaemon, what: str) -> VaultStatus:
    """Wait until the status gives a reason for what goes wrong, and what to do."""

    def look() -> VaultStatus | None:
        status = daemon.status()
        return status if what in status.why and status.hint else None

    return daemon.until(look, f"the status says {what!r}", 20)


def made_good(daemon: RunningDaemon) -> None:
    """Wait until all is read, embedded and in passages."""

    def look() -> bool:
        with suppress(StoreError):  # damage may be found by this very question
            vaults = daemon.client.status().vaults  # none for the moment in which one is opened anew
            return bool(vaults) and whole(vaults[0])
        return False

    daemon.until(look, "all is made good", 90)


def events(daemon: RunningDaemon) -> str:
    """What was mended."""
    with suppress(StoreError):
        return " ".join(event for vault in daemon.client.status().vaults for event in vault.events)
    return ""


def unharmed(home: Home) -> None:
    assert "Traceback" not in home.log
    assert "not foreseen" not in home.log


def judge(
    daemon: RunningDaemon,
    texts: Mapping[str, str],
    entry: Entry,
    what: str = "",
    *,
    meaning: bool = True,
    sound: bool = True,
    asked: Mapping[str, str] | None = None,
) -> None:
    """Hold the daemon's answers against what is true; see ``Truth``."""
    truth = Truth(daemon, texts, meaning=meaning, sound=sound, asked=asked)
    entry.lost, entry.wrong = len(truth.lost), len(truth.wrong)
    assert not truth.lost, f"{truth.lost} {truth.wrong} {what}"
    assert not truth.wrong, f"{truth.wrong} {what}"
    unharmed(daemon.home)
