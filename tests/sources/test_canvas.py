"""Canvases as notes."""

from __future__ import annotations

import json

import pytest

from tests.support.documents import canvas_of
from vaultrag.domain import NotePath
from vaultrag.markdown import parse_note
from vaultrag.sources.canvas import read_canvas
from vaultrag.sources.source_text import Unreadable, markdown


def text(data: bytes) -> str:
    return markdown(read_canvas(data))


def test_cards_are_read_from_the_top_down() -> None:
    """Each card's text is Markdown; files and addresses are links."""
    data = canvas_of(
        [
            {"type": "text", "text": "second", "y": 500},
            {"type": "text", "text": "# first\n#tagged [[Link]]", "y": 0},
            {"type": "file", "file": "Folder/Note.md", "subpath": "#Part", "y": 700},
            {"type": "link", "url": "https://example.org/a", "y": 900},
        ]
    )
    note = parse_note(NotePath("a.canvas"), text(data).encode())
    assert text(data).split() == [
        "#",
        "first",
        "#tagged",
        "[[Link]]",
        "second",
        "[[Folder/Note.md#Part]]",
        "<https://example.org/a>",
    ]
    assert note.tags == ("tagged",)
    assert {link.target for link in note.links} >= {"Link", "Folder/Note.md"}


def test_a_group_is_a_heading_over_its_cards() -> None:
    """A card belongs to the smallest group around its middle."""
    data = canvas_of(
        [
            {"type": "group", "label": "Outer", "x": 0, "y": 0, "width": 2000, "height": 2000},
            {"type": "group", "label": "Inner", "x": 100, "y": 100, "width": 500, "height": 500},
            {"type": "text", "text": "within", "x": 200, "y": 200},
            {"type": "text", "text": "around", "x": 1000, "y": 1000},
            {"type": "text", "text": "outside", "x": 5000, "y": 0},
        ]
    )
    assert text(data).split() == ["outside", "##", "Outer", "around", "##", "Inner", "within"]


def test_the_label_of_a_line_names_what_it_joins() -> None:
    """What an arrow says is found, with both its ends."""
    cards = [{"type": "text", "text": "# Rain"}, {"type": "file", "file": "Flood.md"}]
    edges = [{"fromNode": "0", "toNode": "1", "label": "causes"}, {"fromNode": "0", "toNode": "9"}]
    assert "Rain → Flood.md: causes" in text(canvas_of(cards, edges))


@pytest.mark.parametrize("data", [b"", b"{}", b'{"nodes":[]}', b'{"nodes":null,"edges":3}'])
def test_an_empty_canvas_is_empty(data: bytes) -> None:
    """The app writes an empty file for a new canvas."""
    assert text(data) == ""


@pytest.mark.parametrize("data", [b"[]", b"{", b"\xff\xfe", b'{"nodes":' + b"[" * 100_000])
def test_a_damaged_canvas_says_so(data: bytes) -> None:
    """It is damaged, in words."""
    with pytest.raises(Unreadable, match="damaged"):
        read_canvas(data)


def test_strange_values_harm_nothing() -> None:
    """Cards without text, with numbers that are none, of kinds that are not known."""
    strange = [None, 1, "x", {}, {"type": "text", "text": 5, "x": "a", "y": 1e300}, {"type": "new", "text": "later"}]
    data = json.dumps({"nodes": [*strange, {"type": "text", "text": "kept", "y": None}], "edges": [{}, 5]}).encode()
    assert "kept" in text(data)
