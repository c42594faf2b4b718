"""What a person does with vaultrag on a first day, each face of it once, in a home folder that holds nothing yet."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.support.daemons import until
from tests.support.syscalls import Watch

NOTES = {
    "Pump.md": "# Pump\n\nThe pump in the cellar leaks at the mechanical seal.\n",
    "Access.md": "The gate code is in the safe. password = correct-horse-battery-staple-42\n",
    "Bread.md": "---\ntags: [kitchen]\n---\nFlour, water, salt, and a night of patience.\n",
}
JUDGED = '{"id": "1", "query": "where does the pump leak", "relevant": {"Pump.md": 1}}\n'

_INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip
_ASK = {
    "jsonrpc": "2.0", "id": 2, "method": "tools/call",
    "params": {"name": "search_notes", "arguments": {"query": "leaking seal"}},
}  # fmt: skip


Screen = Callable[[Sequence[str], Mapping[str, str]], None]


class FirstDay:
    """Runs the commands of one installation, every one of them traced.

    Args:
        program: The program and its first arguments, absolute.
        place: Takes the home folder, the vault and the traces.
        environment: What is set besides the home folder.
    """

    def __init__(self, program: Sequence[str], place: Path, environment: Mapping[str, str]) -> None:
        self.home, runtime, self.vault = place / "home", place / "run", place / "Notes"
        for folder in (self.home, runtime):
            folder.mkdir(mode=0o700, parents=True)
        self.vault.mkdir()
        for name, text in NOTES.items():
            (self.vault / name).write_text(text, "utf-8")
        self.allowed = [
            self.home / ".local/share/obsidian-rag",
            self.home / ".config/obsidian-rag",
            self.home / ".cache/obsidian-rag",
            runtime / "vaultrag",
        ]
        self.watch = Watch(place / "traces")
        self._program = list(program)
        self._environment = {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(runtime), "TERM": "xterm", **environment}

    def run(self, name: str, *words: str, stdin: str = "", expected: Sequence[int] = (0,)) -> str:
        """Run one command to its end, and return what it prints."""
        done = subprocess.run(
            [*self.watch.command(name), *self._program, *words],
            input=stdin, capture_output=True, text=True, cwd=self.home, env=self._environment, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode in expected, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def live(
        self,
        agents: bool = True,
        screen: Callable[[Sequence[str], Mapping[str, str]], None] | None = None,
        files: Mapping[str, tuple[bytes, str]] | None = None,
    ) -> None:
        """Index, search, edit, ask the doctor, measure, let an agent and the screen in, and stop.

        Args:
            agents: Whether the agents' extra is installed.
            screen: Opens the search screen.
            files: Of other kinds, by name: what is in them, and a word that finds them.
        """
        daemon = subprocess.Popen(
            [*self.watch.command("serve"), *self._program, "serve", str(self.vault)],
            cwd=self.home, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            until(lambda: self._embedded() == len(NOTES), "every note has its vector", 60, 0.5)
            assert "Pump.md" in self.run("search", "search", "where does the pump lose water")
            (self.vault / "Fresh.md").write_text("The wheelbarrow stands behind the shed.\n", "utf-8")
            found = lambda: "Fresh.md" in self.run("again", "search", "wheelbarrow", expected=(0, 1, 3))  # noqa: E731
            until(found, "a new note is found", 30, 0.5)
            for name, (data, word) in (files or {}).items():
                (self.vault / name).write_bytes(data)
                there = lambda name=name, word=word: name in self.run("file", "search", word, expected=(0, 1, 3))  # noqa: E731
                until(there, f"{name} is found", 60, 0.5)
            self.run("doctor", "doctor", expected=(0, 1, 2))
            judged = self.home / ".cache/obsidian-rag/judged.jsonl"
            judged.parent.mkdir(parents=True, exist_ok=True)
            judged.write_text(JUDGED, "utf-8")
            self.run("eval", "eval", "--vault", str(self.vault), "--queries", str(judged))
            if agents:
                lines = "".join(json.dumps(line) + "\n" for line in (_INITIALIZE, _ASK))
                self.run("mcp", "mcp", stdin=lines)
            if screen is not None:
                screen([*self.watch.command("tui"), *self._program], self._environment)
            self.run("stop", "stop")
            daemon.wait(30)
        finally:
            if daemon.poll() is None:  # strace keeps a signal to itself
                pid = json.loads((self.allowed[0] / "daemon.json").read_text("utf-8"))["pid"]
                os.kill(pid, signal.SIGTERM)
                daemon.wait(30)

    def _embedded(self) -> int:
        try:
            status = json.loads(self.run("status", "status", "--json", expected=(0, 1, 2)))
        except json.JSONDecodeError:
            return 0
        return int(status["vaults"][0]["embedded"]) if status.get("vaults") else 0


def module() -> list[str]:
    """Return the command that runs vaultrag from this checkout."""
    return [sys.executable, "-m", "vaultrag"]
