"""``python -m tests.mcp`` asks the server with the MCP inspector, a client that is not ours; ends with 1 on failure.

The inspector is installed from the lock file in ``tests/mcp/inspector``. Where there is no npm, that is said, and in CI
it is a failure.
"""

from __future__ import annotations

import contextlib
import filecmp
import io
import json
import os
import shutil
import subprocess
import sys
from typing import Any

from tests.mcp.conftest import NOTES
from tests.support.daemons import REPOSITORY, Home, daemon_home

FOLDER = REPOSITORY / "tests/mcp/inspector"
LOCK, CHECKED = FOLDER / "package-lock.json", FOLDER / "node_modules/.checked-lock.json"
PROGRAM = FOLDER / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
TIMEOUT_S = 120


def install() -> None:
    if not CHECKED.exists() or not filecmp.cmp(LOCK, CHECKED, shallow=False):
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(["npm", "ci", *options], cwd=FOLDER, check=True, stdout=sys.stderr)
        shutil.copy(LOCK, CHECKED)


def ask(home: Home, method: str, *args: str) -> Any:
    """What the inspector prints for a method: the result as JSON."""
    server = [sys.executable, "-m", "vaultrag", "mcp", "--no-start"]
    # It hands its own environment on to no server.
    environ = [f"-e{key}={value}" for key, value in (("VAULTRAG_HOME", home.path), ("PYTHONPATH", REPOSITORY))]
    done = subprocess.run(
        ["node", str(PROGRAM), "--cli", *environ, *server, "--method", method, *args],
        capture_output=True, text=True, timeout=TIMEOUT_S, env={**os.environ, "HOME": str(home.base)}, cwd=home.base,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{method} {args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def tool(home: Home, name: str, **arguments: object) -> Any:
    given = [part for key, value in arguments.items() for part in ("--tool-arg", f"{key}={value}")]
    return ask(home, "tools/call", "--tool-name", name, *given)


def tools(home: Home) -> None:
    """Seven tools that only read, with schemas that every host can take (--strict fails on others)."""
    listed = ask(home, "tools/list", "--strict")["tools"]
    assert len(listed) == 7, listed
    assert all(tool["annotations"]["readOnlyHint"] and tool["outputSchema"]["type"] == "object" for tool in listed)


def searching_and_reading(home: Home) -> None:
    """What a search cites can be read, and every answer passes the client's own check against its schema."""
    found = tool(home, "search_notes", query="mechanical seal", limit=3)["structuredContent"]["notes"][0]
    note = tool(home, "read_note", path=found["citation"])
    assert "mechanical seal" in note["structuredContent"]["text"], note
    assert tool(home, "related_notes", path="Pumps/Bearings.md")["structuredContent"]["notes"]


def lists(home: Home) -> None:
    """Recent notes, rules, and the state of the vault."""
    assert len(tool(home, "recent_notes", limit=2)["structuredContent"]["notes"]) == 2
    assert len(tool(home, "vault_rules")["structuredContent"]["rules"]) == 2
    assert tool(home, "vault_status")["structuredContent"]["notes"] == len(NOTES)


def resources(home: Home) -> None:
    """The rules and the notes are listed, and read whole."""
    listed = ask(home, "resources/list")["resources"]
    assert listed[0]["uri"] == "vault:///rules", listed
    read = ask(home, "resources/read", "--uri", "note:///Pumps/Bearings.md")["contents"][0]["text"]
    opening, *text, closing = read.splitlines()
    assert "\n".join(text) == NOTES["Pumps/Bearings.md"].rstrip("\n"), read
    mark = opening.split()[1].removesuffix(":")
    assert closing == f"[end of notes {mark}]", read
    assert ask(home, "resources/templates/list")["resourceTemplates"]


def prompts(home: Home) -> None:
    """Both prompts are there, and carry what they are given."""
    listed = ask(home, "prompts/list")["prompts"]
    assert [prompt["name"] for prompt in listed] == ["ask_the_vault", "weekly_review"], listed
    asked = ask(home, "prompts/get", "--prompt-name", "ask_the_vault", "--prompt-args", "question=Who?")
    assert "Who?" in asked["messages"][0]["content"]["text"], asked


CHECKS = (tools, searching_and_reading, lists, resources, prompts)


def main() -> int:
    if shutil.which("npm") is None or shutil.which("node") is None:
        print("left out: the MCP inspector: there is no Node with npm here")
        return 1 if os.environ.get("CI") else 0
    install()
    log, failed = io.StringIO(), 0
    with contextlib.redirect_stdout(log), daemon_home() as home:
        for path, text in NOTES.items():
            home.write(path, text)
        home.start().ready()
        for check in CHECKS:
            try:
                check(home)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"{check.__name__}: {error}", file=sys.stderr)
    if failed:
        print(log.getvalue(), file=sys.stderr)
    print(f"inspector: {len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
