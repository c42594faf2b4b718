"""The judged queries on the sample vault, through the real pipeline and the builtin model: no figure may fall.

The baseline holds the figures of the last accepted change and, for some, the least that is allowed. After a change that
makes search better: ``python -m tests.quality`` writes it anew, and the diff shows by how much.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.quality.baseline import BASELINE, SLACK, figures


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The figures of this build."""
    return figures(tmp_path_factory.mktemp("quality"))


def _baseline() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(BASELINE).read_text("utf-8"))
    return table


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("figure", ["ndcg@10", "hit@1", "recall@5", "mrr"])
def test_no_figure_falls(measured: dict[str, Any], figure: str) -> None:
    """A change makes the search of the sample vault no worse, over all queries."""
    assert measured["all"][figure] >= _baseline()["all"][figure] - SLACK


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", sorted(_baseline()["kinds"]))
def test_no_kind_is_given_up(measured: dict[str, Any], kind: str) -> None:
    """A gain in one kind of query is not bought with another kind: none falls by more than one query in ten."""
    assert measured["kinds"][kind]["ndcg@10"] >= _baseline()["kinds"][kind]["ndcg@10"] - 0.1


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("figure", ["precision", "recall", "auroc"])
def test_empty_answers_stay_honest(measured: dict[str, Any], figure: str) -> None:
    """ "Nothing found" is said as rightly, and as often where it is right, as before."""
    assert measured["abstention"][figure] >= _baseline()["abstention"][figure] - 2 * SLACK
