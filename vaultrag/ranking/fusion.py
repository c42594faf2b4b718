"""From the arms' lists to one list. Pure arithmetic; each hit keeps its parts, and they sum to its score.

Two ways, both standard: *weighted* adds the arms' own scores, brought to 0..1, and *rrf* adds reciprocal ranks
(Cormack, Clarke and Buettcher, SIGIR 2009). Which is the default is decided on judged queries, not here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vaultrag.model import Evidence, NoteId

Method = Literal["weighted", "rrf"]

RRF_K = 60
"""The constant of the paper: how much a first place is worth against a second."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm's list, best first.

    Attributes:
        name: ``words``, ``meaning``, ``passages``, ``names`` or ``links``.
        weight: Against the other arms; 0 leaves it out of the score.
        ranked: (note, raw score), higher is better.
        floor: Raw score that counts as nothing.
        ceiling: Raw score that counts as 1; None: the list's best.
    """

    name: str
    weight: float
    ranked: Sequence[tuple[NoteId, float]]
    floor: float = 0.0
    ceiling: float | None = None


@dataclass(frozen=True, slots=True)
class Fused:
    """One note in the fused list."""

    note_id: NoteId
    score: float
    evidence: tuple[Evidence, ...] = field(default=())


def fuse(
    arms: Sequence[Arm], *, method: Method = "weighted", boosts: Mapping[NoteId, float] | None = None
) -> list[Fused]:
    """Fuse the arms' lists, best first; ties go to the note known longest (the lower id), so the order is stable.

    Args:
        arms: Each note at most once an arm.
        method: ``weighted`` or ``rrf``.
        boosts: Added on top for some notes, as the part ``rule`` (an exact name).
    """
    parts: dict[NoteId, list[Evidence]] = {}
    for arm in arms:
        best = arm.ranked[0][1] if arm.ranked else 0.0
        span = max((best if arm.ceiling is None else arm.ceiling) - arm.floor, 1e-9)
        for rank, (note_id, raw) in enumerate(arm.ranked, start=1):
            by_rank, by_score = (RRF_K + 1) / (RRF_K + rank), min(1.0, max(0.0, (raw - arm.floor) / span))
            value = by_rank if method == "rrf" else by_score
            parts.setdefault(note_id, []).append(Evidence(arm.name, rank, raw, arm.weight, arm.weight * value))
    for note_id, boost in (boosts or {}).items():
        parts.setdefault(note_id, []).append(Evidence("rule", 1, 1.0, boost, boost))
    fused = [
        Fused(note_id, sum(part.contribution for part in evidence), tuple(evidence))
        for note_id, evidence in parts.items()
    ]
    return sorted(fused, key=lambda hit: (-hit.score, hit.note_id))
