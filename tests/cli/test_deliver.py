"""rules, catalogue, push, and searches for a model, as processes."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_imports import HEAVY, PROBE
from tests.support.commands import NOTES, Command, make_home, make_vault
from vaultrag.cli.push import deed_of
from vaultrag.text.token_estimate import estimate

pytestmark = pytest.mark.timeout(180)

AGENTS = {
    "Rules/House.md": "---\nalways: true\ntype: rule\n---\n# House\n\nDoors stay shut.\n",
    "Rules/Own.md": "---\nalways: true\nprivate: true\n---\n# Own\n\nA private rule.\n",
    "SQL.md": "---\ntype: howto\ntags: [db]\nwhen: '*.sql'\n---\n# SQL\n\nName the table first.\n",
    "Diary/Log.md": "## 2025-03-11\n\nFirst day.\n## 2025-03-12\n\nSecond day.\n",
    "Diary/2025-03-20 gasket.md": "# A gasket\n\nThe gasket of the boiler was changed.\n",
    "Old pump.md": "---\nsuperseded_by: '[[Bearings]]'\n---\n# Old pump\n\nThe pump of before: grease it daily.\n",
}


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    base = tmp_path_factory.mktemp("agents")
    made = Command(make_home(base))
    try:
        made.run("up", str(make_vault(base / "My notes", NOTES | AGENTS)), code=0)
        yield made
    finally:
        made.end()


def push(command: Command, event: Any, *args: str) -> subprocess.CompletedProcess[bytes]:
    data = event if isinstance(event, bytes) else json.dumps(event).encode()
    return subprocess.run(
        [sys.executable, "-m", "vaultrag", "push", "--event-json", "-", *args],
        input=data, env=command.environment, capture_output=True, timeout=60, check=False,
    )  # fmt: skip


def silent(result: subprocess.CompletedProcess[bytes]) -> bool:
    return (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_rules_are_printed_whole(agents: Command) -> None:
    """Each rule stands whole under its path; as an agent gets them the private one is not there."""
    out = agents.run("rules", code=0).stdout
    assert AGENTS["Rules/House.md"].strip() in out
    assert "A private rule." in out
    assert [rule["path"] for rule in agents.json("rules", "--agent")["rules"]] == ["Rules/House.md"]


def test_rules_that_cost_too_much_are_an_error(agents: Command) -> None:
    """A budget that they do not fit ends with 2 and names them; nothing is printed to stdout."""
    result = agents.run("rules", "--max-tokens", "5", code=2)
    assert result.stdout == ""
    assert "Rules/House.md" in result.stderr
    assert "[rules]" in result.stderr


def test_without_a_rule_it_says_how_to_make_one(served: Command) -> None:
    """No rule is an answer of its own, with exit code 1."""
    assert "always: true" in served.run("rules", code=1).stderr


def test_a_timeline_is_printed_in_order(agents: Command) -> None:
    """Each line has its date, where that was read, and a citation; a phrase of time leaves out the rest."""
    lines = agents.run("timeline", "--folder", "Diary", code=0).stdout.splitlines()
    assert [line[:10] for line in lines] == ["2025-03-11", "2025-03-12", "2025-03-20"]
    assert "2025-03-12 (heading)" in lines[1]
    assert lines[1].endswith("Diary/Log.md#L4-L6")
    assert "(file name)" in lines[2]
    asked = agents.run("timeline", "gasket in March 2025", code=0)
    assert "Diary/2025-03-20 gasket.md" in asked.stdout
    assert "2025-03-01 to 2025-03-31" in asked.stderr
    found = agents.json("timeline", "gasket on 20 March 2025")
    assert [entry["path"] for entry in found["entries"]] == ["Diary/2025-03-20 gasket.md"]


def test_a_phrase_of_time_is_told_and_can_be_a_filter(agents: Command) -> None:
    """A search says how it read the phrase; as a filter only notes of that time are left."""
    answer = agents.json("search", "gasket on 20 March 2025", "--dates", "filter")
    assert [hit["path"] for hit in answer["hits"]] == ["Diary/2025-03-20 gasket.md"]
    assert answer["hits"][0]["date"] == {"first": "2025-03-20", "last": "2025-03-20", "source": "file name"}
    assert answer["time"]["first"] == "2025-03-20"
    assert "is read as 2025-03-20" in agents.run("search", "gasket on 20 March 2025", code=0).stdout
    assert agents.json("search", "gasket on 20 March 2025", "--dates", "ignore")["time"] is None


def test_the_catalogue_is_a_line_a_note(agents: Command) -> None:
    """By type, narrowed by folder and tag; an unknown folder holds nothing."""
    out = agents.run("catalogue", code=0).stdout
    assert "howto:\n- SQL.md: SQL (howto) — Name the table first.\n" in out
    assert out.index("rule:") < out.index("of no type:")
    narrowed = agents.run("catalogue", "--tag", "db", code=0).stdout
    assert narrowed == "howto:\n- SQL.md: SQL (howto) — Name the table first.\n"
    assert "Bearings" in agents.run("catalogue", "--folder", "Pumps", code=0).stdout
    agents.run("catalogue", "--folder", "Nowhere", code=1)
    assert "cut: " in agents.run("catalogue", "--limit", "2", code=0).stdout


def test_a_search_for_a_model(agents: Command) -> None:
    """Shape, reader and budget give plain text with citations; what was cut is said, what no longer holds is marked."""
    lines = agents.run("search", "grease", "pump", "--shape", "compact", code=0).stdout
    assert re.search(r"^Old pump\.md#L\d+-L\d+ \[superseded by Bearings\]$", lines, re.MULTILINE)
    whole = agents.run("search", "grease", "bearings", "--shape", "full", "-n", "1", code=0).stdout
    assert NOTES["Pumps/Bearings.md"].strip() in whole
    small = agents.run("search", "the", "pump", "--reader", "small", "--max-tokens", "60", code=0).stdout
    assert "cut: " in small
    assert estimate(small.partition("cut:")[0]) <= 60
    assert agents.json("search", "pump", "--reader", "small")["shape"] == "compact"
    assert "superseded by Bearings" in agents.run("search", "grease", "pump", code=0).stdout


def test_push_prints_what_a_deed_calls_for_once(agents: Command) -> None:
    """The note that fits is printed with the reason; in the same session it does not come again."""
    event = {"session_id": "one", "tool_name": "Edit", "tool_input": {"file_path": "/project/a.sql"}, "cwd": "/project"}
    first = push(agents, event)
    assert (first.returncode, first.stderr) == (0, b"")
    assert first.stdout.decode() == "SQL.md (for *.sql)\n\n# SQL\n\nName the table first.\n"
    assert silent(push(agents, event))
    hook = push(agents, {**event, "session_id": "two", "hook_event_name": "PostToolUse"}, "--format", "hook")
    told = json.loads(hook.stdout)["hookSpecificOutput"]
    assert told["hookEventName"] == "PostToolUse"
    assert "Name the table first." in told["additionalContext"]


@pytest.mark.parametrize(
    "event",
    [b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b'{"path": 1}', b'{"tool_input": {"file_path": {"a": 1}}}', b"{}",
     {"path": "a.txt"}],
    ids=str,
)  # fmt: skip
def test_push_is_silent_whatever_it_reads(agents: Command, event: Any) -> None:
    """An event that is none, or that calls for nothing, prints nothing and ends with 0."""
    assert silent(push(agents, event))


@pytest.mark.parametrize(
    "args",
    [("--nonsense",), ("--vault", "nowhere"), ("--max-tokens", "x"), ("--event-json", "/nowhere/at/all"), ("x",)],
)
def test_push_is_silent_whatever_it_is_told(agents: Command, args: tuple[str, ...]) -> None:
    """Options that make no sense print nothing, and do not stop the hook."""
    assert silent(push(agents, {"path": "a.sql"}, *args))


def test_push_without_a_daemon_is_silent(command: Command) -> None:
    """No daemon: nothing is printed, none is started."""
    assert silent(push(command, {"path": "a.sql"}))
    assert command.daemon_pid() == 0


@pytest.mark.parametrize("said", [b"", b"garbage\n", b'{"jsonrpc":"2.0","id":1,"error":{}}\n', None], ids=str)
def test_push_with_a_peer_that_answers_badly_is_silent(tmp_path: Path, said: bytes | None) -> None:
    """A peer that hangs up, talks nonsense, refuses or never answers is given up without a word."""
    place = Command(make_home(tmp_path))
    place.places.data.mkdir(parents=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(tmp_path / "s"))
    listener.listen()
    place.places.discovery.write_text(json.dumps({"sockets": [str(tmp_path / "s")], "tcp_port": 0, "pid": 1}))
    done = threading.Event()

    def answer() -> None:
        peer, _ = listener.accept()
        with peer:
            if said is None:
                done.wait(30)
            else:
                peer.recv(65_536)
                peer.sendall(said)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        assert silent(push(place, {"path": "a.sql"}))
    finally:
        done.set()
        thread.join()
        listener.close()


def test_push_with_an_event_that_never_ends_is_silent(agents: Command) -> None:
    """A stdin that nobody closes is not waited for."""
    with agents.start("push", "--event-json", "-", stdin=subprocess.PIPE) as process:
        assert process.wait(30) == 0
        assert process.stdout is not None
        assert process.stdout.read() == ""


def test_push_shows_no_private_note(agents: Command) -> None:
    """What an agent is shown unasked is what it could read: no private note."""
    root = Path(agents.json("vaults")[0]["root"])
    (root / "Hidden.md").write_text("---\nprivate: true\nwhen: '*.hidden'\n---\nSecret.\n", "utf-8")
    agents.run("reindex", "--wait", code=0)
    assert silent(push(agents, {"path": "a.hidden"}))


def test_push_loads_next_to_nothing(agents: Command) -> None:
    """What runs before every action loads neither the parser of commands nor the client's values."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(args=["push"])],
        input=b'{"path": "x.sql"}', env=agents.environment, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    modules = set(done.stderr.decode().rpartition("LOADED")[2].split())
    assert b"Name the table" in done.stdout
    assert "vaultrag.cli.push" in modules
    assert not modules & {
        *HEAVY,
        "typer",
        "rich",
        "msgspec",
        "vaultrag.domain",
        "vaultrag.config",
        "asyncio",
        "dataclasses",
    }


@pytest.mark.parametrize(
    "event",
    [
        {"tool": "Bash", "path": "a", "command": "ls -l", "session": "s"},
        {"tool_name": "Bash", "tool_input": {"file_path": "a", "command": ["ls", "-l"]}, "session_id": "s"},
        {"tool_name": "Bash", "tool_input": {"notebook_path": "a", "cmd": "ls -l"}, "conversation_id": "s"},
    ],
    ids=str,
)
def test_events_are_read_in_the_usual_spellings(event: dict[str, Any]) -> None:
    """Tool, file, command and session are found flat, or under the tool's own input."""
    assert deed_of(event) == {"tool": "Bash", "path": "a", "command": "ls -l", "session": "s"}
