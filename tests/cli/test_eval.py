"""``vaultrag eval`` and ``vaultrag explain``, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import Command


def _set(folder: Path) -> None:
    """A judged set of two notes, one question with an answer and one without."""
    (folder / "vault").mkdir(parents=True)
    (folder / "vault" / "Seal.md").write_text("The mechanical seal was replaced on Monday.\n", "utf-8")
    (folder / "vault" / "Bread.md").write_text("Flour, water and salt.\n", "utf-8")
    queries = [
        {"id": "1", "query": "mechanical seal", "relevant": {"Seal.md": 1}, "answerable": True, "kind": "plain"},
        {"id": "2", "query": "antarctic zebra", "relevant": {}, "answerable": False, "kind": "none"},
    ]
    (folder / "queries.jsonl").write_text("\n".join(json.dumps(query) for query in queries), "utf-8")


def test_eval_prints_figures(command: Command, tmp_path: Path) -> None:
    """Judged queries are run through the real index, and the figures come as JSON or as a table."""
    _set(tmp_path)
    arguments = ("eval", "--vault", str(tmp_path / "vault"), "--queries", str(tmp_path / "queries.jsonl"))
    figures = command.json(*arguments)
    assert figures["all"]["hit@1"] == 1.0
    assert figures["kinds"]["plain"]["queries"] == 1
    assert figures["abstention"] == {"empty": 1, "unanswerable": 1, "precision": 1.0, "recall": 1.0, "auroc": 1.0,
                                     "auroc_by_kind": {"none": 1.0}}  # fmt: skip
    assert figures["first_right_hit_by"]
    assert "ndcg@10" in command.run(*arguments, code=0).stdout


@pytest.mark.timeout(240)
def test_eval_compares(command: Command, tmp_path: Path) -> None:
    """Twins and foreign queries are asked as unanswerable; other settings and an earlier run are compared with."""
    _set(tmp_path)
    (tmp_path / "others.jsonl").write_text('{"_id": "x", "text": "orbit of the moons"}\n', "utf-8")
    asked = ("eval", "--vault", str(tmp_path / "vault"), "--queries", str(tmp_path / "queries.jsonl"))
    first = command.json(*asked, "--twins", "--foreign", str(tmp_path / "others.jsonl"), "--ablate")
    assert first["queries"] == 4
    assert set(first["abstention"]["auroc_by_kind"]) == {"none", "twin", "foreign"}
    assert first["abstention"]["unanswerable"] == first["abstention"]["empty"] == 3
    assert first["per_query"] == {"1": 1.0}
    assert first["compared"]["words alone"]["gain"] == 0.0
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps({"per_query": {"1": 0.25, "gone": 1.0}}), "utf-8")
    second = command.json(*asked, "--against", str(earlier))
    assert second["compared"][str(earlier)] == {
        "queries": 1, "ndcg@10": 0.25, "gain": 0.75, "interval": [0.75, 0.75]
    }  # fmt: skip
    assert "95 % interval" in command.run(*asked, "--against", str(earlier), code=0).stdout
    assert "no run to compare with" in command.json(*asked, "--against", str(tmp_path), code=2)["error"]["message"]


def test_eval_says_what_it_needs(command: Command, tmp_path: Path) -> None:
    """Without a set to run there is an error that shows how to name one."""
    assert "--queries" in command.json("eval", code=2)["error"]["hint"]
    assert command.json("eval", str(tmp_path), code=2)["error"]["kind"] == "ConfigError"
