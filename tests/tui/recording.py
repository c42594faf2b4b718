"""Answers of the real daemon with its builtin model, recorded for the pictures: `python -m tests.tui.recording`.

The pictures must not change with every change of the ranking, nor with the day: paths, ages and times are set.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from tests.support.daemons import REPOSITORY, daemon_home
from vaultrag.domain import Answer, DaemonStatus, Explanation, NotePath, NoteView, TagCount
from vaultrag.tui.markdown_view import window
from vaultrag.tui.session import PREVIEW_CHARS

FOLDER = Path(__file__).parent / "recorded"
QUERY = "how often must the pump be greased"
NOW_NS = 1_790_000_000_000_000_000
DAY_NS = 86_400_000_000_000
ROOT = "/home/you/sample-vault"


class Recording(msgspec.Struct):
    """What the pictures are made of."""

    answer: Answer
    notes: dict[NotePath, NoteView]
    explanation: Explanation
    tags: tuple[TagCount, ...]
    status: DaemonStatus


def load() -> Recording:
    return msgspec.json.decode((FOLDER / "sample-vault.json").read_bytes(), type=Recording)


def record() -> None:
    """Ask the real daemon, and keep what it says."""
    with daemon_home({"embedder": {"provider": "builtin"}}) as home:
        daemon = home.start(REPOSITORY / "sample-vault")
        daemon.ready(300)
        client = daemon.client
        answer = client.search(QUERY, limit=14, preview_chars=PREVIEW_CHARS)
        hits = tuple(
            replace(hit, mtime_ns=NOW_NS - (rank + 1) ** 2 * DAY_NS, stale=False)
            for rank, hit in enumerate(answer.hits)
        )
        notes = {}
        for hit in hits[:3]:
            first, last = window(hit)
            notes[hit.path] = replace(client.get(hit.path, first_line=first, last_line=last), mtime_ns=hit.mtime_ns)
        explanation = client.explain(QUERY, path=hits[0].path, limit=1)
        status = client.status()
        vault = replace(status.vaults[0], root=ROOT, counters={}, events=(), watching="")
        recording = Recording(
            replace(answer, hits=hits, elapsed_ms=0.0),
            notes,
            explanation,
            client.tags(),
            replace(status, pid=4711, uptime_s=60.0, started_ns=NOW_NS, vaults=(vault,)),
        )
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "sample-vault.json").write_bytes(msgspec.json.format(msgspec.json.encode(recording), indent=1) + b"\n")


if __name__ == "__main__":
    record()
