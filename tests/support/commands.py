"""The command as a real process, against a real daemon of its own that is ended by its process id.

The fixtures are at the end; a conftest imports those that its folder uses.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemons import REPOSITORY, until
from vaultrag.config import Places
from vaultrag.rpc.discovery import alive

NOTES = {
    "Pumps/Seal replacement.md": (
        "---\ntags: [pump, howto]\naliases: [Changing seals]\n---\n# Seal replacement\n\nDrain the casing first.\n\n"
        "## Order\n\nThe mechanical seal comes off before the impeller. See [[Bearings]].\n"
    ),
    "Pumps/Bearings.md": "# Bearings\n\nGrease the bearings every quarter, never while the pump is warm.\n",
    "Garden/Tomatoes.md": "# Tomatoes\n\nWater them in the morning. 🍅 Blight comes with wet leaves.\n",
    "日本語.md": "# 日本語\n\n東京都の水道について。\n",
}


def make_vault(root: Path, notes: Mapping[str, str] = NOTES) -> Path:
    """Write the notes below ``root`` and return it."""
    for name, text in notes.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return root


_RUN_ALL = """
import contextlib, io, json, sys
from vaultrag.cli import main
done = []
for args in json.loads(sys.argv[1]):
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out):
        try:
            main(args)
        except SystemExit as end:
            code = end.code
    out.flush()
    done.append((code, out.buffer.getvalue().decode()))
print(json.dumps(done))
"""


@dataclass
class Command:
    """Runs ``vaultrag`` in a home of its own; its daemon is the one that the commands start."""

    home: Path
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def places(self) -> Places:
        return Places.find({"VAULTRAG_HOME": str(self.home)})

    @property
    def environment(self) -> dict[str, str]:
        drop = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "VAULTRAG_DEBUG", "TERM")
        kept = {name: value for name, value in os.environ.items() if name not in drop}
        return {**kept, "VAULTRAG_HOME": str(self.home), "PYTHONPATH": str(REPOSITORY), **self.extra}

    def start(self, *args: str, **options: Any) -> subprocess.Popen[str]:
        """Start a command."""
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [sys.executable, "-m", "vaultrag", *args],
            text=True,
            encoding="utf-8",
            env=self.environment,
            **{**pipes, **options},
        )

    def run(self, *args: str, code: int | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, which must have this exit code if one is given."""
        with self.start(*args, cwd=cwd) as process:
            try:
                out, err = process.communicate(timeout=100)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        if code is not None:
            assert process.returncode == code, (process.returncode, out, err)
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def json(self, *args: str, code: int = 0) -> Any:
        """Return what a command prints with ``--json``: one document and nothing else."""
        return json.loads(self.run(*args, "--json", code=code).stdout)

    def run_all(self, *commands: Sequence[str]) -> list[tuple[int, str]]:
        """Run commands one after the other in one process, and return each one's exit code and what it prints.

        For many of one kind: loading the program takes longer than most commands do.
        """
        with subprocess.Popen(
            [sys.executable, "-c", _RUN_ALL, json.dumps(commands)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=self.environment,
        ) as process:  # fmt: skip
            out, _ = process.communicate(timeout=100)
        assert process.returncode == 0
        return [(code, text) for code, text in json.loads(out)]

    def daemon_pid(self) -> int:
        """Return the process that holds the lock; 0 for none."""
        with contextlib.suppress(OSError, ValueError):
            return int(self.places.lock.read_text())
        return 0

    def end(self) -> None:
        """End the daemon, if one runs."""
        pid = self.daemon_pid()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if pid and alive(pid):
                os.kill(pid, number)
                with contextlib.suppress(AssertionError):
                    until(lambda: not alive(pid), f"process {pid} has ended", 30)


def make_home(base: Path, settings: str = '[embedder]\nprovider = "off"\n') -> Path:
    """Make a home folder with these settings; by default meaning search is off."""
    place = base / "home"
    place.mkdir(parents=True)
    (place / "config.toml").write_text(settings, "utf-8")
    return place


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    """Make a command whose daemon does not run yet, with meaning search switched off."""
    made = Command(make_home(tmp_path))
    yield made
    made.end()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "My notes")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """Serve a small vault to a module's tests that change nothing."""
    base = tmp_path_factory.mktemp("served")
    made = Command(make_home(base))
    try:
        made.run("up", str(make_vault(base / "My notes")), code=0)
        yield made
    finally:
        made.end()


def on_terminal(
    command: Command, streams: Sequence[str], *args: str, typed: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run a command with some of its streams on a terminal; return its exit code and what the terminal got.

    Args:
        command: Whose.
        streams: stdin, stdout, stderr.
        args: Of the command.
        typed: What is typed once a text has been shown.
    """
    master, slave = os.openpty()
    answers = dict(typed or {})
    shown = b""
    with command.start(*args, **dict.fromkeys(streams, slave)) as process:
        os.close(slave)
        while select.select([master], [], [], 60)[0]:
            try:
                part = os.read(master, 65536)
            except OSError:  # Linux says so when the other end is closed
                break
            shown += part
            for text in [text for text in answers if text.encode() in shown]:
                os.write(master, answers.pop(text).encode())
            if not part:
                break
        else:
            process.kill()
        process.communicate(timeout=60)
    os.close(master)
    return process.returncode, shown.decode()
