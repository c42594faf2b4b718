"""Documents, slides and sheets as notes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from tests.support import documents
from vaultrag.domain import NotePath
from vaultrag.markdown import parse_note
from vaultrag.sources.office import read_sheet, read_slides, read_word
from vaultrag.sources.source_text import SourceText, Unreadable, markdown


def test_a_document_is_read_in_order() -> None:
    """Headings, paragraphs, lists and tables stand as they stand in the document."""
    data = documents.word(
        ("Heading 1", "The boiler"), "Serviced in May. See #4711.", ("List Bullet", "citric acid"),
        rows=[["part", "price"], ["seal", "4 €"]], title="Manual",
    )  # fmt: skip
    source = read_word(data)
    lines = [line for line in markdown(source).split("\n") if line]
    assert lines == [
        "---", "title: Manual", "---",
        "### The boiler", "Serviced in May. See \\#4711.", "- citric acid", "part · price", "seal · 4 €",
    ]  # fmt: skip
    assert parse_note(NotePath("a.docx"), markdown(source).encode()).tags == ()


def test_each_slide_is_a_section() -> None:
    """Title, text and the speaker's notes belong to their slide."""
    source = read_slides(documents.slides(("Costs", "up\ndown"), ("Plan", "later"), notes="say it slowly"))
    assert [one.heading for one in source.sections] == ["Slide 1: Costs", "Slide 2: Plan"]
    assert source.sections[0].text.split("\n\n") == ["up", "down", "say it slowly"]
    assert source.title == ""


def test_each_sheet_is_a_section() -> None:
    """A row is a line of what its cells hold; days are written as days."""
    bought = datetime.fromisoformat("2025-03-11")
    rows = [["item", "price", "bought"], ["seal", 4.5, bought], [None, None, None], ["rope", 0.1 + 0.2, True]]
    source = read_sheet(documents.sheet(Budget=rows, Empty=[]))
    assert [one.heading for one in source.sections] == ["Sheet Budget", "Sheet Empty"]
    lines = ["item · price · bought", "seal · 4.5 · 2025-03-11", "rope · 0.3 · True"]
    assert source.sections[0].text.split("\n") == lines


@pytest.mark.parametrize("reader", [read_word, read_slides, read_sheet])
def test_what_is_no_such_file_says_so(reader: Callable[[bytes], SourceText]) -> None:
    """A damaged or encrypted file, one of another kind, or a bomb."""
    for data in (b"", b"nonsense", documents.epub("x", "y"), documents.word("x")[:-50], documents.zip_bomb()):
        with pytest.raises(Unreadable):
            reader(data)
    with pytest.raises(Unreadable, match="password"):
        reader(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100)
