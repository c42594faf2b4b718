"""The laboratory ranks as the product does, and its choice of parameters is out of sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.quality.lab.batch import Batch
from tests.quality.lab.choice import grid, leave_one_out
from tests.quality.lab.documentation import documentation
from tests.quality.lab.features import Asked, rank, twin
from tests.quality.lab.known_items import known_items
from tests.quality.lab.measure import interval, ndcg, row
from vaultrag.errors import ConfigError
from vaultrag.retrieval.features import Features
from vaultrag.retrieval.params import DEFAULT

PADDING = "It goes on for a while so that the note is no stub. " * 8
VAULT = {
    "tasks-docs/Custom Statuses.md": f"# Custom Statuses\n\n{PADDING}",
    "tasks-docs/Guide.md": (
        "Colours are set as [[Custom Statuses|marks of your own]] say. See [[Custom Statuses|here]].\n"
        "You need to install [[Custom Statuses]] before any of the colours work.\n"
        "```\n[[Custom Statuses|in code]]\n```\n"
    ),
    "foam-docs/Other.md": f"{PADDING} Settled on 2024-03-05, the wider plan foresees forty more tables in the hall.",
}


def _asked(seed: int, size: int = 40) -> Asked:
    chance = np.random.default_rng(seed)
    cosine = chance.random(size)
    cosine[:3] = np.nan
    columns: dict[str, Any] = {
        name: chance.random(size)
        for name in ("passage_cosine", "passage_count", "words", "coverage", "near", "near_titled", "name")
    }
    match = chance.choice(5, size, p=[0.9, 0.04, 0.02, 0.02, 0.02]).astype(np.int8)
    features = Features(ids=np.arange(size) * 2, dated=np.zeros(size), note_cosine=cosine, name_match=match,
                        literal=chance.random(size) > 0.9, **columns)  # fmt: skip
    return Asked(f"q{seed}", "kind", "some words", True, {4: 1.0, 6: 0.5, -1: 1.0}, features)


def test_a_batch_ranks_as_single_queries_do() -> None:
    """The quick way over a whole set gives each query's figure exactly."""
    asked = [_asked(seed) for seed in range(20)]
    for params in (DEFAULT, replace(DEFAULT, words=0.9, note_share=0.1)):
        single = [ndcg(rank(one, params).order[:10].tolist(), one.grades, 10) for one in asked]
        assert Batch(asked).ndcg10(params) == pytest.approx(single)


def test_a_twin_lacks_the_right_notes() -> None:
    """What answers a query is gone from its twin, and nothing else."""
    other = twin(_asked(1))
    assert not {4, 6} & set(other.features.ids.tolist())
    assert len(other.features.ids) == 38
    assert not other.answerable


def test_links_become_queries_without_their_notes() -> None:
    """A link's words and its sentence ask for its target, without the note that holds them; generic ones do not."""
    judged = {one.query: one for one in documentation(VAULT)}
    assert set(judged) == {
        "marks of your own",
        "colours are set as marks of your own say",
        "you need to install before any of the colours work",
    }
    for one in judged.values():
        assert one.relevant == {"tasks-docs/Custom Statuses.md": 1.0}
        assert one.without == {"tasks-docs/Guide.md"}


def test_known_items_are_the_same_every_time() -> None:
    """The queries follow from the texts and the seed, and each is right for a note that is there."""
    judged = known_items(VAULT)
    assert judged == known_items(dict(reversed(VAULT.items())))
    assert {one.kind for one in judged} >= {"slip", "partial", "date"}
    assert all(one.relevant and one.relevant.keys() <= VAULT.keys() for one in judged)
    assert {one.query for one in judged if one.kind == "date"} == {"5 March 2024"}


def test_what_is_left_out_does_not_choose() -> None:
    """The point that is judged on a set was chosen on the others alone."""
    sets = {name: Batch([_asked(seed) for seed in range(start, start + 10)]) for start, name in enumerate("abc")}
    points = grid(DEFAULT, {"words": [0.0, 1.0, 3.0]})
    assert points[0] == DEFAULT
    choice = leave_one_out(sets, points)
    for fold in choice.folds:
        others = [batch for name, batch in sets.items() if name != fold.name]
        means = [np.mean([batch.ndcg10(point).mean() for batch in others]) for point in points]
        assert fold.chosen == points[int(np.argmax(means))]
        assert fold.within.mean() >= fold.out.mean()
    with pytest.raises(ConfigError, match="wrods"):
        grid(DEFAULT, {"wrods": [1.0]})


def test_an_interval_tells_noise_from_gain() -> None:
    """A gain of every query is sure; one of single queries is not."""
    assert interval(np.full(50, 0.1)).sure
    assert not interval(np.array([0.5, -0.48] * 25)).sure


def test_what_is_not_shown_does_not_count_as_shown() -> None:
    """A right note below the ten shown, or withheld, counts in the order only."""
    judged = row("1", "", True, ["a", "b"], ["b"], {"a": 1.0}, 0.5)
    assert (judged.recall5, judged.shown_recall5, judged.right) == (1.0, 0.0, 1.0)
