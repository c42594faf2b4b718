"""Waiting for a vault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from vaultrag.cli import progress
from vaultrag.cli.progress import wait
from vaultrag.client.stages import Goal, stage_of
from vaultrag.domain import DaemonStatus, EmbedderStatus, VaultStatus
from vaultrag.errors import VaultUnknown
from vaultrag.rpc.client_methods import Notification
from vaultrag.rpc.messages import StatusChanged, Subscribed

READY = EmbedderStatus("builtin", "model", "ready")
STARTING = EmbedderStatus("", "", "starting")
DOWN = EmbedderStatus("ollama", "model", "down")
OFF = EmbedderStatus("", "", "off")

OPENING = VaultStatus("v", "v", "/v", "starting")
READING = replace(OPENING, state="indexing", notes=4, to_read=6)
READ = replace(OPENING, state="ready", notes=10)
EMBEDDING = replace(READ, state="embedding", pending=7, embedded=3, eta_s=4.0)
DONE = replace(READ, embedded=9, failed=1)


def status(vault: VaultStatus, embedder: EmbedderStatus = READY) -> DaemonStatus:
    return DaemonStatus(1, "0", vault.state, 1.0, 0, vault.notes, vault.pending, 0, embedder, (vault,))


class Scripted:
    """Answers with one status after another; the last one stays."""

    def __init__(self, *statuses: DaemonStatus) -> None:
        self._statuses: Sequence[DaemonStatus] = statuses
        self.asked = 0

    def status(self) -> DaemonStatus:
        self.asked += 1
        return self._statuses[min(self.asked, len(self._statuses)) - 1]

    def subscribe(self, status: bool = True, notes: bool = True) -> Subscribed:
        return Subscribed((), self.status() if status else self._statuses[0])

    def notifications(self, timeout_s: float | None = None) -> Iterator[Notification]:
        while True:
            yield StatusChanged(self.status())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SHOW_AFTER_S", 0.0)


@pytest.mark.parametrize(
    ("vault", "embedder", "name"),
    [
        (OPENING, STARTING, "opening"),
        (READING, STARTING, "reading"),
        (READ, STARTING, "loading"),
        (READ, READY, "loading"),
        (EMBEDDING, READY, "embedding"),
        (EMBEDDING, DOWN, "stuck"),
        (DONE, READY, "done"),
        (READ, OFF, "done"),
        (replace(READ, notes=0), READY, "done"),
        (replace(READ, state="away"), READY, "stuck"),
    ],
)
def test_the_stage_is_read_off_the_status(vault: VaultStatus, embedder: EmbedderStatus, name: str) -> None:
    """Between the last note read and the first vector a vault is loading, not done."""
    assert stage_of(status(vault, embedder), vault).name == name


@pytest.mark.parametrize(("goal", "polls"), [("words", 3), ("loaded", 4), ("vectors", 5)])
def test_waiting_ends_at_the_goal(goal: Goal, polls: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Words are there before vectors; who wants words only does not wait for those."""
    client = Scripted(*map(status, (OPENING, READING, READ, EMBEDDING, DONE)))
    wait(client, "v", goal)
    assert client.asked == polls
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[:2] == ["looking for notes …", "reading notes (6 to do) …"]


def test_waiting_ends_when_it_would_last_for_ever() -> None:
    """A vault that waits for its embedder is not waited for."""
    client = Scripted(status(EMBEDDING, DOWN))
    assert wait(client, "v", "vectors").embedder.state == "down"


def test_being_stuck_is_waited_out_with_patience() -> None:
    """After a download the daemon needs a while to notice."""
    client = Scripted(status(EMBEDDING, DOWN), status(EMBEDDING, DOWN), status(EMBEDDING), status(DONE))
    assert wait(client, "v", "vectors", patience_s=60) == status(DONE)


def test_waiting_for_another_look_is_not_content_with_the_last_one() -> None:
    """``reindex --wait`` waits for a comparison that began after it asked."""
    old = replace(DONE, counters={"full_scans": 3})
    new = replace(DONE, counters={"full_scans": 4})
    client = Scripted(status(old), status(old), status(new))
    wait(client, "v", "vectors", scans=3)
    assert client.asked == 3


def test_a_vault_that_is_removed_meanwhile_is_an_error() -> None:
    """Nobody waits for a vault that is not served."""
    with pytest.raises(VaultUnknown):
        wait(Scripted(status(DONE)), "other", "words")
