"""Plain text stays plain when it becomes Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.domain import NotePath
from vaultrag.markdown import parse_note
from vaultrag.markdown.rendered_text import rendered
from vaultrag.sources.source_text import MAX_CHARS, Section, SourceText, markdown, plain

PATH = NotePath("a.pdf")
SIGNS = "#[]()!|`~%<>:^-=_* \n\\/abc1é"


def words(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text).split()


@given(st.text(SIGNS, max_size=60))
def test_what_a_file_says_means_nothing(text: str) -> None:
    """No text of a file becomes a tag, a link, a heading or a property."""
    note = parse_note(PATH, markdown(SourceText([Section("Page 1", plain(text))])).encode())
    assert note.tags == ()
    assert [heading.text for heading in note.headings] == ["Page 1"]
    assert not note.properties
    assert [link.target for link in note.links] == []


@pytest.mark.parametrize(
    "text",
    [
        "Invoice #4711 of C# and #include <vector>", "see [[this]] and [that](there)", "100 %% of it",
        "std::vector<int>",
        "<b>not bold</b>", "key:: value", "# not a heading", "```not code```", "| a | b |", "> said he", "a ^b1",
        "<!-- seen -->", "---", "===",
    ],
)  # fmt: skip
def test_no_word_is_lost(text: str) -> None:
    """What looks like markup in a file is shown, word by word."""
    shown = rendered(f"before\n\n{plain(text)}\n\nafter\n").text
    assert words(shown) == ["before", *words(text), "after"]


def test_a_file_becomes_a_note() -> None:
    """Title and properties are those of the file; each section is a heading."""
    made = markdown(
        SourceText(
            [Section("Page 1", "First."), Section("Page 2", "")],
            "A: title\nof two lines",
            {"author": "Ann: B", "tags": ["x"]},
        )
    )
    note = parse_note(PATH, made.encode())
    assert note.title == "A: title of two lines"
    assert note.properties["author"] == "Ann: B"
    assert note.tags == ("x",)
    assert [heading.text for heading in note.headings] == ["Page 1", "Page 2"]


def test_a_file_without_title_has_its_whole_name() -> None:
    """``a.pdf`` is no other name for the note ``a.md``."""
    assert parse_note(PATH, markdown(SourceText([Section("", "text")])).encode()).title == "a.pdf"


def test_what_is_too_long_is_cut() -> None:
    """The text of a file ends at a bound."""
    made = markdown(SourceText([Section(f"Page {number}", "x" * 1_000_000) for number in range(10)]))
    assert MAX_CHARS <= len(made) < MAX_CHARS + 1000
