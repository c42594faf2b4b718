"""Characters that nobody sees are taken out; those that a script or a sign needs are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.text.invisible import shown, without_invisible


@pytest.mark.parametrize(
    "hidden",
    [
        "\x1b[31m", "\x07", "\x9b", "\u202e", "\u2066", "\u200b", "\u2060", "\u00ad", "\u200d", "\u200c", "\u200f",
        "".join(chr(0xE0000 + ord(letter)) for letter in "obey me"), "\ufe01\ufe02", "\U000e0101", "\u3164", "\ufeff",
    ],
    ids=ascii,
)  # fmt: skip
def test_what_is_hidden_in_plain_text_goes(hidden: str) -> None:
    """Within English words none of these is left, and a terminal gets a sign of the same length."""
    text = f"pump{hidden}hall"
    left = without_invisible(text)
    assert left.replace("[31m", "") == "pumphall"
    assert len(shown(text)) == len(text)
    assert "\ufffd" in shown(text)


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم", "क्\u200dष", "👩\u200d💻 and 👨\u200d👩\u200d👧", "🏳️\u200d🌈", "❤️ ☎︎ 1️⃣",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "葛\U000e0100城", "שלום\u200f!",
        "a\n\tb\r\nc",
        "水泵 – naïve “quotes” …", "🧑🏽\u200d🚒", "🤷\u200d♀️",
    ],
)  # fmt: skip
def test_what_a_script_or_sign_needs_stays(text: str) -> None:
    """Persian, Hindi, Hebrew, Japanese names, emoji and flags are as they were."""
    assert without_invisible(text) == text


def test_nothing_rides_on_what_stays() -> None:
    """Behind an emoji or a letter that may have one, a second joiner or selector carries nothing."""
    assert without_invisible("❤\ufe0f\ufe01\ufe02") == "❤\ufe0f"
    assert without_invisible("می\u200c\u200c\u200cخ") == "می\u200cخ"
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    assert without_invisible(f"🏴{tags}\U000e007f") == "🏴"


@given(st.text())
def test_lines_and_lengths_hold(text: str) -> None:
    """Line breaks stay where they are, and what a terminal gets is as long as the text."""
    assert without_invisible(text).count("\n") == text.count("\n")
    assert len(shown(text)) == len(text)
    assert "\x1b" not in shown(text)
