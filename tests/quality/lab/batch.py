"""All queries of a set ranked at once, for grids: the score is a row's own, so one call scores every row of a set."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.quality.lab.features import COLUMNS, Asked, rank
from tests.quality.lab.measure import ndcg
from vaultrag.retrieval.features import Features
from vaultrag.retrieval.params import Params
from vaultrag.retrieval.scoring import score

DEPTH = 10


class Batch:
    """The answerable queries of a set. Queries with notes that no longer hold are ranked one by one."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        answerable = [one for one in asked if one.answerable and one.grades]
        self.ids = [one.id for one in answerable]
        self._single = [(place, one) for place, one in enumerate(answerable) if one.aged or not len(one.features.ids)]
        alone = {place for place, _ in self._single}
        groups: dict[Hashable, list[tuple[int, Asked]]] = {}
        for place, one in enumerate(answerable):
            if place not in alone:
                groups.setdefault((one.features.vectors, one.features.multilingual, one.features.scale), []).append(
                    (place, one)
                )
        self._groups = [_Group(group) for group in groups.values()]

    def ndcg10(self, params: Params) -> NDArray[np.float64]:
        """Each query's nDCG@10."""
        figures = np.zeros(len(self.ids))
        for group in self._groups:
            figures[group.places] = group.ndcg10(params)
        for place, one in self._single:
            figures[place] = ndcg(rank(one, params).order[:DEPTH].tolist(), one.grades, DEPTH)
        return figures


class _Group:
    """Queries for which a cosine means the same. A right note's place is the number of rows that stand above it."""

    def __init__(self, asked: Sequence[tuple[int, Asked]]) -> None:
        self.places = np.array([place for place, _ in asked])
        filled = [_filled(one.features) for _, one in asked]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in filled]) for name in ("ids", *COLUMNS)
        }
        self._ideal = np.array([_ideal(one) for _, one in asked])
        sizes = np.array([len(one.ids) for one in filled])
        one = filled[0]
        self._features = Features(**columns, vectors=one.vectors, multilingual=one.multilingual, scale=one.scale)
        query = np.repeat(np.arange(len(asked)), sizes)
        grades = [one.grades.get(note, 0.0) for _, one in asked for note in one.features.ids.tolist()]
        self._right = np.flatnonzero(np.array(grades) > 0)
        self._gain = np.array(grades)[self._right]
        self._query = query[self._right]
        starts = np.cumsum([0, *sizes[:-1]])
        # Every right row beside every row of its query.
        self._pair = np.repeat(np.arange(len(self._right)), sizes[self._query])
        firsts = np.cumsum([0, *sizes[self._query][:-1]])
        self._other = np.arange(len(self._pair)) - np.repeat(firsts - starts[self._query], sizes[self._query])

    def ndcg10(self, params: Params) -> NDArray[np.float64]:
        scores, precedence = score(self._features, params), self._features.precedence
        one, other = self._right[self._pair], self._other
        ahead = scores[other] - scores[one]
        above = (ahead > 0) | ((ahead == 0) & (other < one))  # ids ascend within a query
        above = (precedence[other] > precedence[one]) | ((precedence[other] == precedence[one]) & above)
        place = np.bincount(self._pair[above], minlength=len(self._right))
        kept = place < DEPTH
        sums = np.bincount(self._query[kept], self._gain[kept] / np.log2(place[kept] + 2), minlength=len(self._ideal))
        figures: NDArray[np.float64] = sums / self._ideal
        return figures


def _ideal(one: Asked) -> float:
    gains = sorted(one.grades.values(), reverse=True)[:DEPTH]
    return float(sum(gain / np.log2(place + 2) for place, gain in enumerate(gains)))


def _filled(features: Features) -> Features:
    """Fill in missing cosines as ``scoring`` does, which takes the mean of the query's own rows."""
    own, best = features.note_cosine, features.passage_cosine
    own, best = np.where(np.isnan(own), best, own), np.where(np.isnan(best), own, best)
    known = ~np.isnan(own)
    if known.all():
        return replace(features, note_cosine=own, passage_cosine=best)
    means = (own[known].mean(), best[known].mean()) if known.any() else (0.0, 0.0)
    return replace(features, note_cosine=np.where(known, own, means[0]), passage_cosine=np.where(known, best, means[1]))
