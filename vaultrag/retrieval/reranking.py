"""A second reader's order of the best hits. Pure.

The hits trade places, not scores: the best place keeps the best score, so that a reranker on any scale leaves scores
comparable and the parts of each still sum to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vaultrag.model import Evidence, Hit

RERANKED = 20
"""Hits that a reranker is shown."""


def reranked(hits: Sequence[Hit], scores: Sequence[float]) -> list[Hit]:
    """The hits in the order of ``scores``; equal ones stay in their order.

    Args:
        hits: Best first.
        scores: The reranker's, one a hit, higher is better.

    Raises:
        ValueError: There are more or fewer scores than hits.
    """
    order = sorted(zip(hits, scores, strict=True), key=lambda pair: -pair[1])
    return [
        replace(hit, score=place.score, evidence=(*hit.evidence, _part(rank, score, place.score - hit.score)))
        for rank, ((hit, score), place) in enumerate(zip(order, hits, strict=True), start=1)
    ]


def _part(rank: int, score: float, moved: float) -> Evidence:
    return Evidence("reranker", rank, score, 1.0, moved)
