"""From ranked notes to figures: of each query, of a set, and how sure a difference is."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tests.quality.lab.features import Asked, rank, twin
from vaultrag.evaluate.metrics import auroc
from vaultrag.retrieval.params import Params
from vaultrag.retrieval.tiers import STRONG

LIMIT = 10
"""Hits that a user asks for; no more count as shown."""
ROUNDS = 2000
Note = TypeVar("Note", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one query; those of an unanswerable one say nothing but ``best`` and ``strong``.

    Attributes:
        best: The best score.
        right: Whether the first note is relevant.
        strong: Whether the answer is strong; None where a system has no tiers.
    """

    id: str
    kind: str
    answerable: bool
    ndcg5: float
    ndcg10: float
    right: float
    recall5: float
    shown_recall5: float
    shown_ndcg10: float
    best: float
    strong: bool | None = None


def row(
    identity: str,
    kind: str,
    answerable: bool,
    ranked: Sequence[Note],
    shown: Sequence[Note],
    grades: Mapping[Note, float],
    best: float,
    strong: bool | None = None,
) -> Row:
    """Judge one query."""
    right = grades if answerable else {}
    found = shown[:LIMIT]
    return Row(
        identity, kind, answerable and bool(right), ndcg(ranked, right, 5), ndcg(ranked, right, 10),
        float(bool(ranked) and right.get(ranked[0], 0) > 0), recall(ranked, right, 5), recall(found, right, 5),
        ndcg(found, right, 10), best, strong,
    )  # fmt: skip


def measure(asked: Sequence[Asked], params: Params) -> list[Row]:
    """Rank and judge every query of a set, and its twins: each answerable query without its right notes."""
    rows = []
    for one in (*asked, *(twin(one) for one in asked if one.answerable and one.grades)):
        ranked = rank(one, params)
        rows.append(
            row(one.id, one.kind, one.answerable, ranked.order[:LIMIT].tolist(), ranked.shown[:LIMIT].tolist(),
                one.grades, ranked.best, bool(len(ranked.codes)) and bool(ranked.codes[0] == STRONG))
        )  # fmt: skip
    return rows


def ndcg(ranked: Sequence[Note], grades: Mapping[Note, float], k: int) -> float:
    """Normalised discounted cumulative gain at ``k``, with the grade as gain."""
    ideal = _discounted(sorted(grades.values(), reverse=True)[:k])
    return _discounted([grades.get(note, 0.0) for note in ranked[:k]]) / ideal if ideal else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def recall(ranked: Sequence[Note], grades: Mapping[Note, float], k: int) -> float:
    """Share of what is right, or of ``k`` where more is, that stands in the first ``k`` places."""
    return sum(grades.get(note, 0.0) > 0 for note in ranked[:k]) / min(k, len(grades)) if grades else 0.0


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """The figures of a set; NaN for what it cannot tell."""
    answerable = [one for one in rows if one.answerable]
    by_kind = {
        "near-miss": [one for one in rows if not one.answerable and one.kind not in ("twin", "foreign")],
        "twins": [one for one in rows if one.kind == "twin"],
        "foreign": [one for one in rows if one.kind == "foreign"],
    }
    strong = [one for one in (*answerable, *by_kind["near-miss"]) if one.strong]
    tiered = any(one.strong is not None for one in rows)
    return {
        "queries": len(answerable),
        **{name: _mean([getattr(one, field) for one in answerable]) for name, field in MEANS.items()},
        "strong precision": _mean([one.right for one in strong]) if tiered else math.nan,
        "strong share": _mean([bool(one.strong) for one in answerable]) if tiered else math.nan,
        "foreign strong": _mean([bool(one.strong) for one in by_kind["foreign"]]) if tiered else math.nan,
        **{
            f"AUROC {kind}": auroc([one.best for one in answerable], [one.best for one in others])
            for kind, others in by_kind.items()
        },
    }


MEANS = {
    "nDCG@5": "ndcg5",
    "nDCG@10": "ndcg10",
    "Hit@1": "right",
    "recall@5": "recall5",
    "recall@5 shown": "shown_recall5",
    "nDCG@10 shown": "shown_ndcg10",
}
"""Figures that are a mean over answerable queries, with their field in ``Row``."""


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else math.nan


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


def paired(new: Sequence[Row], old: Sequence[Row], field: str) -> NDArray[np.float64]:
    """The difference of each answerable query that both hold."""
    before = {one.id: getattr(one, field) for one in old if one.answerable}
    return np.array([getattr(one, field) - before[one.id] for one in new if one.answerable and one.id in before])


def interval(*differences: NDArray[np.float64], seed: int = 0) -> Difference:
    """The mean of the sets' mean differences, by a paired bootstrap over each set's queries (Efron 1979)."""
    filled = [one for one in differences if len(one)]
    if not filled:
        return Difference(math.nan, math.nan, math.nan)
    chance = np.random.default_rng(seed)
    means = np.mean([_resampled(one, chance) for one in filled], axis=0)
    low, high = np.quantile(means, [0.025, 0.975])
    return Difference(float(np.mean([one.mean() for one in filled])), float(low), float(high))


def _resampled(values: NDArray[np.float64], chance: np.random.Generator) -> NDArray[np.float64]:
    counts = chance.multinomial(len(values), np.full(len(values), 1 / len(values)), size=ROUNDS)
    means: NDArray[np.float64] = counts @ values / len(values)
    return means
