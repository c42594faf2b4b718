"""A real terminal: tmux, with what is on its screen to be read and its keys to be pressed."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.support.daemons import REPOSITORY

PATIENCE_S = 40.0

MISSING = "" if shutil.which("tmux") else "tmux is not installed"


class Terminal:
    """One tmux session with a plain shell in it."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux")

    def run(self, *args: str) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-S", self._socket, *args], capture_output=True, text=True, check=False, timeout=30
        )
        assert done.returncode == 0, (args, done.stderr)
        return done.stdout

    def start(self, columns: int, lines: int, environment: Mapping[str, str]) -> None:
        told = ["env", *(f"{name}={value}" for name, value in environment.items())]
        size = ("-x", str(columns), "-y", str(lines))
        self.run("-f", "/dev/null", "new-session", "-d", *size, "-c", str(REPOSITORY), *told, "/bin/sh")

    def type(self, text: str) -> None:
        self.run("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self.run("send-keys", *keys)

    def enter(self, command: str) -> None:
        """A line for the shell."""
        self.type(command)
        self.press("Enter")

    def resize(self, columns: int, lines: int) -> None:
        self.run("resize-window", "-x", str(columns), "-y", str(lines))

    def screen(self, *, styles: bool = False) -> str:
        return self.run("capture-pane", "-p", *(["-e"] if styles else []))

    def shows(self, *texts: str, gone: str = "") -> str:
        """Wait until texts are on the screen, and another is not; the screen then."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            seen = self.screen()
            if all(text in seen for text in texts) and not (gone and gone in seen):
                return seen
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {PATIENCE_S:g} s: {texts} (without {gone!r})\n{seen}")
            time.sleep(0.05)

    def end(self) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True, check=False, timeout=30)


@contextlib.contextmanager
def terminal(columns: int, lines: int, environment: Mapping[str, str]) -> Iterator[Terminal]:
    """A terminal of this size, ended with the block."""
    folder = Path(tempfile.mkdtemp(prefix="vr-tmux-"))
    term = Terminal(folder)
    basics = {"LC_ALL": "C.UTF-8", "PS1": "shell> ", "PYTHONPATH": str(REPOSITORY), "ENV": ""}
    try:
        term.start(columns, lines, {**basics, **environment})
        yield term
    finally:
        term.end()
        shutil.rmtree(folder, ignore_errors=True)


def script(path: Path, text: str) -> Path:
    """A program of a few lines of shell."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def quoted(path: Path | str) -> str:
    return shlex.quote(str(path))
