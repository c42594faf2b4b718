"""From outcomes to figures."""

from __future__ import annotations

from pathlib import Path

from vaultrag.evaluate.datasets import Judged, read_foreign, twins
from vaultrag.evaluate.report import ablations, abstention, by_tier, difference, means, per_query
from vaultrag.evaluate.run import Outcome
from vaultrag.retrieval.params import DEFAULT

ANSWERED = Judged("1", "seal", {"Seal.md": 1})


def test_twins() -> None:
    """An answerable query is asked again without its right notes; others have no twin."""
    found = twins([ANSWERED, Judged("2", "zebra", answerable=False), Judged("3", "nothing judged")])
    assert found == [Judged("1-twin", "seal", {}, answerable=False, kind="twin", without=frozenset({"Seal.md"}))]
    partial = Judged("4", "seal", {"Seal.md": 1}, without=frozenset({"Source.md"}))
    assert twins([partial])[0].without == {"Seal.md", "Source.md"}


def test_abstention_by_kind() -> None:
    """Each kind of unanswerable query is held against all answerable ones."""
    outcomes = [
        Outcome(ANSWERED, ["Seal.md"], 1.0),
        Outcome(Judged("2", "a", answerable=False, kind="near"), ["Seal.md"], 2.0),
        Outcome(Judged("3", "b", answerable=False, kind="far"), [], -5.0),
    ]
    assert abstention(outcomes) == {
        "empty": 1, "unanswerable": 2, "precision": 1.0, "recall": 0.5, "auroc": 0.5,
        "auroc_by_kind": {"far": 1.0, "near": 0.0},
    }  # fmt: skip


def test_a_difference_has_an_interval() -> None:
    """A difference that every query shows is sure; one that single queries make may be noise."""
    old = {str(n): 0.5 for n in range(50)}
    sure = difference({name: value + 0.1 for name, value in old.items()}, old)
    assert sure["gain"] == 0.1
    assert sure["interval"] == [0.1, 0.1]
    noisy = difference({name: value + (0.5 if int(name) % 2 else -0.48) for name, value in old.items()}, old)
    low, high = noisy["interval"]
    assert low < 0 < high
    assert difference({}, old)["queries"] == 0


def test_per_query_leaves_the_unanswerable_out() -> None:
    """Only a query with an answer has a figure of its own."""
    outcomes = [Outcome(ANSWERED, ["x.md", "Seal.md"], 1.0), Outcome(Judged("2", "", answerable=False), [], 0.0)]
    assert per_query(outcomes) == {"1": 0.6309}


def test_ablations_differ_from_what_runs() -> None:
    """No variant is the run itself."""
    assert all((one.mode, one.params) != ("hybrid", DEFAULT) for one in ablations("hybrid", DEFAULT))
    assert "words alone" not in [one.name for one in ablations("words", DEFAULT)]


def test_foreign_queries(tmp_path: Path) -> None:
    """Queries are read from a folder in the form of BEIR, and from a file of either form."""
    lines = '{"_id": "a", "text": "one"}\n{"id": 2, "query": "two"}\n{"id": 3}\n'
    (tmp_path / "queries.jsonl").write_text(lines, "utf-8")
    found = read_foreign(tmp_path)
    assert [one.query for one in found] == ["one", "two"]
    assert not any(one.answerable for one in found)
    assert read_foreign(tmp_path / "queries.jsonl") == found


def test_what_is_shown_and_what_is_ranked_are_apart() -> None:
    """A right note that stands too low to be shown counts in the order, and not as found."""
    withheld = Outcome(ANSWERED, [], 0.2, ranked=["Seal.md"], tier="weak")
    assert means([withheld])["hit@1"] == 0.0
    assert means([withheld], ranked=True)["hit@1"] == 1.0


def test_tiers_tell_how_often_they_are_right() -> None:
    """A strong answer to an unanswerable query is a wrong one."""
    outcomes = [
        Outcome(ANSWERED, ["Seal.md"], 1.0, ranked=["Seal.md"], tier="strong"),
        Outcome(Judged("2", "b", answerable=False), ["x.md"], 0.9, ranked=["x.md"], tier="strong"),
    ]
    assert by_tier(outcomes)["strong"] == {"answerable": 1, "unanswerable": 1, "precision": 0.5}
