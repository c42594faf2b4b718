"""A reranker changes the order and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.model import Evidence, Hit, NotePath
from vaultrag.retrieval.reranking import reranked


def hit(number: int, score: float) -> Hit:
    return Hit(NotePath(f"{number}.md"), "", score, evidence=(Evidence("words", 1, score, 1.0, score),))


SCORED = st.lists(st.tuples(st.floats(0, 2), st.floats(-9, 9)), max_size=12)


@given(SCORED)
def test_hits_trade_places(found: list[tuple[float, float]]) -> None:
    """Every hit is still there, best first by the reranker, the scores as they were, and parts sum to them."""
    hits = [hit(n, score) for n, (score, _) in enumerate(sorted(found, reverse=True))]
    given_scores = {h.path: second for h, (_, second) in zip(hits, found, strict=True)}
    result = reranked(hits, [given_scores[h.path] for h in hits])
    assert sorted(h.path for h in result) == sorted(h.path for h in hits)
    assert [h.score for h in result] == [h.score for h in hits]
    assert [given_scores[h.path] for h in result] == sorted(given_scores.values(), reverse=True)
    for h in result:
        assert sum(part.contribution for part in h.evidence) == pytest.approx(h.score)


def test_equal_scores_keep_the_order() -> None:
    """A reranker that cannot tell changes nothing."""
    hits = [hit(n, 1.0 - n / 10) for n in range(5)]
    assert [h.path for h in reranked(hits, [0.5] * 5)] == [h.path for h in hits]


def test_a_wrong_count_is_refused() -> None:
    """Scores that do not fit the hits are an error, not a guess."""
    with pytest.raises(ValueError, match="zip"):
        reranked([hit(1, 1.0)], [])
