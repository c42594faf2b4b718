"""What is said of the words that an answer lacks, on a real index: nothing where the best note has most of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vaultrag.config import EmbedderSettings, Settings
from vaultrag.domain import Answer, State
from vaultrag.domain.requests import Search
from vaultrag.evaluate.run import Pipeline

NOTES = {
    "Pump.md": "# Pump\n\nThe pump stands in the hall.\n",
    "Oil.md": "# Oil\n\nOil of the press.\n",
    **{f"Day {n}.md": f"# Day {n}\n\nThe hall was swept, and the gate was shut.\n" for n in range(20)},
}


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    base = tmp_path_factory.mktemp("words")
    for path, text in NOTES.items():
        (base / "vault").mkdir(exist_ok=True)
        (base / "vault" / path).write_text(text, "utf-8")
    with Pipeline(base / "vault", base / "home", Settings(embedder=EmbedderSettings(provider="off"))) as pipeline:
        pipeline.wait()
        yield pipeline


def said(answer: Answer) -> list[str]:
    return [reason.why for reason in answer.reasons if reason.state is State.RELAXED]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (
            "pump greased quarterly, yearly",
            ['no note has "greased", "quarterly" or "yearly"; showing notes about "pump"'],
        ),
        ("hall gate oil pump press Zurich", []),
        ("pump hall", []),
        ("pump", []),
        ("zyzzyva", []),
    ],
)
def test_what_is_missing_is_said_where_most_is_missing(pipeline: Pipeline, query: str, why: list[str]) -> None:
    """The words are named as they were typed, with what the shown notes are about; a good answer stands by itself."""
    assert said(pipeline.service.search(Search(query))) == why
