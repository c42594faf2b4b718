"""Loopback TCP, for systems without Unix sockets: closed to who cannot read the token, and to every web page."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemons import RunningDaemon, daemon_home
from vaultrag import errors
from vaultrag.rpc import connection
from vaultrag.rpc.client import AsyncClient, Client, discover
from vaultrag.rpc.discovery import Address


@pytest.fixture(scope="module")
def daemon() -> Iterator[RunningDaemon]:
    with daemon_home({"server": {"transport": "tcp"}}) as home:
        home.write("Pump.md", "The seal leaks.\n")
        home.write("Diary.md", "---\nprivate: true\n---\nThe seal of my diary.\n")
        daemon = home.start()
        daemon.ready()
        yield daemon


@pytest.fixture(scope="module")
def address(daemon: RunningDaemon) -> Address:
    return discover(daemon.home.places)


@pytest.fixture(scope="module")
def token(address: Address) -> str:
    return Path(address.token_file).read_text()


def line(method: str, params: dict[str, Any], call_id: int = 1) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}).encode() + b"\n"


def spoken(address: Address, data: bytes, *, half_close: bool = False) -> bytes:
    """All that the daemon says to this, until it hangs up."""
    said = b""
    sock = socket.create_connection(("127.0.0.1", address.tcp_port), 10)
    with sock, contextlib.suppress(ConnectionError):
        sock.sendall(data)
        if half_close:
            sock.shutdown(socket.SHUT_WR)
        while part := sock.recv(65_536):
            said += part
    return said


def test_it_listens_on_loopback_only(address: Address) -> None:
    """The port is bound to 127.0.0.1: no other address of the machine, nor another loopback one, leads to it."""
    rows = [row.split() for table in ("tcp", "tcp6") for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == address.tcp_port]
    assert listening == [f"0100007F:{address.tcp_port:04X}"]
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", address.tcp_port), 2)


def test_what_leads_to_it_is_the_users_own(daemon: RunningDaemon, address: Address, token: str) -> None:
    """The token and the discovery file are the user's own, the token is in no other file, and it is long and random."""
    places = daemon.home.places
    for path in (Path(address.token_file), places.discovery):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(places.data.stat().st_mode) == 0o700
    holding = [path for path in places.data.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
    assert holding == [Path(address.token_file)]
    assert token not in daemon.home.log
    assert token not in Path(f"/proc/{daemon.pid}/cmdline").read_text()
    assert len(bytes.fromhex(token)) == 32


STRANGE = {
    "status": line("status", {}),
    "search": line("search", {"query": "seal"}),
    "shutdown": line("shutdown", {}),
    "no method": b'{"jsonrpc":"2.0","id":1,"result":1}\n',
    "cancel": line("$/cancelRequest", {"id": 1}),
    "hello without": line("hello", {"client": "x"}),
    "hello with nothing": line("hello", {"client": "x", "token": ""}),
    "hello with null": line("hello", {"client": "x", "token": None}),
    "hello with true": line("hello", {"client": "x", "token": True}),
    "hello with list": line("hello", {"client": "x", "token": ["a"]}),
    "hello with zeros": line("hello", {"client": "x", "token": "0" * 64}),
    "hello with half a pair": b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{"client":"x","token":"\\ud800"}}\n',
    "hello with emoji": line("hello", {"client": "x", "token": "🔑" * 16}),
    "hello with a slip": line("helo", {"client": "x"}),
    "garbage": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n",
    "list": b"[]\n",
    "deep": b"[" * 10_000 + b"\n",
    "text": b"hello\n",
}


@pytest.mark.parametrize("data", STRANGE.values(), ids=STRANGE)
def test_nothing_is_answered_before_the_token(daemon: RunningDaemon, address: Address, data: bytes) -> None:
    """Whatever comes before the token is told that a token is wanted, and no more; what follows it is not read."""
    said = spoken(address, data + line("shutdown", {}, 2) + line("status", {}, 3))
    (only,) = said.splitlines()
    answer = json.loads(only)
    assert answer["id"] is None
    assert "token" in answer["error"]["message"]
    for fact in (str(daemon.pid), daemon.home.vault.name, "Pump", "seal"):
        assert fact not in said.decode()
    assert daemon.process.poll() is None


PAGE = [
    "GET / HTTP/1.1", "POST / HTTP/1.1", "OPTIONS / HTTP/1.1", "HEAD / HTTP/1.0", "PUT /x HTTP/1.1",
    "DELETE / HTTP/1.1",
    "PATCH / HTTP/1.1", "CONNECT localhost:80 HTTP/1.1", "TRACE / HTTP/1.1", "PRI * HTTP/2.0", "get / http/1.1",
    "FOO / HTTP/1.1",
    "POST\t/\tHTTP/1.1",
]  # fmt: skip


@pytest.mark.parametrize("first", PAGE)
def test_a_page_cannot_get_in(address: Address, token: str, first: str) -> None:
    """What a browser can be made to send is refused at its first line, be the rest of it a good call with the token."""
    head = f"{first}\r\nHost: 127.0.0.1:{address.tcp_port}\r\nOrigin: null\r\nUpgrade: websocket\r\n\r\n".encode()
    said = spoken(address, head + line("hello", {"client": "page", "token": token}) + line("status", {}, 2))
    (only,) = said.splitlines()
    answer = json.loads(only)
    assert answer["error"]["data"]["kind"] == "InvalidRequest"
    assert not said.startswith(b"HTTP")
    assert b"result" not in said


def test_a_stranger_fills_no_memory(address: Address, token: str) -> None:
    """Before the token a line ends at a few kilobytes; after it, where it does for everybody."""
    said = spoken(address, line("hello", {"client": "x" * 20_000, "token": token}))
    assert json.loads(said)["error"]["data"]["kind"] == "MessageTooLarge"
    greeting = line("hello", {"client": "x", "token": token})
    said = spoken(address, greeting + line("search", {"query": "seal " * 100_000}, 2), half_close=True)
    assert [("result" in json.loads(part)) for part in said.splitlines()] == [True, True]


def test_the_token_is_compared_in_constant_time(address: Address, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison is the standard library's for secrets, over the whole token."""
    compared: list[tuple[bytes, bytes]] = []

    def digest(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", digest)
    host = connection.Host(None, lambda: None, 1000, token, None, None, None)  # type: ignore[arg-type]  # it asks none
    for given in ("", token[:-1], token):
        peer = connection.Connection(host, None, None)  # type: ignore[arg-type]  # nothing is read or written
        with contextlib.suppress(errors.InvalidRequest):
            peer._recognise(line("hello", {"client": "x", "token": given}))
        assert peer._stranger is (given != token)
    assert compared == [(given.encode(), token.encode()) for given in ("", token[:-1], token)]


def test_both_clients_find_their_way(daemon: RunningDaemon) -> None:
    """The Python clients connect by the discovery file, as a person or as an agent."""

    async def ask() -> list[str]:
        async with await AsyncClient.connect(daemon.home.places, reader="agent") as client:
            return [hit.path for hit in (await client.search("seal")).hits]

    with Client.connect(daemon.home.places) as client:
        assert {hit.path for hit in client.search("seal").hits} == {"Pump.md", "Diary.md"}
    assert asyncio.run(asyncio.wait_for(ask(), 20)) == ["Pump.md"]


def test_the_token_is_new_with_each_start() -> None:
    """After a restart the old token opens nothing, and after a crash the file it left is replaced."""
    with daemon_home({"server": {"transport": "tcp"}}) as home:
        home.write("Pump.md", "The seal leaks.\n")
        first = home.start()
        old = Path(discover(home.places).token_file).read_text()
        first.kill()
        home.start()
        now = discover(home.places)
        assert Path(now.token_file).read_text() != old
        assert b"result" not in spoken(now, line("hello", {"client": "x", "token": old}))
