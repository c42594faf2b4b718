"""The README's first screen and its everyday commands, run as they stand there, on the sample vault."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Command
from tests.support.daemons import REPOSITORY, until
from tests.tui.terminals import MISSING, quoted, script, terminal
from tests.tui.test_recipes import commands

pytestmark = [pytest.mark.slow, pytest.mark.model, pytest.mark.timeout(300)]

README = (REPOSITORY / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```\n(.*?)```", README, re.DOTALL)
EVERYDAY = [line.partition(" #")[0].rstrip() for line in next(b for b in BLOCKS if "vaultrag stop" in b).splitlines()]
LIVE = ("--watch", "--follow")


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Command, Path, dict[str, str]]]:
    """A person whose notes are the sample vault: the command, its home folder, the environment of its shell."""
    base = tmp_path_factory.mktemp("readme")
    shutil.copytree(REPOSITORY / "sample-vault", base / "Notes")
    editor = script(base / "editor", 'echo "EDITING $1"')
    path = f"{commands(base / 'bin')}:/usr/local/bin:/usr/bin:/bin"
    extra = {"HOME": str(base), "PATH": path, "EDITOR": str(editor), "COLUMNS": "80"}
    made = Command(base / "home", extra)
    try:
        yield made, base, made.environment
    finally:
        made.end()


def test_the_everyday_commands(person: tuple[Command, Path, dict[str, str]]) -> None:
    """Each line does what is said beside it, from the first ``up`` to ``stop``; what goes on is ended by Ctrl+C."""
    command, base, environment = person
    assert len(EVERYDAY) >= 10
    assert (EVERYDAY[0], EVERYDAY[-1]) == ("vaultrag up ~/Notes", "vaultrag stop")
    for line in EVERYDAY[:-1]:
        if "$(" in line:
            continue  # below, on a terminal
        process = subprocess.Popen(
            ["bash", "-c", f"exec {line}"], env=environment, cwd=base, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        if line.endswith(LIVE):
            assert process.stdout is not None
            assert process.stdout.readline()
            os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=200)
        assert process.returncode == (130 if line.endswith(LIVE) else 0), (line, out, err)
        assert out or line.endswith(LIVE), line
    _first_answer(environment, base)
    if not MISSING:
        _picked(next(line for line in EVERYDAY if "$(" in line), environment, base)
    pid = command.daemon_pid()
    assert f"process {pid}" in command.run(*EVERYDAY[-1].split()[1:], code=0).stdout
    until(lambda: not Path(f"/proc/{pid}").exists(), "the daemon has ended", 30)


def _first_answer(environment: dict[str, str], base: Path) -> None:
    """The answer on the first screen is the answer, line for line."""
    block = next(block for block in BLOCKS if block.startswith("$ vaultrag search"))
    line, *shown = block.splitlines()
    asked = ["bash", "-c", line.removeprefix("$ ")]
    answer = subprocess.run(asked, env=environment, cwd=base, capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout.splitlines()[: len(shown)] == shown


def _picked(line: str, environment: dict[str, str], base: Path) -> None:
    told = {name: environment[name] for name in ("HOME", "PATH", "EDITOR", "VAULTRAG_HOME")}
    with terminal(100, 30, told) as term:
        term.enter(f"cd {quoted(base)}; {line}")
        term.shows("Type to search.")
        term.type("mechanical seal")
        term.shows("Replace a mechanical seal", "found")
        term.press("Enter")
        term.shows("EDITING", "Notes/")
