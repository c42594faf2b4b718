"""A real daemon, and agents at it: the SDK's own client in this process or over a pipe, and bare lines over a pipe."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar

import pytest
from mcp.client.client import Client

from tests.guard.conftest import model, twins  # two vaults that differ in their private notes only
from tests.support.commands import command, vault
from tests.support.daemons import Home, RunningDaemon, daemon_home
from vaultrag.domain import Capacity
from vaultrag.mcp.run import guidance
from vaultrag.mcp.server import server
from vaultrag.mcp.session import Session, Target
from vaultrag.mcp.tools import TOOLS, Desk

__all__ = ["command", "model", "twins", "vault"]

T = TypeVar("T")

NOTES = {
    "Pumps/Seal replacement.md": (
        "---\ntags: [pump, howto]\naliases: [Changing seals]\n---\n# Seal replacement\n\nDrain the casing first.\n\n"
        "## Order\n\nThe mechanical seal comes off before the impeller. See [[Bearings]].\n"
    ),
    "Pumps/Bearings.md": "# Bearings\n\nGrease the bearings every quarter, never while the pump is warm.\n",
    "Pumps/Old plan.md": "---\nsuperseded_by: '[[New plan]]'\n---\n# Old plan\n\nThe hall gets two pumps.\n",
    "Pumps/New plan.md": "# New plan\n\nThe hall gets three pumps.\n",
    "Garden/Tomatoes.md": "# Tomatoes\n\nWater them in the morning. 🍅 Blight comes with wet leaves.\n",
    "Rules/Night pump.md": (
        "---\nalways: true\ncreated: 2024-02-01\n---\n# Night pump\n\nP-102 never runs alone: it has no flywheel.\n"
    ),
    "Rules/Two greases.md": (
        "---\nalways: true\ncreated: 2023-05-01\n---\n# Two greases\n\nNever mix two greases: they go liquid.\n"
    ),
    "日本語.md": "# 日本語\n\n東京都の水道について。\n",
    "Long.md": "# Long\n\n"
    + "\n\n".join(f"Paragraph {n} is about the weather and little else." for n in range(400))
    + "\n",
}


class Agents:
    """Agents at one daemon."""

    def __init__(self, home: Home, capacity: Capacity = "large") -> None:
        self.home = home
        self.capacity = capacity

    @asynccontextmanager
    async def client(self, mode: str = "legacy") -> AsyncIterator[Client]:
        """The SDK's client, in this process."""
        desk = Desk(Session(Target(self.home.places, str(self.home.vault), start=False)), self.capacity)
        try:
            async with Client(server(desk, await guidance(desk)), mode=mode) as client:
                yield client
        finally:
            await desk.link.close()

    def run(self, talk: Callable[[Client], Awaitable[T]], mode: str = "legacy") -> T:
        """Have a conversation."""

        async def whole() -> T:
            failure: Exception | None = None
            async with self.client(mode) as client:
                try:
                    return await talk(client)
                except Exception as error:  # raised in here, it would come out wrapped in groups
                    failure = error
            raise failure

        return asyncio.run(whole())

    def call(self, name: str, **arguments: Any) -> Any:
        """One call of a tool."""
        return self.run(lambda client: client.call_tool(name, arguments))

    def answer(self, name: str, **arguments: Any) -> Any:
        """What a tool answers; it must not be a failure."""
        result = self.call(name, **arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def failure(self, name: str, **arguments: Any) -> str:
        """What a tool says has gone wrong."""
        result = self.call(name, **arguments)
        assert result.is_error, result.structured_content
        assert result.structured_content is None
        text: str = result.content[0].text
        return text


class Piped:
    """``vaultrag mcp`` as a process; lines in, lines out, nothing helped along."""

    def __init__(self, home: Home, *args: str, code: str = "", **options: Any) -> None:
        program = ["-c", code] if code else ["-m", "vaultrag"]
        self.process = subprocess.Popen(
            [sys.executable, *program, "mcp", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home.base,
            env=home.environment(),
            **options,
        )
        self._rest = b""
        self._ids = 0

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self, timeout_s: float = 30.0) -> Any:
        """The next line, which must be a message."""
        assert self.process.stdout is not None
        while b"\n" not in self._rest:
            assert select.select([self.process.stdout], [], [], timeout_s)[0], "no answer in time"
            data = os.read(self.process.stdout.fileno(), 65_536)
            assert data, "stdout ended"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to a call; notifications before it are passed over."""
        self._ids += 1
        self.send(id=self._ids, method=method, params=params)
        while True:
            message = self.receive()
            if message.get("id") == self._ids:
                return message

    def greet(self, version: str = "2025-06-18") -> Any:
        """Begin the session; what the server says of itself."""
        client = {"name": "test", "version": "1"}
        answer = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.send(method="notifications/initialized")
        return answer["result"]

    def call(self, name: str, **arguments: Any) -> Any:
        """The result of a tool."""
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def hang_up(self) -> tuple[int, bytes, bytes]:
        """End stdin; the exit code, what else was on stdout, and stderr."""
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, self._rest + out, err

    def __enter__(self) -> Piped:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        _, err = self.process.communicate(timeout=30)
        print(f"--- stderr of vaultrag mcp\n{err.decode('utf-8', 'replace')}")


@pytest.fixture(scope="session")
def daemon() -> Iterator[RunningDaemon]:
    """Serves a small vault by words and names."""
    with daemon_home() as home:
        for path, text in NOTES.items():
            home.write(path, text)
        running = home.start()
        running.ready()
        yield running


@pytest.fixture(scope="session")
def agents(daemon: RunningDaemon) -> Agents:
    return Agents(daemon.home)


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_notes", {"query": "seal"}),
    ("search_notes", {"query": "pump", "limit": 1}),
    ("search_notes", {"query": "hall pumps", "max_tokens": 80}),
    ("search_notes", {"query": "unheard-of zebra"}),
    ("search_notes", {"query": ""}),
    ("read_note", {"path": "Pumps/Bearings.md"}),
    ("read_note", {"path": "Pumps/Seal replacement.md#L9-L11"}),
    ("read_note", {"path": "Pumps/Seal replacement.md", "heading": "Order"}),
    ("read_note", {"path": "Pumps/Old plan.md", "shape": "compact"}),
    ("read_note", {"path": "Long.md", "max_tokens": 100}),
    ("related_notes", {"path": "Pumps/Bearings.md"}),
    ("related_notes", {"path": "Pumps/Bearings.md", "unlinked": True}),
    ("recent_notes", {}),
    ("recent_notes", {"limit": 2, "days": 1}),
    ("vault_timeline", {}),
    ("vault_timeline", {"query": "seal", "limit": 1}),
    ("vault_rules", {}),
    ("vault_status", {}),
]
"""Calls that are answered, of every tool."""

assert {name for name, _ in CALLS} == set(TOOLS)
