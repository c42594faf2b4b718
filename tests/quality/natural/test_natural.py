"""The natural set is what it claims to be: answers stand in their notes, and most of them in long ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
VAULT = FOLDER / "vault"
LONG_NOTE_WORDS = range(2000, 5001)
QUERIES = [json.loads(line) for line in (FOLDER / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
ANSWERABLE = [query for query in QUERIES if query["answerable"]]


def text_of(path: str) -> str:
    """Return the text of the note at `path` below the vault."""
    return (VAULT / path).read_text(encoding="utf-8")


def test_ids_and_queries_are_unique() -> None:
    """No id and no query stands twice."""
    for field in ("id", "query"):
        assert [value for value, count in Counter(query[field] for query in QUERIES).items() if count > 1] == []


@pytest.mark.parametrize("query", ANSWERABLE, ids=lambda query: query["id"])
def test_the_answer_stands_in_its_note(query: dict[str, object]) -> None:
    """Each judged path is a note, and the answer stands once in the first of them, which has grade 2."""
    relevant = query["relevant"]
    assert isinstance(relevant, dict)
    assert set(relevant.values()) <= {1, 2}
    assert all((VAULT / path).is_file() for path in relevant)
    first = next(iter(relevant))
    assert relevant[first] == 2
    assert text_of(first).count(str(query["answer"])) == 1


def test_the_unanswerable_have_no_judgement() -> None:
    """Twenty near misses and twenty foreign questions have no relevant note."""
    unanswerable = [query for query in QUERIES if not query["answerable"]]
    assert Counter(query["kind"] for query in unanswerable) == {"near-miss": 20, "foreign": 20}
    assert all(query["relevant"] == {} for query in unanswerable)


def test_at_least_half_of_the_answers_stand_in_long_notes() -> None:
    """Of 150 questions or more with an answer, half or more have it in a note of 2,000 to 5,000 words."""
    in_long_notes = [q for q in ANSWERABLE if len(text_of(next(iter(q["relevant"]))).split()) in LONG_NOTE_WORDS]
    assert len(ANSWERABLE) >= 150
    assert len(in_long_notes) * 2 >= len(ANSWERABLE)


def test_links_lead_to_notes() -> None:
    """Each wiki link of the vault names one of its notes."""
    names = {path.stem for path in VAULT.rglob("*.md")}
    for path in VAULT.rglob("*.md"):
        for link in path.read_text(encoding="utf-8").split("[[")[1:]:
            assert link.split("]]")[0].split("|")[0] in names, path.name
