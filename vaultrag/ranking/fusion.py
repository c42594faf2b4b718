"""From the arms' lists to one list. Pure arithmetic; each hit keeps its parts, and they sum to its score.

Two ways, both standard: *weighted* adds the arms' own scores, brought to 0..1, and *rrf* adds reciprocal ranks
(Cormack, Clarke and Buettcher, SIGIR 2009). Which is the default is decided on judged queries, not here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

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


_Part = tuple[Arm, int, float, float]  # rank, raw score, contribution


@dataclass(frozen=True, slots=True)
class Fused:
    """One note in the fused list. Its evidence is made when it is first asked for: most hits are never shown."""

    note_id: NoteId
    score: float
    evidence: tuple[Evidence, ...] = ()
    _parts: Sequence[_Part] = field(default=(), init=False, repr=False, compare=False)

    if not TYPE_CHECKING:  # for a checker, there is no attribute but those above

        def __getattr__(self, name: str) -> tuple[Evidence, ...]:
            """Called for an attribute that is not set: for the evidence of a hit from ``fuse``."""
            if name != "evidence":
                raise AttributeError(f"no attribute {name!r}")
            made = tuple(
                Evidence(arm.name, rank, raw, arm.weight, contribution) for arm, rank, raw, contribution in self._parts
            )
            object.__setattr__(self, "evidence", made)
            return made


def fuse(
    arms: Sequence[Arm], *, method: Method = "weighted", boosts: Mapping[NoteId, float] | None = None
) -> list[Fused]:
    """Fuse the arms' lists, best first; ties go to the note known longest (the lower id), so the order is stable.

    Args:
        arms: Each note at most once an arm.
        method: ``weighted`` or ``rrf``.
        boosts: Added on top for some notes, as the part ``rule`` (an exact name).
    """
    scores: dict[NoteId, float] = {}
    parts: dict[NoteId, list[_Part]] = {}
    for arm in arms:
        best = arm.ranked[0][1] if arm.ranked else 0.0
        weight, floor = arm.weight, arm.floor
        span = max((best if arm.ceiling is None else arm.ceiling) - floor, 1e-9)
        rrf = method == "rrf"
        for rank, (note_id, raw) in enumerate(arm.ranked, start=1):
            if rrf:
                value = (RRF_K + 1) / (RRF_K + rank)
            else:
                value = (raw - floor) / span
                value = 0.0 if value < 0.0 else 1.0 if value > 1.0 else value
            value *= weight
            if note_id in scores:
                scores[note_id] += value
                parts[note_id].append((arm, rank, raw, value))
            else:
                scores[note_id] = value
                parts[note_id] = [(arm, rank, raw, value)]
    for note_id, boost in (boosts or {}).items():
        scores[note_id] = scores.get(note_id, 0.0) + boost
        parts.setdefault(note_id, []).append((Arm("rule", boost, ()), 1, 1.0, boost))
    order = sorted([(-score, note_id) for note_id, score in scores.items()])
    return [_hit(note_id, scores[note_id], parts[note_id]) for _, note_id in order]


def _hit(note_id: NoteId, score: float, parts: Sequence[_Part]) -> Fused:
    """A hit whose evidence is not made yet."""
    hit = _new(Fused)
    _set(hit, "note_id", note_id)
    _set(hit, "score", score)
    _set(hit, "_parts", parts)
    return hit


_new, _set = object.__new__, object.__setattr__  # a frozen dataclass is filled in this way or by its own __init__
