"""A note in a ranking, and the parts that its score is made of."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from vaultrag.domain import Evidence, NoteId, Tier
from vaultrag.retrieval.features import Features, Floats


class Adjustment(NamedTuple):
    """A reason to lower the score of a note, apart from the query."""

    name: str
    factor: float
    amount: float


class _Arm(NamedTuple):
    """A retriever's figures of all notes, what of them in rising order, and its parts of the scores."""

    raw: list[float]
    ordered: list[float]
    parts: list[float]


class Source:
    """Makes the evidence of the few hits that are shown, from the arrays that the scores were made of."""

    def __init__(
        self, features: Features, contributions: Mapping[str, Floats], adjustments: Mapping[NoteId, Adjustment]
    ) -> None:
        self._features = features
        self._contributions = contributions
        self._adjustments = adjustments
        self._arms: dict[str, _Arm] = {}

    def of(self, note_id: NoteId) -> tuple[Evidence, ...]:
        """Return each retriever's part of a note's score; they sum to it."""
        row = self._features.row(note_id)
        if row is None:
            return ()
        evidence = []
        for name in self._contributions:
            arm = self._arm(name)
            raw, part = arm.raw[row], arm.parts[row]
            if raw > 0.0:  # not a note that the retriever knows nothing of
                rank = 1 + len(arm.ordered) - bisect_right(arm.ordered, raw)
                evidence.append(Evidence(name, rank, raw, part / raw, part))
        adjustment = self._adjustments.get(note_id)
        if adjustment is not None:
            evidence.append(Evidence(adjustment.name, 1, adjustment.factor, 1.0, adjustment.amount))
        return tuple(evidence)

    def _arm(self, name: str) -> _Arm:
        arm = self._arms.get(name)
        if arm is None:
            raw = self._worked_out(name)
            arm = self._arms[name] = _Arm(raw.tolist(), np.sort(raw).tolist(), self._contributions[name].tolist())
        return arm

    def _worked_out(self, name: str) -> Floats:
        features = self._features
        if name == "words":
            raw = features.words
        elif name == "nearness":
            raw = np.maximum(features.near, features.near_titled)
        elif name == "dates":
            raw = features.dated
        elif name == "names":
            raw = np.where(features.exact, 1.0, features.name)
        else:
            raw = features.note_cosine if name == "meaning" else features.passage_cosine
            if features.vectors:
                return np.where(np.isnan(raw), self._contributions[name], raw)  # judged by what stands in for it
        return np.where(np.isnan(raw), 0.0, raw)


class RankedNote(NamedTuple):
    """One note of a ranking."""

    note_id: NoteId
    score: float
    tier: Tier = "partial"
    source: tuple[Evidence, ...] | Source = ()

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Each retriever's part; they sum to the score."""
        return self.source if isinstance(self.source, tuple) else self.source.of(self.note_id)
