"""Peers that behave badly: none of them harms another."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemons import Home, Raw, RunningDaemon
from vaultrag.errors import MessageTooLarge
from vaultrag.rpc.client import Client


@pytest.fixture
def stranger(home: Home) -> Iterator[Raw]:
    """A connection that has not said hello."""
    with Raw(home.places, greet=False) as raw:
        yield raw


@pytest.fixture(autouse=True)
def others_are_served(daemon: RunningDaemon) -> Iterator[None]:
    """Whatever a test does to the daemon, another client is answered during and after it."""
    with daemon.connect(timeout_s=5) as client:
        yield
        assert client.search("seal").hits
    with daemon.connect(timeout_s=5) as client:
        assert client.status().notes == 3


def ended(raw: Raw) -> bool:
    """Whether the daemon has ended the connection."""
    try:
        return raw.receive() is None
    except ConnectionError:
        return True


def test_garbage_is_answered_and_the_next_line_is_good(raw: Raw) -> None:
    """A line that is no message is answered with an error under no id; the line after it is served."""
    raw.send(b"\xff\x00 nonsense\n[]\n" + raw.request("tags", {}, 4))
    first, second, third = raw.receive(), raw.receive(), raw.receive()
    assert (first["id"], first["error"]["code"]) == (None, -32700)
    assert (second["id"], second["error"]["code"]) == (None, -32600)
    assert third["id"] == 4


def test_blank_lines_and_carriage_returns_are_nothing(raw: Raw) -> None:
    """Blank lines are passed over, and a line may end the way Windows ends it."""
    raw.send(b"\n\r\n  \n" + raw.request("tags", {}, 1).strip() + b"\r\n")
    assert raw.receive()["id"] == 1


def test_messages_arrive_byte_by_byte(raw: Raw) -> None:
    """A call that comes one byte at a time is the same call."""
    for byte in raw.request("search", {"query": "😀 seal"}, 1):
        raw.send(bytes([byte]))
    assert raw.receive()["result"]["query"] == "😀 seal"


def test_half_a_line_and_silence_harm_nobody(stranger: Raw, raw: Raw) -> None:
    """A client that stops within a line keeps nobody waiting, before hello or after it."""
    stranger.send(b'{"jsonrpc": "2.0", "meth')
    raw.send(b'{"jsonrpc": "2.0", "method": "sta')


def test_a_line_over_the_limit_ends_its_connection(raw: Raw) -> None:
    """A line that is too long is told so, and its connection is closed."""
    raw.send(raw.request("search", {"query": "x" * 200_000}, 1))
    answer = raw.receive()
    assert answer["id"] is None
    assert answer["error"]["data"]["kind"] == "MessageTooLarge"
    assert answer["error"]["data"]["max_bytes"] == 100_000
    assert ended(raw)


def test_a_line_without_end_is_cut_off(raw: Raw) -> None:
    """A stream that never ends its line is refused at the limit, not gathered in memory."""
    with contextlib.suppress(ConnectionError, TimeoutError):
        for _ in range(2_000):
            raw.send(b"x" * 65_536)
    with contextlib.suppress(ConnectionError):
        assert raw.receive()["error"]["data"]["kind"] == "MessageTooLarge"


@pytest.mark.parametrize("verb", ["GET / HTTP/1.1", "POST /rpc HTTP/1.1", "CONNECT a:1 HTTP/1.1", "PRI * HTTP/2.0"])
def test_http_is_refused(stranger: Raw, verb: str) -> None:
    """A browser's request is refused at its first line; the body that follows is not run."""
    body = stranger.request("shutdown", {}, 1)
    stranger.send(f"{verb}\r\nHost: localhost\r\n\r\n".encode() + body)
    answer = stranger.receive()
    assert answer["error"]["data"]["kind"] == "InvalidRequest"
    assert "HTTP" in answer["error"]["message"]
    assert ended(stranger)


def test_two_hundred_clients_are_served(daemon: RunningDaemon, home: Home) -> None:
    """Two hundred connections at once are all answered."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(daemon.connect()) for _ in range(200)]
        for client in clients:
            assert client.search("seal", limit=1).hits


def test_clients_beyond_the_limit_are_told_so(home: Home, daemon: RunningDaemon) -> None:
    """A client too many is told to come back later, and is let in when others have gone."""
    with contextlib.ExitStack() as stack:
        for _ in range(250):
            stack.enter_context(Raw(home.places))
        refused = [Raw(home.places, greet=False) for _ in range(20)]
        last = stack.enter_context(refused[-1])
        answer = last.receive()
        assert "too many clients" in answer["error"]["message"]
        for raw in refused:
            raw.close()

    def let_in() -> bool:
        with Raw(home.places, greet=False) as again:
            return "result" in (again.call("hello", {"client": "again"}) or {})

    daemon.until(let_in, "a client is let in again")


def test_a_reader_that_sleeps_holds_up_only_itself(raw: Raw, daemon: RunningDaemon) -> None:
    """A client that asks for much and reads nothing is read no further; all others are served meanwhile."""
    raw.sock.settimeout(2)
    line = raw.request("get", {"path": "Pump.md"}, 1)
    sent = 0
    with contextlib.suppress(TimeoutError):
        for number in range(200_000):
            raw.send(line.replace(b'"id": 1', b'"id": %d' % number))
            sent += 1
    assert sent < 200_000, "the daemon took everything, and must have kept all answers"
    with daemon.connect() as client:
        assert client.search("seal").hits


def test_a_client_that_leaves_in_mid_call_is_forgotten(daemon: RunningDaemon, home: Home) -> None:
    """A connection that is closed with calls under way leaves nothing behind."""
    files = len(list(open_sockets(daemon)))
    for _ in range(30):
        with Raw(home.places) as raw:
            raw.send(b"".join(raw.request("search", {"query": f"seal {n}"}, n) for n in range(20)))
    daemon.until(lambda: len(list(open_sockets(daemon))) <= files, "the connections are closed")


def open_sockets(daemon: RunningDaemon) -> Iterator[str]:
    """The sockets that the process holds."""
    for entry in Path(f"/proc/{daemon.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if (target := str(entry.readlink())).startswith("socket:"):
                yield target


def test_who_has_finished_asking_still_gets_the_answers(raw: Raw) -> None:
    """A script that sends its calls and closes its sending half reads all the answers."""
    raw.send(b"".join(raw.request("search", {"query": "seal"}, number) for number in range(5)))
    raw.sock.shutdown(socket.SHUT_WR)
    assert sorted(raw.receive()["id"] for _ in range(5)) == list(range(5))
    assert raw.receive() is None


def test_answers_from_a_client_are_ignored(raw: Raw) -> None:
    """The daemon asks clients nothing, so what looks like an answer means nothing."""
    raw.send(b'{"jsonrpc":"2.0","id":1,"result":null}\n{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}\n')
    assert raw.call("tags", {}, 1)["id"] == 1


def test_the_python_client_is_told_why_it_is_refused(home: Home) -> None:
    """The daemon's reason reaches a client even while that is still sending."""
    with Client.connect(home.places) as client, pytest.raises(MessageTooLarge):
        client.search("x" * 3_000_000)
