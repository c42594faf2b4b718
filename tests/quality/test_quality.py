"""The committed judged sets, through the real pipeline and the builtin model: no figure may fall.

The baseline holds the figures of the last accepted change. After a change that makes search better:
``python -m tests.quality --baseline`` writes it anew, and the diff shows by how much.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.quality.baseline import BASELINE, SETS, SLACK, figures

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The figures of this build, by set."""
    return {name: figures(name, tmp_path_factory.mktemp(name)) for name in SETS}


def _baseline() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(BASELINE).read_text("utf-8"))
    return table


@pytest.mark.parametrize("figure", ["ndcg@10", "hit@1", "recall@5", "mrr"])
@pytest.mark.parametrize("part", ["all", "ranked"])
@pytest.mark.parametrize("name", SETS)
def test_no_figure_falls(measured: dict[str, Any], name: str, part: str, figure: str) -> None:
    """A change makes the search of a vault no worse over all queries, neither what is shown nor what is ranked."""
    assert measured[name][part][figure] >= _baseline()[name][part][figure] - SLACK


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in SETS for kind in sorted(_baseline()[name]["kinds"])]
)
def test_no_kind_is_given_up(measured: dict[str, Any], name: str, kind: str) -> None:
    """A gain in one kind of query is not bought with another kind: none falls by more than one query in ten."""
    assert measured[name]["kinds"][kind]["ndcg@10"] >= _baseline()[name]["kinds"][kind]["ndcg@10"] - 0.1


@pytest.mark.parametrize("figure", ["precision", "recall", "auroc"])
@pytest.mark.parametrize("name", SETS)
def test_empty_answers_stay_honest(measured: dict[str, Any], name: str, figure: str) -> None:
    """ "Nothing found" is said as rightly, and as often where it is right, as before."""
    assert measured[name]["abstention"][figure] >= _baseline()[name]["abstention"][figure] - 2 * SLACK


@pytest.mark.parametrize("name", SETS)
def test_strong_hits_stay_right(measured: dict[str, Any], name: str) -> None:
    """An answer that calls itself strong begins with a right note as often as before."""
    assert (
        measured[name]["tiers"]["strong"]["precision"] >= _baseline()[name]["tiers"]["strong"]["precision"] - 2 * SLACK
    )
