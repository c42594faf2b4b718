"""What a text costs a model, estimated by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.text.token_estimate import estimate, fit


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("", 0),
        ("The pump hall is closed on Monday at 10:30.", 13),
        ("Nobody takes off another person's lock. Not the foreman, not the director.", 17),
        ("Die Höhenstandsmessung blieb bei 4,41 m stehen.", 18),
        ("| Turbidity | 0.3 FNU | 0.5 FNU |", 19),
        ("水道の水が止まります", 9),
        ("parseTelegram(box_17, 0x1f)", 12),
        ("- [ ] ring Ada\n- [x] ring Bo\n", 13),
    ],
)
def test_it_is_near_what_models_count(text: str, counted: int) -> None:
    """Within two tokens or a third of what the vocabulary cl100k makes of it, as counted once and written down here."""
    assert abs(estimate(text) - counted) <= max(2, counted / 3)


def test_a_long_text_is_looked_at_in_parts() -> None:
    """A book costs no time, and its estimate is that of its chapters."""
    chapter = "The pump hall is closed on Monday at 10:30. Nobody takes off another person's lock.\n"
    assert estimate(chapter * 100_000) == pytest.approx(estimate(chapter) * 100_000, rel=0.05)


@given(st.text(max_size=300), st.integers(0, 60))
def test_what_fits_costs_no_more(text: str, tokens: int) -> None:
    """A text that was cut costs no more than it may, begins as it did, and says with dots that it goes on."""
    kept = fit(text, tokens)
    assert estimate(kept) <= max(tokens, 0) or not kept
    if kept != text:
        assert not kept or kept.endswith(" …")
        assert text.startswith(kept.removesuffix(" …"))


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_costs_more(one: str, other: str) -> None:
    """A part of a text is never estimated to cost much more than the whole."""
    assert estimate(one) <= estimate(one + other) + 2
