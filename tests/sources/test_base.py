"""Bases as notes."""

from __future__ import annotations

import pytest

from vaultrag.sources.base import read_base
from vaultrag.sources.source_text import Unreadable, markdown

BASE = b"""filters:
  and:
    - file.hasTag("book")
formulas:
  left: pages - read
views:
  - type: table
    name: To read
    order: [file.name, author, left]
  - type: cards
    name: Done
"""


def test_names_filters_and_formulas_are_read() -> None:
    """What is set for all views stands first, each view under its name."""
    made = markdown(read_base(BASE))
    assert made.index('file.hasTag("book")') < made.index("formulas left: pages - read") < made.index("## View To read")
    assert made.index("author") < made.index("## View Done") < made.index("cards")


@pytest.mark.parametrize(
    "data", [b"- a list", b"a: [", b"\0", b"x: " + b"[" * 5000, b"a: &a [" + b"*a," * 20_000 + b"]"]
)
def test_what_is_no_base_says_so(data: bytes) -> None:
    """It is damaged, or refers to itself: in words, and at once."""
    with pytest.raises(Unreadable):
        read_base(data)


def test_an_empty_base_is_empty() -> None:
    """The app writes an empty file for a new base."""
    assert markdown(read_base(b"")) == ""
