"""What kind of question a query is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.retrieval.query_intent import intents_of


@pytest.mark.parametrize(
    "query",
    [
        "who supplied the seals before Nordring",
        "previous alarm limit",
        "What USED TO be the rule",
        "wer war früher dort",
        "the old supplier",
        "prices until 2024",
        "ursprünglicher Plan",
    ],
)
def test_the_past(query: str) -> None:
    """Words for an earlier state mark a question about the past."""
    assert "past" in intents_of(query)


@pytest.mark.parametrize(
    "query",
    ["list the pumps", "all notes about bees", "show me every supplier", "how many pumps are there", "alle Pumpen"],
)
def test_enumerating(query: str) -> None:
    """Words for all of a kind mark a question that wants more than the best."""
    assert "enumerating" in intents_of(query)


@pytest.mark.parametrize(
    "query", ["pump seal", "ADR-016", "what is the limit now", "the golden rule", "listening post", "beforehand", ""]
)
def test_most_queries_have_no_shape(query: str) -> None:
    """Nothing is assumed where no word tells, nor from a word within a word."""
    assert not intents_of(query)


@given(st.text(max_size=200))
def test_any_text(query: str) -> None:
    """No text raises."""
    intents_of(query)
