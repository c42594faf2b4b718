"""Lines of a note that hold a query's words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vaultrag.retrieval.note_matches import LINE_CHARS, places


def test_a_line_with_more_of_the_query_weighs_more() -> None:
    """The weight of a line is the share of the query's weight that its different words have."""
    found, total = places("seal\nseal gasket seal\nnothing\n", {"seal": 1.0, "gasket": 3.0}, limit=9)
    assert [(place.line, place.weight) for place in found] == [(0, 0.25), (1, 1.0)]
    assert total == 2


def test_no_words_stand_nowhere() -> None:
    """Nothing wanted, nothing found."""
    assert places("seal", {}, limit=9) == ([], 0)


@given(st.text(max_size=600), st.sampled_from(["a", "seal", "é", "水", "1", "😀"]), st.integers(0, 5))
def test_spans_lie_within_their_text(text: str, word: str, limit: int) -> None:
    """Whatever the note holds: few lines, each short, cut from its own line, with spans in order and within it."""
    found, total = places(text, {word: 1.0}, limit=limit)
    assert len(found) <= min(limit, total)
    lines = text.split("\n")
    for place in found:
        assert lines[place.line].startswith(place.lead + place.text)
        assert len(place.text) <= LINE_CHARS
        last = 0
        for span in place.spans:
            assert last <= span.start < span.end <= len(place.text)
            last = span.end
