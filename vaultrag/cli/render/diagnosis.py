"""What has become of a note, as lines of text. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from vaultrag.domain import Diagnosis
from vaultrag.wording import advice, count, one_line

SHOWN_PASSAGES = 8

_VERDICTS = {
    "indexed": "found",
    "stale": "found, in an older version",
    "waiting": "not found yet",
    "excluded": "not found: excluded",
    "skipped": "not found: skipped",
    "unreadable": "cannot be read",
    "gone": "gone",
    "absent": "not found: not there",
    "outside": "not found: in no vault",
}


def diagnosis_lines(found: Diagnosis) -> Iterator[str]:
    """Return the verdict, the reason and what helps; for an indexed note also its state in the index."""
    yield f"{one_line(found.path)}: {_VERDICTS[found.standing]}"
    yield f"  {one_line(found.why)}"
    if found.saved_ns:
        saved = datetime.fromtimestamp(found.saved_ns / 1e9, UTC).astimezone()
        yield f"  indexed: the version saved on {saved:%Y-%m-%d %H:%M:%S}"
    if found.meaning:
        yield f"  {one_line(found.meaning)}"
    if found.covered is not None:
        share = "all" if found.covered > 0.9995 else f"{found.covered:.0%}"
        yield f"  its vector stands for {share} of its text, {_passages(found)}"
    if found.kept_from_agents:
        yield f"  private: agents do not get to see it, because of {one_line(found.kept_from_agents)}"
    if found.hint:
        yield f"  {advice(found.hint)}"
    for other in found.near[1:]:
        yield f"  or {one_line(other)}?"


def _passages(found: Diagnosis) -> str:
    if not found.passages:
        return "and it has no passages of its own yet"
    lines = [f"L{p.first}" if p.first == p.last else f"L{p.first}-L{p.last}" for p in found.passages]
    more = len(lines) - SHOWN_PASSAGES
    shown = ", ".join(lines[:SHOWN_PASSAGES]) + (f" and {more:,} more" if more > 0 else "")
    return f"with {count(len(lines), 'passage')}: {shown}"
