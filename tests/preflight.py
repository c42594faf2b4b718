"""``python -m tests.preflight``: what the tests will take, and what they leave out because this machine lacks it.

``python -m tests.preflight part NAME COMMAND…`` runs one part of them and says how long it took.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.packaging.pythons import find, versions

MINUTES = 15
"""On two slow cores, everything there; the parts are timed as they end."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that tests run, and the tests that are left out without it."""

    name: str
    needed_for: str
    package: str
    path: str = ""

    @property
    def present(self) -> bool:
        return Path(self.path).exists() if self.path else shutil.which(self.name) is not None


TOOLS = (
    Tool("chromium", "the Obsidian plugin in a browser", "chromium", "/usr/bin/chromium"),
    Tool("npm", "the Obsidian plugin and the MCP inspector", "nodejs npm"),
    Tool("nvim", "the Neovim client", "neovim"),
    Tool("strace", "what leaves the machine (these tests fail without it)", "strace"),
    Tool("tmux", "the search screen in a terminal", "tmux"),
    Tool("fzf", "the recipes for fzf", "fzf"),
    Tool("vim", "the recipes for Vim", "vim"),
    Tool("zsh", "completion in zsh", "zsh"),
    Tool("fish", "completion in fish", "fish"),
    Tool("mandoc", "the manual page", "mandoc"),
    Tool("systemd-socket-activate", "the service under systemd", "systemd"),
)


def report(tools: Iterable[Tool]) -> list[str]:
    """Return what is there and what is not, a line each."""
    lines = [f"About {MINUTES} minutes on two slow cores. Needs no network but the package registries."]
    lacking = [
        f"  lacking {tool.name}: left out: {tool.needed_for} (Debian: apt-get install {tool.package})"
        for tool in tools
        if not tool.present
    ]
    lacking += [
        f"  lacking Python {version}: left out: the packages installed on it"
        for version in versions()
        if find(version) is None
    ]
    lines += lacking
    if not lacking:
        lines.append("  Every program that the tests run is here.")
    return lines


def main(words: list[str]) -> int:
    if words[:1] == ["part"]:
        name, command = words[1], words[2:]
        started = time.monotonic()
        code = subprocess.run(command, check=False, env=os.environ).returncode
        minutes, seconds = divmod(round(time.monotonic() - started), 60)
        print(f"== {name}: {'passed' if code == 0 else f'failed ({code})'} in {minutes} min {seconds} s", flush=True)
        return code
    print("\n".join(report(TOOLS)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
