"""Formulas of the evaluation, by hand-worked examples and against their definitions."""

from __future__ import annotations

import math
import random

import ir_measures
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vaultrag.evaluate import metrics

RANKED = ["c", "a", "x", "b"]
RELEVANT = {"a": 2, "b": 1, "d": 1}


def test_ndcg_by_hand() -> None:
    """nDCG divides the discounted grades by those of the best order."""
    gained = 2 / math.log2(3) + 1 / math.log2(5)
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert metrics.ndcg(RANKED, RELEVANT, 10) == pytest.approx(gained / ideal)
    assert metrics.ndcg(RANKED, RELEVANT, 1) == 0.0
    assert metrics.ndcg(["a", "b", "d"], RELEVANT, 10) == pytest.approx(1.0)
    assert metrics.ndcg([], RELEVANT, 10) == 0.0


def test_counts_by_hand() -> None:
    """Precision, recall, hits and reciprocal rank count what they say."""
    assert metrics.precision(RANKED, RELEVANT, 4) == pytest.approx(0.5)
    assert metrics.precision(["a"], RELEVANT, 5) == pytest.approx(0.2)
    assert metrics.recall(RANKED, RELEVANT, 4) == pytest.approx(2 / 3)
    assert metrics.hit(RANKED, RELEVANT, 1) == 0.0
    assert metrics.hit(RANKED, RELEVANT, 2) == 1.0
    assert metrics.best_first(["b", "a"], RELEVANT) == 0.0
    assert metrics.best_first(["a", "b"], RELEVANT) == 1.0
    assert metrics.reciprocal_rank(RANKED, RELEVANT) == pytest.approx(0.5)
    assert metrics.reciprocal_rank(["x"], RELEVANT) == 0.0


@given(st.lists(st.integers(0, 6), max_size=12), st.lists(st.integers(0, 6), max_size=12))
def test_auroc_is_the_share_of_pairs_in_order(positive: list[int], negative: list[int]) -> None:
    """AUROC is the share of (positive, negative) pairs in the right order, ties counting half."""
    value = metrics.auroc([float(x) for x in positive], [float(x) for x in negative])
    if not positive or not negative:
        assert math.isnan(value)
        return
    pairs = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
    assert value == pytest.approx(sum(pairs) / len(pairs))


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30))
def test_percentile_is_a_value_of_the_list(values: list[float]) -> None:
    """A percentile is one of the values, and the last one is the largest."""
    assert metrics.percentile(values, 0.5) in values
    assert metrics.percentile(values, 1.0) == max(values)


def test_interval_of_noise_holds_zero_and_of_a_gain_does_not() -> None:
    """The bootstrap tells a difference from noise, and the same seed gives the same interval."""
    source = random.Random(1)
    noise = [source.gauss(0, 1) for _ in range(200)]
    low, high = metrics.paired_interval(noise)
    assert low < 0 < high
    low, high = metrics.paired_interval([value + 1 for value in noise])
    assert 0 < low < high
    assert metrics.paired_interval(noise) == metrics.paired_interval(noise)


@settings(deadline=None)  # each example starts the tool anew
@given(
    st.lists(st.integers(0, 30), unique=True, max_size=30),
    st.dictionaries(st.integers(0, 30), st.integers(0, 3), min_size=1, max_size=12),
)
def test_the_fields_own_tool_agrees(ranked: list[int], grades: dict[int, int]) -> None:
    """Every figure is what ir-measures, which asks trec_eval, makes of the same list."""
    relevant = {f"d{name}": grade for name, grade in grades.items()}
    assume(any(relevant.values()))
    paths = [f"d{name}" for name in ranked]
    wanted = {
        ir_measures.nDCG @ 5: metrics.ndcg(paths, relevant, 5),
        ir_measures.nDCG @ 10: metrics.ndcg(paths, relevant, 10),
        ir_measures.P @ 1: metrics.precision(paths, relevant, 1),
        ir_measures.P @ 5: metrics.precision(paths, relevant, 5),
        ir_measures.R @ 5: metrics.recall(paths, relevant, 5),
        ir_measures.R @ 20: metrics.recall(paths, relevant, 20),
        ir_measures.Success @ 1: metrics.hit(paths, relevant, 1),
        ir_measures.RR: metrics.reciprocal_rank(paths, relevant),
    }
    run = {"q": {path: float(-place) for place, path in enumerate(paths)}}
    found = ir_measures.calc_aggregate(list(wanted), {"q": relevant}, run)
    assert {measure: found[measure] for measure in wanted} == pytest.approx(wanted)
