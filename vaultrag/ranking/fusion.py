"""From the arms' lists to one list. Pure arithmetic; each hit keeps its parts, and they sum to its score.

Two ways, both standard: *weighted* adds the arms' own scores, brought to 0..1, and *rrf* adds reciprocal ranks
(Cormack, Clarke and Buettcher, SIGIR 2009). Which is the default is decided on judged queries, not here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vaultrag.model import Evidence, NoteId

Method = Literal["weighted", "rrf"]

Numbers = NDArray[np.float64] | NDArray[np.int64]

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


class Fused(NamedTuple):
    """One note in the fused list. ``source``: its evidence, or what makes it: most hits are never shown."""

    note_id: NoteId
    score: float
    source: tuple[Evidence, ...] | _Source = ()

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Each arm's part; they sum to the score."""
        return self.source if isinstance(self.source, tuple) else self.source.of(self.note_id)


def fuse(
    arms: Sequence[Arm], *, method: Method = "weighted", boosts: Mapping[NoteId, float] | None = None
) -> list[Fused]:
    """Fuse the arms' lists, best first; ties go to the note known longest (the lower id), so the order is stable.

    Args:
        arms: Each note at most once an arm.
        method: ``weighted`` or ``rrf``.
        boosts: Added on top for some notes, as the part ``rule`` (an exact name).
    """
    rule = tuple(sorted((boosts or {}).items()))
    owners = [np.fromiter((note_id for note_id, _ in arm.ranked), np.int64, len(arm.ranked)) for arm in arms]
    owners.append(np.fromiter((note_id for note_id, _ in rule), np.int64, len(rule)))
    ids = np.unique(np.concatenate(owners))
    scores = np.zeros(len(ids))
    for arm, own in zip(arms, owners[:-1], strict=True):
        if arm.weight:
            raw = np.fromiter((score for _, score in arm.ranked), np.float64, len(own))
            scores[np.searchsorted(ids, own)] += _values(arm, method, np.arange(1, len(own) + 1), raw)
    scores[np.searchsorted(ids, owners[-1])] += [boost for _, boost in rule]
    order = np.lexsort((ids, -scores))
    source = _Source(arms, method, dict(rule))
    return list(map(Fused, ids[order].tolist(), scores[order].tolist(), repeat(source)))


def _values(arm: Arm, method: Method, ranks: Numbers, raw: Numbers) -> Numbers:
    """What places in an arm's list contribute to the score, 0 to the arm's weight."""
    if method == "rrf":
        return arm.weight * (RRF_K + 1) / (RRF_K + ranks)
    best = arm.ranked[0][1] if arm.ranked else 0.0
    span = max((best if arm.ceiling is None else arm.ceiling) - arm.floor, 1e-9)
    return arm.weight * np.clip((raw - arm.floor) / span, 0.0, 1.0)


def _value(arm: Arm, method: Method, rank: int, raw: float) -> float:
    """``_values`` of one place: an array of one takes ten times as long."""
    if method == "rrf":
        return arm.weight * (RRF_K + 1) / (RRF_K + rank)
    best = arm.ranked[0][1]
    span = max((best if arm.ceiling is None else arm.ceiling) - arm.floor, 1e-9)
    return arm.weight * min(1.0, max(0.0, (raw - arm.floor) / span))


class _Source:
    """Makes the evidence of a hit, by the same formula as its score."""

    def __init__(self, arms: Sequence[Arm], method: Method, boosts: Mapping[NoteId, float]) -> None:
        self._arms = arms
        self._method = method
        self._boosts = boosts
        self._places: list[dict[NoteId, tuple[int, float]]] = []  # in each arm: rank and raw score

    def of(self, note_id: NoteId) -> tuple[Evidence, ...]:
        if not self._places:
            self._places = [
                {note_id: (rank, raw) for rank, (note_id, raw) in enumerate(arm.ranked, start=1)} for arm in self._arms
            ]
        found = []
        for arm, places in zip(self._arms, self._places, strict=True):
            if note_id in places:
                rank, raw = places[note_id]
                found.append(Evidence(arm.name, rank, raw, arm.weight, _value(arm, self._method, rank, raw)))
        if note_id in self._boosts:
            found.append(Evidence("rule", 1, 1.0, self._boosts[note_id], self._boosts[note_id]))
        return tuple(found)
