"""The two Python clients, against the real daemon."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import socket
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.support.daemons import Home, RunningDaemon, daemon_home
from vaultrag import errors
from vaultrag.config import Places
from vaultrag.domain import Answer
from vaultrag.domain.requests import Search
from vaultrag.rpc.client import AsyncClient, Client, discover, wait_for_daemon
from vaultrag.rpc.client_methods import ClientMethods
from vaultrag.rpc.methods import METHODS

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 20))


def timeless(answer: Answer) -> Answer:
    """The answer without what differs from call to call."""
    return dataclasses.replace(answer, elapsed_ms=0.0, times_ms={})


def test_both_clients_say_the_same(home: Home) -> None:
    """The waiting and the awaiting client give equal values for equal calls."""

    async def ask() -> tuple[Any, ...]:
        async with await AsyncClient.connect(home.places) as client:
            return (
                timeless(await client.search("seal valve", limit=3)),
                timeless(await client.related("Valve.md")),
                await client.get("Pump.md", heading="Repair"),
                await client.tags(),
                (await client.status()).pid,
            )

    with Client.connect(home.places) as client:
        plain = (
            timeless(client.search("seal valve", limit=3)),
            timeless(client.related("Valve.md")),
            client.get("Pump.md", heading="Repair"),
            client.tags(),
            client.status().pid,
        )
    assert run(ask()) == plain


CALLS: list[tuple[str, dict[str, Any], type[errors.VaultragError]]] = [
    ("get", {"path": "Nothing.md"}, errors.NoteNotFound),
    ("get", {"path": "../x.md"}, errors.PathRefused),
    ("search", {"query": "x", "vault": "other"}, errors.VaultUnknown),
    ("search", {"text": "x"}, errors.InvalidParams),
    ("nonsense", {}, errors.MethodNotFound),
    ("add_vault", {"path": "/nowhere/at/all"}, errors.VaultMissing),
    ("add_vault", {"path": "/etc/hostname"}, errors.VaultUnsuitable),
]


@pytest.mark.parametrize(("method", "params", "kind"), CALLS)
def test_errors_are_the_daemons_own(
    home: Home, method: str, params: dict[str, Any], kind: type[errors.VaultragError]
) -> None:
    """Both clients raise the exception that the daemon raised, with its message and its hint."""

    async def ask() -> errors.VaultragError:
        async with await AsyncClient.connect(home.places) as client:
            with pytest.raises(kind) as caught:
                await client.call(method, params)
            return caught.value

    with Client.connect(home.places) as client, pytest.raises(kind) as caught:
        client.call(method, params)
    other = run(ask())
    assert type(caught.value) is type(other) is kind
    assert (caught.value.message, caught.value.hint) == (other.message, other.hint)
    assert caught.value.hint or kind not in (errors.NoteNotFound, errors.VaultUnknown)


def test_a_cancelled_await_cancels_at_the_daemon(slow_daemon: RunningDaemon) -> None:
    """A search that is given up frees its place at the daemon, and the connection goes on."""

    async def ask() -> None:
        async with await AsyncClient.connect(slow_daemon.home.places) as client:
            for number in range(40):  # more than a connection may have under way
                task = asyncio.ensure_future(client.search(f"given up {number}"))
                await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert (await client.search("seal", mode="words")).hits

    run(ask())


def test_many_calls_at_once_find_their_answers(home: Home) -> None:
    """A hundred searches awaited together each get their own answer."""

    async def ask() -> None:
        async with await AsyncClient.connect(home.places) as client:
            answers = await asyncio.gather(*(client.search(f"seal {number}") for number in range(100)))
            assert [answer.query for answer in answers] == [f"seal {number}" for number in range(100)]

    run(ask())


def test_parts_come_to_their_own_call(slow_daemon: RunningDaemon) -> None:
    """Each search gets its own part, in either client, before its answer."""

    async def ask() -> None:
        async with await AsyncClient.connect(slow_daemon.home.places) as client:
            parts: dict[str, list[str]] = {"one seal": [], "two valves": []}

            async def search(query: str) -> Answer:
                return await client.ask(Search(query, partial=True), lambda part: parts[query].append(part.query))

            await asyncio.gather(*(search(query) for query in parts))
            assert parts == {query: [query] for query in parts}

    run(ask())
    seen: list[Answer] = []
    with slow_daemon.connect() as client:
        answer = client.ask(Search("three seals", partial=True), seen.append)
    assert [part.state for part in seen] == ["partial"]
    assert answer.state != "partial"


def test_a_callback_that_fails_fails_its_own_call(slow_daemon: RunningDaemon) -> None:
    """What a caller's own callback raises reaches that caller, and the connection goes on."""

    def broken(part: Answer) -> None:
        raise ZeroDivisionError

    async def ask() -> None:
        async with await AsyncClient.connect(slow_daemon.home.places) as client:
            with pytest.raises(ZeroDivisionError):
                await client.ask(Search("a broken seal", partial=True), broken)
            assert (await client.search("seal", mode="words")).hits

    run(ask())


@pytest.fixture
def own_daemon() -> Iterator[RunningDaemon]:
    with daemon_home() as home:
        home.write("Pump.md", "The seal leaks.\n")
        yield home.start()


def test_a_daemon_that_dies_is_a_lost_connection(own_daemon: RunningDaemon) -> None:
    """When the daemon is killed, calls raise ConnectionLost, and a new connection DaemonNotRunning."""
    places = own_daemon.home.places

    async def ask() -> None:
        async with await AsyncClient.connect(places) as client:
            own_daemon.kill()
            with pytest.raises(errors.ConnectionLost):
                await client.search("seal")
            with pytest.raises(errors.ConnectionLost):
                await client.search("seal")

    with own_daemon.connect() as client:
        run(ask())
        with pytest.raises(errors.ConnectionLost):
            client.search("seal")
    with pytest.raises(errors.DaemonNotRunning):
        Client.connect(places)
    assert wait_for_daemon(places, 0.1) is None
    assert wait_for_daemon(places, 5, alive=lambda: False) is None


def test_calls_that_wait_are_rejected_on_close(slow_daemon: RunningDaemon) -> None:
    """Closing a connection ends the calls that wait on it with ConnectionLost."""

    async def ask() -> None:
        client = await AsyncClient.connect(slow_daemon.home.places)
        task = asyncio.ensure_future(client.search("still waiting"))
        await asyncio.sleep(0)
        await client.close()
        with pytest.raises(errors.ConnectionLost):
            await task
        with pytest.raises(errors.ConnectionLost):
            await client.search("after the end")

    run(ask())


def test_nothing_there_is_no_daemon(tmp_path: Path) -> None:
    """Without a discovery file and without a socket no daemon is running, and the hint says how to start one."""
    with pytest.raises(errors.DaemonNotRunning) as caught:
        Client.connect(Places.find({"VAULTRAG_HOME": str(tmp_path)}))
    assert caught.value.hint == "vaultrag up"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', "\ud800".encode("utf-8", "surrogatepass")])
def test_a_broken_discovery_file_is_passed_over(home: Home, text: str | bytes) -> None:
    """A discovery file that cannot be read does not hide a daemon that answers where it always does."""
    link = Path(f"{home.base}/other")
    link.mkdir(exist_ok=True)
    places = Places(link / "config.toml", link / "data", home.places.runtime)
    places.data.mkdir(exist_ok=True)
    places.discovery.write_bytes(text.encode() if isinstance(text, str) else text)
    with Client.connect(places) as client:
        assert client.welcome["name"] == "vaultrag"


def test_a_token_file_that_is_gone_is_no_daemon(home: Home, tmp_path: Path) -> None:
    """A discovery file that names a token nobody can read stands for a daemon that has ended."""
    places = Places(tmp_path / "c", tmp_path, tmp_path / "run")
    table = {"pid": 1, "version": "0", "protocol": 1, "tcp_port": 9, "token_file": str(tmp_path / "token")}
    places.discovery.write_text(json.dumps(table))
    with pytest.raises(errors.DaemonNotRunning):
        Client.connect(places)


def test_discovery_tells_where_and_what(daemon: RunningDaemon, home: Home) -> None:
    """The discovery file names process, version, protocol, sockets and vaults."""
    address = discover(home.places)
    assert address.pid == daemon.pid
    assert address.sockets == (str(home.places.socket),)
    assert address.vaults == (str(home.vault),)
    assert (address.protocol, address.tcp_port, address.token_file) == (1, 0, "")


def test_a_socket_that_was_asked_for_is_tried_first(home: Home, tmp_path: Path) -> None:
    """VAULTRAG_SOCKET names a socket for clients; where nothing answers there, the daemon is found as without it."""
    elsewhere = {"VAULTRAG_HOME": str(tmp_path)}
    with pytest.raises(errors.DaemonNotRunning):
        Client.connect(Places.find(elsewhere))
    asked = Places.find({**elsewhere, "VAULTRAG_SOCKET": str(home.places.socket)})
    assert asked.socket != home.places.socket  # where a daemon of that home would listen stays what it was
    with Client.connect(asked) as client:
        assert client.status().pid == discover(home.places).pid
    nothing_there = {"VAULTRAG_HOME": str(home.path), "VAULTRAG_SOCKET": str(tmp_path / "nothing.sock")}
    with Client.connect(Places.find(nothing_there)) as client:
        assert client.status().pid == discover(home.places).pid


def test_a_daemon_that_answers_nonsense_is_a_foreseen_error() -> None:
    """A peer that does not speak the protocol raises one of vaultrag's errors, and never hangs a client."""
    ours, theirs = socket.socketpair()
    ours.settimeout(5)
    with Client(ours) as client, theirs:
        theirs.sendall(b"SSH-2.0-nonsense\r\n")
        with pytest.raises(errors.InvalidRequest):
            client.status()


def test_a_late_answer_is_not_taken_for_the_next() -> None:
    """After a call that took too long, its late part and answer are passed over by the next call."""
    ours, theirs = socket.socketpair()
    ours.settimeout(0.2)
    part = {"query": "old", "state": "partial"}
    late = [
        {"jsonrpc": "2.0", "method": "search/partial", "params": {"id": 1, "answer": part}},
        {"jsonrpc": "2.0", "id": 1, "result": {"query": "old", "state": "full"}},
        {"jsonrpc": "2.0", "id": 2, "result": {"query": "new", "state": "full"}},
    ]
    seen: list[Answer] = []
    with Client(ours) as client, theirs:
        with pytest.raises(errors.ConnectionLost):
            client.search("old")
        theirs.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in late))
        assert client.ask(Search("new", partial=True), seen.append).query == "new"
    assert seen == []


def test_clients_have_every_method() -> None:
    """What the daemon can be asked, both clients can ask."""
    assert {*METHODS} == {"hello", *(name for name in vars(ClientMethods) if not name.startswith("_"))}
