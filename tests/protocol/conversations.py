"""Golden conversations: what they are on disk, and how one is held with a daemon.

A file is JSON lines. The first says what it is ``about`` and which notes the vault has; each other one has one key:
``client`` or ``daemon`` (a message), ``line`` (what a client sends that is no message), or ``write`` (a note that
changes meanwhile). Client lines in a row are sent in one go. What differs from run to run has fixed values on disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.daemons import Home, Raw
from vaultrag import __version__

FOLDER = Path(__file__).parents[2] / "plugin-bridge/protocol/golden"

FIXED: dict[str, Any] = {
    "pid": 4711,
    "version": "0.0.0",
    "build": "0" * 12,
    "uptime_s": 12.5,
    "started_ns": 1_700_000_000_000_000_000,
    "saved_ns": 1_700_000_000_000_000_000,
    "mtime_ns": 1_700_000_000_000_000_000,
    "date": {"first": "2023-11-14", "last": "2023-11-14", "source": "file changed"},
    "dates": {
        "created": {"first": "2023-11-14", "last": "2023-11-14", "source": "file changed"},
        "updated": {"first": "2023-11-14", "last": "2023-11-14", "source": "file changed"},
        "about": {"first": "2023-11-14", "last": "2023-11-14", "source": "file changed"},
    },
    "elapsed_ms": 1.5,
    "root": "/home/ada/Notes",
    "watching": "native events",
    "eta_s": None,
    "methods": ["hello", "search"],
    "counters": {"scans": 1},
    "events": [],
    "checked_ns": 1_700_000_000_000_000_000,
    "times_ms": {"words": 0.5},
    "index": {
        "build": "0" * 12,
        "identity": "",
        "current": True,
        "checked_ns": 1_700_000_000_000_000_000,
        "pending": 0,
    },
}
"""Values that stand for those of one run."""

VAULT = "notes-0123456789"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One file, read. ``notes``: the vault's, by path."""

    name: str
    about: str
    notes: dict[str, str]
    steps: list[dict[str, Any]]

    @classmethod
    def read(cls, path: Path) -> Conversation:
        head, *steps = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return cls(path.stem, head["about"], head["notes"], steps)

    def write(self, path: Path) -> None:
        lines = [{"about": self.about, "notes": self.notes}, *self.steps]
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


def replay(conversation: Conversation, home: Home, vault: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Hold the conversation; yields each step with what the daemon said there (a step of the client's with itself)."""
    with Raw(home.places, greet=False) as raw:
        waiting = b""
        for step in conversation.steps:
            if "client" in step:
                waiting += json.dumps(step["client"]).encode() + b"\n"
            elif "line" in step:
                waiting += step["line"].encode() + b"\n"
            elif "write" in step:
                home.write(step["write"]["path"], step["write"]["text"])
            if "daemon" in step:
                raw.send(waiting)
                waiting = b""
                yield step, {"daemon": fixed(_receive(raw), vault)}
            else:
                yield step, step


def _receive(raw: Raw) -> Any:
    """The next message; a status on the way to the one that lasts is passed over."""
    while True:
        message = raw.receive()
        passing = message.get("method") == "status/changed" and message["params"]["status"]["state"] != "ready"
        if not passing:
            return message


def fixed(value: Any, vault: str) -> Any:
    """The message with fixed values for what differs from run to run."""
    if isinstance(value, dict):
        return {key: FIXED[key] if key in FIXED else fixed(part, vault) for key, part in value.items()}
    if isinstance(value, list):
        return [fixed(part, vault) for part in value]
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, str):
        return VAULT if value == vault else value.replace(f"vaultrag {__version__}", f"vaultrag {FIXED['version']}")
    return value
