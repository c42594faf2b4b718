"""From the arms' lists to one list. Pure arithmetic; each hit keeps its parts, and they sum to its score.

Two ways, both standard: *weighted* adds the arms' own scores, brought to 0..1, and *rrf* adds reciprocal ranks
(Cormack, Clarke and Buettcher, SIGIR 2009). Which is the default is decided on judged queries, not here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, repeat
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
        ids: Notes, int64[n], each at most once.
        raw: Their raw scores, float64[n], descending.
        floor: Raw score that counts as nothing.
        ceiling: Raw score that counts as 1; None: the list's best.
    """

    name: str
    weight: float
    ids: NDArray[np.int64]
    raw: NDArray[np.float64]
    floor: float = 0.0
    ceiling: float | None = None

    @classmethod
    def of(
        cls,
        name: str,
        weight: float,
        ranked: Sequence[tuple[NoteId, float]],
        floor: float = 0.0,
        ceiling: float | None = None,
    ) -> Arm:
        """From (note, raw score), best first."""
        ids = np.fromiter((note_id for note_id, _ in ranked), np.int64, len(ranked))
        return cls(name, weight, ids, np.fromiter((raw for _, raw in ranked), np.float64, len(ranked)), floor, ceiling)

    @property
    def span(self) -> float:
        """From the raw score that counts as nothing to that which counts as 1."""
        best = float(self.raw[0]) if len(self.raw) else 0.0
        return max((best if self.ceiling is None else self.ceiling) - self.floor, 1e-9)


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
    arms: Sequence[Arm],
    known: NDArray[np.int64] | None = None,
    *,
    method: Method = "weighted",
    boosts: Mapping[NoteId, float] | None = None,
) -> list[Fused]:
    """Fuse the arms' lists, best first; ties go to the note known longest (the lower id), so the order is stable.

    Args:
        arms: Each note at most once an arm.
        known: Every note in an arm or with a boost, int64[n], ascending, where it is known already.
        method: ``weighted`` or ``rrf``.
        boosts: Added on top for some notes, as the part ``rule`` (an exact name).
    """
    rule = tuple(sorted((boosts or {}).items()))
    ruled = np.fromiter((note_id for note_id, _ in rule), np.int64, len(rule))
    ids = np.unique(np.concatenate([*(arm.ids for arm in arms), ruled])) if known is None else known
    scores = np.zeros(len(ids))
    for arm in arms:
        if arm.weight:
            scores[np.searchsorted(ids, arm.ids)] += _values(arm, method)
    scores[np.searchsorted(ids, ruled)] += [boost for _, boost in rule]
    order = np.lexsort((ids, -scores))
    source = _Source(arms, method, dict(rule))
    return list(map(Fused, ids[order].tolist(), scores[order].tolist(), repeat(source)))


def _values(arm: Arm, method: Method) -> NDArray[np.float64]:
    """What each place in an arm's list contributes to the score, 0 to the arm's weight."""
    if method == "rrf":
        return arm.weight * (RRF_K + 1) / (RRF_K + np.arange(1, len(arm.ids) + 1))
    return arm.weight * np.clip((arm.raw - arm.floor) / arm.span, 0.0, 1.0)


def _value(arm: Arm, method: Method, rank: int, raw: float) -> float:
    """``_values`` of one place: an array of one takes ten times as long."""
    if method == "rrf":
        return arm.weight * (RRF_K + 1) / (RRF_K + rank)
    return arm.weight * min(1.0, max(0.0, (raw - arm.floor) / arm.span))


class _Source:
    """Makes the evidence of a hit, by the same formula as its score."""

    def __init__(self, arms: Sequence[Arm], method: Method, boosts: Mapping[NoteId, float]) -> None:
        self._arms = arms
        self._method = method
        self._boosts = boosts
        self._ranks: list[dict[NoteId, int]] = []  # in each arm

    def of(self, note_id: NoteId) -> tuple[Evidence, ...]:
        if not self._ranks:
            self._ranks = [dict(zip(arm.ids.tolist(), count(1))) for arm in self._arms]
        found = []
        for arm, ranks in zip(self._arms, self._ranks, strict=True):
            rank = ranks.get(note_id)
            if rank is not None:
                raw = float(arm.raw[rank - 1])
                found.append(Evidence(arm.name, rank, raw, arm.weight, _value(arm, self._method, rank, raw)))
        if note_id in self._boosts:
            found.append(Evidence("rule", 1, 1.0, self._boosts[note_id], self._boosts[note_id]))
        return tuple(found)
