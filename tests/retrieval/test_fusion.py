"""Fusion: parts that sum to the score, and an order that never trembles."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.model import Evidence, NoteId
from vaultrag.retrieval.fusion import RRF_K, Arm, Fused, Method, fuse

SCORES = st.floats(-50, 50, allow_nan=False)
RANKED = st.dictionaries(st.integers(1, 30).map(NoteId), SCORES, max_size=20).map(
    lambda scores: sorted(scores.items(), key=lambda pair: -pair[1])
)
ARMS = st.lists(
    st.builds(
        Arm.of,
        st.sampled_from(["words", "meaning", "names"]),
        st.floats(0, 2),
        RANKED,
        st.floats(-1, 1),
        st.none() | st.floats(0.1, 50),
    ),
    max_size=4,
)
BOOSTS = st.dictionaries(st.integers(1, 30).map(NoteId), st.floats(0, 3), max_size=4)
METHODS = st.sampled_from(["weighted", "rrf"])


@given(ARMS, METHODS, BOOSTS)
def test_parts_sum_to_the_score(arms: list[Arm], method: Method, boosts: dict[NoteId, float]) -> None:
    """A hit's parts sum to its score, and every note of every arm is in the list once."""
    fused = fuse(arms, method=method, boosts=boosts)
    assert len({hit.note_id for hit in fused}) == len(fused)
    assert {hit.note_id for hit in fused} == {n for arm in arms for n in arm.ids.tolist()} | boosts.keys()
    for hit in fused:
        assert hit.score == pytest.approx(sum(part.contribution for part in hit.evidence))
        for part in hit.evidence:
            assert 0 <= part.contribution <= part.weight + 1e-9


@given(ARMS, METHODS, st.randoms(use_true_random=False))
def test_order(arms: list[Arm], method: Method, chance: random.Random) -> None:
    """Best first, ties by age, whatever order the arms come in."""
    fused = fuse(arms, method=method)
    keys = [(-hit.score, hit.note_id) for hit in fused]
    assert keys == sorted(keys)
    shuffled = arms[:]
    chance.shuffle(shuffled)
    again = fuse(shuffled, method=method)
    assert {hit.note_id: hit.score for hit in again} == pytest.approx({hit.note_id: hit.score for hit in fused})


def test_weighted() -> None:
    """The best of an arm counts its full weight, its floor nothing."""
    arm = Arm.of("words", 0.5, [(NoteId(1), 10.0), (NoteId(2), 6.0), (NoteId(3), 2.0)], floor=2.0)
    assert [hit.score for hit in fuse([arm])] == [0.5, 0.25, 0.0]


def test_ceiling() -> None:
    """With a ceiling, an arm whose best is poor gives little."""
    arm = Arm.of("names", 1.0, [(NoteId(1), 0.6)], floor=0.5, ceiling=1.0)
    assert fuse([arm])[0].score == pytest.approx(0.2)


def test_rrf() -> None:
    """Reciprocal ranks know the places only."""
    arm = Arm.of("words", 1.0, [(NoteId(1), 1e9), (NoteId(2), 1.0)])
    assert [hit.score for hit in fuse([arm], method="rrf")] == [1.0, pytest.approx((RRF_K + 1) / (RRF_K + 2))]


def test_rule() -> None:
    """A boost is a part of its own, also for a note that no arm brought."""
    fused = fuse([Arm.of("words", 0.5, [(NoteId(1), 1.0)])], boosts={NoteId(9): 1.0})
    assert [(hit.note_id, hit.score) for hit in fused] == [(9, 1.0), (1, 0.5)]
    assert fused[0].evidence[0].arm == "rule"


def test_nothing() -> None:
    """No arms, no hits."""
    assert fuse([]) == fuse([Arm.of("words", 1.0, [])]) == []


def _plain_fuse(arms: list[Arm], method: Method, boosts: dict[NoteId, float]) -> list[Fused]:
    """``fuse`` said plainly: all the evidence first, then its sum."""
    parts: dict[NoteId, list[Evidence]] = {}
    for arm in arms:
        ranked = list(zip(arm.ids.tolist(), arm.raw.tolist(), strict=True))
        best = ranked[0][1] if ranked else 0.0
        span = max((best if arm.ceiling is None else arm.ceiling) - arm.floor, 1e-9)
        for rank, (note_id, raw) in enumerate(ranked, start=1):
            by_rank, by_score = (RRF_K + 1) / (RRF_K + rank), min(1.0, max(0.0, (raw - arm.floor) / span))
            value = arm.weight * (by_rank if method == "rrf" else by_score)
            parts.setdefault(note_id, []).append(Evidence(arm.name, rank, raw, arm.weight, value))
    for note_id, boost in boosts.items():
        parts.setdefault(note_id, []).append(Evidence("rule", 1, 1.0, boost, boost))
    fused = []
    for note_id, evidence in parts.items():
        score = 0.0
        for part in evidence:
            score += part.contribution
        fused.append(Fused(note_id, score, tuple(evidence)))
    return sorted(fused, key=lambda hit: (-hit.score, hit.note_id))


@given(ARMS, METHODS, BOOSTS)
def test_late_evidence(arms: list[Arm], method: Method, boosts: dict[NoteId, float]) -> None:
    """Evidence that is made when it is asked for is what it would have been at once, also in a changed copy."""
    plain = _plain_fuse(arms, method, boosts)
    fused = fuse(arms, method=method, boosts=boosts)
    assert {hit.note_id: hit.score for hit in fused} == pytest.approx({hit.note_id: hit.score for hit in plain})
    evidence = {hit.note_id: hit.evidence for hit in plain}
    for hit in fused:
        assert hit._replace(score=0.5).evidence == hit.evidence
        for made, wanted in zip(hit.evidence, evidence[hit.note_id], strict=True):
            assert replace(made, contribution=0.0) == replace(wanted, contribution=0.0)
            assert made.contribution == pytest.approx(wanted.contribution)
