"""The process: protocol versions, stdout kept clean, its start and its end, a daemon that comes and goes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.mcp.conftest import NOTES, Agents, Piped
from tests.support.daemons import REPOSITORY, Home, RunningDaemon, daemon_home, until
from vaultrag.rpc.discovery import alive

PRINTS = """
import atexit, os, subprocess, sys

def shout(where):
    print("stray print,", where)
    sys.__stdout__.write("stray write, " + where + "\\n")
    os.write(1, b"stray bytes, " + where.encode() + b"\\n")
    subprocess.run(["echo", "stray child,", where])

atexit.register(shout, "at the end")
import vaultrag.mcp.session, vaultrag.mcp.run
ask = vaultrag.mcp.session.Session.ask

async def loud(self, question):
    shout("in a library")
    return await ask(self, question)

vaultrag.mcp.session.Session.ask = loud

class Loud:
    def find_spec(self, name, path=None, target=None):
        if name == "mcp.server.stdio":
            shout("in an import")

sys.meta_path.insert(0, Loud())
from vaultrag.cli import main
main()
"""


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_old_clients_are_spoken_to_in_their_version(daemon: RunningDaemon, version: str) -> None:
    """A client gets the version that it asked for, the instructions, the tools, and answers."""
    with Piped(daemon.home) as piped:
        welcome = piped.greet(version)
        assert welcome["protocolVersion"] == version
        assert welcome["serverInfo"]["name"] == "vaultrag"
        assert "search_notes" in welcome["instructions"]
        assert {"tools", "resources", "prompts"} <= set(welcome["capabilities"])
        tools = piped.ask("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools][:2] == ["search_notes", "read_note"]
        assert "mechanical seal" in piped.call("search_notes", query="mechanical seal")["content"][0]["text"]
        assert piped.ask("resources/read", uri="note:///Pumps/Bearings.md")["result"]["contents"]
        assert piped.hang_up()[:2] == (0, b"")


def test_a_version_from_the_future_gets_a_counter_offer(daemon: RunningDaemon) -> None:
    """Who asks for a version that is not known is offered one that is."""
    with Piped(daemon.home) as piped:
        assert piped.greet("2999-01-01")["protocolVersion"] == "2025-11-25"


def test_the_newest_protocol_over_a_pipe(daemon: RunningDaemon) -> None:
    """The SDK's client, left to find the best version by itself, gets along with the process."""

    async def talk() -> None:
        environ = {"VAULTRAG_HOME": str(daemon.home.path), "PYTHONPATH": str(REPOSITORY)}
        start = StdioServerParameters(command=sys.executable, args=["-m", "vaultrag", "mcp"], env=environ)
        async with Client(start, mode="auto") as client:
            assert client.protocol_version == "2026-07-28"
            result = await client.call_tool("read_note", {"path": "Pumps/Bearings.md"})
            assert "Grease the bearings" in result.content[0].text  # type: ignore[union-attr]  # it is a text

    asyncio.run(talk())


def test_stray_prints_cannot_reach_stdout(daemon: RunningDaemon) -> None:
    """Whatever prints, by Python, by descriptor or as a child, while loading, answering or ending: stdout is clean."""
    with Piped(daemon.home, code=PRINTS) as piped:
        piped.greet()
        assert piped.call("read_note", path="Pumps/Bearings.md")["structuredContent"]["title"] == "Bearings"
        code, out, err = piped.hang_up()
    assert (code, out) == (0, b"")
    for how in ("print", "write", "bytes", "child"):
        for where in ("in an import", "in a library", "at the end"):
            assert f"stray {how}, {where}".encode() in err


def test_it_ends_when_stdin_ends(daemon: RunningDaemon) -> None:
    """A host that goes away leaves no process behind, greeted or not; the daemon goes on."""
    for greeted in (True, False):
        with Piped(daemon.home) as piped:
            if greeted:
                piped.greet()
            assert piped.hang_up()[0] == 0
    assert daemon.client.status().notes == len(NOTES)


def test_a_host_that_reads_no_more_is_no_fault(daemon: RunningDaemon) -> None:
    """Who closes the pipe, and asks once more before going, leaves no complaint behind."""
    with Piped(daemon.home) as piped:
        piped.greet()
        assert piped.process.stdout is not None
        piped.process.stdout.close()
        piped.send(id=9, method="tools/list", params={})
        assert piped.process.stdin is not None
        piped.process.stdin.close()
        assert piped.process.wait(20) == 0
        assert piped.process.stderr is not None
        assert piped.process.stderr.read() == b""
        piped.process.stdin = None


def test_it_does_without_stderr(daemon: RunningDaemon) -> None:
    """Started with no stderr at all, it serves, and stray prints still do not reach stdout."""
    with Piped(daemon.home, code=PRINTS, preexec_fn=lambda: os.close(2)) as piped:
        piped.greet()
        assert piped.call("read_note", path="Pumps/Bearings.md")["structuredContent"]["title"] == "Bearings"
        assert piped.hang_up()[:2] == (0, b"")


def test_a_call_can_be_taken_back(daemon: RunningDaemon) -> None:
    """A cancelled call does not end the session, nor hold up the next one."""
    with Piped(daemon.home) as piped:
        piped.greet()
        for number in range(20):
            piped.send(id=500 + number, method="tools/call",
                       params={"name": "search_notes", "arguments": {"query": f"pump {number}"}})  # fmt: skip
            piped.send(method="notifications/cancelled", params={"requestId": 500 + number, "reason": "test"})
        assert piped.call("vault_status")["structuredContent"]["notes"] == len(NOTES)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_told_to(daemon: RunningDaemon, number: int) -> None:
    """A signal ends it, with stdin still open."""
    with Piped(daemon.home) as piped:
        piped.greet()
        piped.process.send_signal(number)
        assert piped.process.wait(20) == -number


def test_garbage_is_no_end(daemon: RunningDaemon) -> None:
    """A line that is no message does not end the session."""
    with Piped(daemon.home) as piped:
        piped.greet()
        assert piped.process.stdin is not None
        piped.process.stdin.write(b"\xff\xfe garbage\n{}\n[]\n")
        piped.process.stdin.flush()
        piped._ids = 100
        while True:  # what the SDK says of the lines before
            piped.send(id=101, method="ping")
            if piped.receive().get("id") == 101:
                break


def test_the_daemon_is_started_if_need_be() -> None:
    """With no daemon, one is started for the vault that the host's settings name; it outlives the agent."""
    with daemon_home() as home, Piped(home, "--vault", str(home.vault)) as piped:
        home.write("Pump.md", "The pump leaks.\n")
        try:
            piped.greet()
            assert piped.call("search_notes", query="leaks")["structuredContent"]["notes"][0]["path"] == "Pump.md"
            assert piped.hang_up()[0] == 0
            assert alive(int(home.places.lock.read_text()))
        finally:
            end_daemon(home)


def test_without_a_daemon_it_says_so_and_goes_on() -> None:
    """Where none is to be started, the instructions and each tool say what to do; once one runs, the tools answer."""
    with daemon_home() as home:
        home.write("Pump.md", "The pump leaks.\n")
        with Piped(home, "--no-start") as piped:
            welcome = piped.greet()
            assert "The rules could not be read (no daemon is running; try: tell the person" in welcome["instructions"]
            failed = piped.call("search_notes", query="leaks")
            assert failed["isError"] is True
            assert (
                failed["content"][0]["text"]
                == "no daemon is running; try: tell the person you work for; this is theirs to repair"
            )
            home.start().ready()
            assert piped.call("search_notes", query="leaks")["structuredContent"]["notes"]


def test_it_finds_the_daemon_again() -> None:
    """A daemon that was restarted, or killed, is found again or started by the next call."""
    with daemon_home() as home:
        home.write("Pump.md", "The pump leaks.\n")
        first = home.start()
        first.ready()
        with Piped(home) as piped:
            piped.greet()
            assert piped.call("search_notes", query="leaks")["structuredContent"]["notes"]
            first.stop()
            second = home.start()
            assert piped.call("search_notes", query="leaks")["structuredContent"]["notes"]
            second.kill()
            try:
                assert piped.call("search_notes", query="leaks")["structuredContent"]["notes"]
            finally:
                end_daemon(home)


def test_several_vaults_must_be_told_apart() -> None:
    """With several vaults and none named, the answer says how to name one; named, it is the one that is searched."""
    with daemon_home() as home:
        home.write("Pump.md", "The pump leaks.\n")
        other = home.base / "other"
        other.mkdir()
        (other / "Valve.md").write_text("The valve leaks.\n")
        home.start(home.vault, other).ready()
        with Piped(home) as piped:
            piped.greet()
            assert "several vaults are served" in piped.call("search_notes", query="leaks")["content"][0]["text"]
        with Piped(home, "--vault", "other") as piped:
            piped.greet()
            found = piped.call("search_notes", query="leaks")["structuredContent"]["notes"]
            assert [note["path"] for note in found] == ["Valve.md"]


def test_many_calls_at_once(agents: Agents) -> None:
    """Calls do not wait for each other, and no answer comes to the wrong one."""
    with Piped(agents.home) as piped:
        piped.greet()
        paths = [path for path in NOTES if path != "Long.md"] * 5
        for number, path in enumerate(paths):
            piped.send(id=1000 + number, method="tools/call", params={"name": "read_note", "arguments": {"path": path}})
        answers: dict[int, str] = {}
        while len(answers) < len(paths):
            message = piped.receive()
            answers[message["id"] - 1000] = message["result"]["structuredContent"]["path"]
        assert [answers[number] for number in range(len(paths))] == paths


def end_daemon(home: Home) -> None:
    """End the daemon that the process under test has started."""
    pid = int(home.places.lock.read_text())
    os.kill(pid, signal.SIGTERM)
    until(lambda: not alive(pid), "the daemon ends", 20)
