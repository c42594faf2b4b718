"""``vaultrag eval`` and ``vaultrag explain``, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Command


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
    assert figures["abstention"] == {"empty": 1, "unanswerable": 1, "precision": 1.0, "recall": 1.0, "auroc": 1.0}
    assert figures["first_right_hit_by"]
    assert "ndcg@10" in command.run(*arguments, code=0).stdout


def test_eval_says_what_it_needs(command: Command, tmp_path: Path) -> None:
    """Without a set to run there is an error that shows how to name one."""
    assert "--queries" in command.json("eval", code=2)["error"]["hint"]
    assert command.json("eval", str(tmp_path), code=2)["error"]["kind"] == "ConfigError"
