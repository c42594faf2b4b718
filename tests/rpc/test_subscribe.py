"""``subscribe`` through the real socket: told of what changes, once, and of nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.daemons import Raw, RunningDaemon, daemon_home
from vaultrag.errors import ConnectionLost
from vaultrag.rpc.client import AsyncClient, Client
from vaultrag.rpc.client_methods import Notification
from vaultrag.rpc.messages import NotesChanged


@pytest.fixture
def own() -> Iterator[RunningDaemon]:
    """A daemon whose vault is this test's alone."""
    with daemon_home() as home:
        home.write("Pump.md", "The pump leaks.")
        daemon = home.start()
        daemon.ready()
        yield daemon


def until(raw: Raw, method: str) -> Any:
    """The next notification of this name; others are passed over."""
    while True:
        message = raw.receive()
        assert message is not None, "the connection ended"
        if message.get("method") == method:
            return message["params"]


def test_a_changed_note_is_told(own: RunningDaemon) -> None:
    """Who subscribed learns which notes were read anew and which are gone, and finds them as they are now."""
    with Raw(own.home.places) as raw:
        answer = raw.call("subscribe", {"status": False})["result"]
        assert answer["tells"] == ["notes/changed"]
        path = own.home.write("Deep/Valve.md", "The valve sticks.")
        change = until(raw, "notes/changed")
        assert (change["paths"], change["more"]) == (["Deep/Valve.md"], False)
        assert change["vault"] == answer["status"]["vaults"][0]["id"]
        assert own.client.search("valve", mode="words").hits
        path.unlink()
        assert until(raw, "notes/changed")["paths"] == ["Deep/Valve.md"]


def test_a_changed_status_is_told(own: RunningDaemon) -> None:
    """The status comes when it differs, and carries the whole of it."""
    with Raw(own.home.places) as raw:
        before = raw.call("subscribe", {"notes": False})["result"]["status"]
        own.home.write("Valve.md", "The valve sticks.")
        notes = before["notes"]
        while notes == before["notes"]:
            notes = until(raw, "status/changed")["status"]["notes"]
        assert notes == before["notes"] + 1


def test_a_vault_that_comes_or_goes_is_told(own: RunningDaemon) -> None:
    """Adding and removing a vault is a change of the status."""
    second = own.home.base / "second"
    second.mkdir()
    (second / "Note.md").write_text("A note.", "utf-8")
    with Raw(own.home.places) as raw:
        raw.call("subscribe", {"notes": False})
        added = own.client.add_vault(str(second))
        while len(until(raw, "status/changed")["status"]["vaults"]) < 2:
            pass
        own.client.remove_vault(added.id)
        while len(until(raw, "status/changed")["status"]["vaults"]) > 1:
            pass


def test_one_vaults_notes_are_told_alone(own: RunningDaemon) -> None:
    """A connection that means one vault hears nothing of another's notes."""
    second = own.home.base / "second"
    second.mkdir()
    (second / "Note.md").write_text("A note.", "utf-8")
    with Raw(own.home.places, vault=str(own.home.vault)) as raw:
        raw.call("subscribe", {"status": False})
        own.client.add_vault(str(second))
        own.until(lambda: all(vault.state == "ready" for vault in own.client.status().vaults), "both are read")
        own.home.write("Valve.md", "The valve sticks.")
        assert until(raw, "notes/changed")["paths"] == ["Valve.md"]


def test_asking_again_replaces_and_ends(own: RunningDaemon) -> None:
    """The last wish counts; with none, nothing is told any more."""
    with Raw(own.home.places) as raw, Raw(own.home.places) as other:
        raw.call("subscribe", {})
        assert raw.call("subscribe", {"status": False, "notes": False})["result"]["tells"] == []
        other.call("subscribe", {"status": False})
        own.home.write("Valve.md", "The valve sticks.")
        until(other, "notes/changed")
        assert raw.call("tags", {})["id"] == 1, "the first message is the answer"


def test_many_changes_come_in_few_words(own: RunningDaemon) -> None:
    """A storm names two hundred notes at most, and says that there were more."""
    with Raw(own.home.places) as raw:
        raw.call("subscribe", {"status": False})
        for number in range(450):
            own.home.write(f"Many/{number:03}.md", f"Note {number}.")
        changes = [until(raw, "notes/changed")]
        while sum(own.status().counters[name] for name in ("notes_written",)) < 451:
            changes.append(until(raw, "notes/changed"))
        assert all(len(change["paths"]) <= 200 for change in changes)
        assert len(changes) < 20


def test_a_client_that_does_not_read_harms_nobody(own: RunningDaemon) -> None:
    """A subscriber that reads nothing is passed by; others are told as before, and the daemon goes on."""
    with Raw(own.home.places) as deaf, Raw(own.home.places) as raw:
        deaf.call("subscribe", {})
        raw.call("subscribe", {"status": False})
        for number in range(3):
            own.home.write(f"Note {number}.md", "A note.")
            until(raw, "notes/changed")
    assert own.client.status().notes == 4


def test_subscribers_that_leave_are_forgotten(own: RunningDaemon) -> None:
    """A hundred subscribers that come and go leave the daemon as it was."""
    for _ in range(100):
        with Raw(own.home.places) as raw:
            raw.call("subscribe", {})
    own.home.write("Valve.md", "The valve sticks.")
    own.found("valve", "Valve.md")


def test_the_waiting_client_hears_of_changes(own: RunningDaemon) -> None:
    """What came while the client waited for an answer is not lost; silence ends the listening, not the connection."""
    with Client.connect(own.home.places) as client:
        assert client.subscribe(status=False).tells == ("notes/changed",)
        own.home.write("Valve.md", "The valve sticks.")
        own.found("valve", "Valve.md")
        client.tags()
        change = next(client.notifications(timeout_s=20))
        assert isinstance(change, NotesChanged)
        assert change.paths == ("Valve.md",)
        assert list(client.notifications(timeout_s=0.1)) == []
        assert client.tags() == ()


def test_the_awaiting_client_hears_of_changes(own: RunningDaemon) -> None:
    """Changes are awaited beside answers, and so is the end of the connection."""

    async def listen() -> Notification:
        async with await AsyncClient.connect(own.home.places) as client:
            await client.subscribe(status=False)
            changes = client.notifications()
            own.home.write("Valve.md", "The valve sticks.")
            change = await asyncio.wait_for(anext(changes), 20)
            await client.close()
            with pytest.raises(ConnectionLost):
                await asyncio.wait_for(anext(changes), 20)
            return change

    change = asyncio.run(listen())
    assert isinstance(change, NotesChanged)
    assert change.paths == ("Valve.md",)
