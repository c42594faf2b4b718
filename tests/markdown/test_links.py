"""Links between notes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.markdown.test_cleaning import MARKDOWN as MARKDOWN_TEXT
from vaultrag.domain import Link, LinkKind, NotePath
from vaultrag.markdown import parse_note
from vaultrag.markdown.links import find_links

EMBED, MARKDOWN = LinkKind.EMBED, LinkKind.MARKDOWN


@pytest.mark.parametrize(
    ("written", "link"),
    [
        ("[[a]]", Link("a", 1)),
        ("[[folder/a note.md]]", Link("folder/a note.md", 1)),
        ("[[a|shown]]", Link("a", 1, alias="shown")),
        ("| [[a\\|shown]] |", Link("a", 1, alias="shown")),
        ("[[a#Part#Sub]]", Link("a", 1, heading="Part#Sub")),
        ("[[#Part]]", Link("", 1, heading="Part")),
        ("[[a#^id1|x]]", Link("a", 1, alias="x", block="id1")),
        ("![[x.png|300]]", Link("x.png", 1, EMBED, alias="300")),
        ("[t](my%20note.md#Part%20two)", Link("my note.md", 1, MARKDOWN, "t", "Part two")),
        ("[t](<my note.md>)", Link("my note.md", 1, MARKDOWN, "t")),
        ('[t](a_(b).md "title")', Link("a_(b).md", 1, MARKDOWN, "t")),
        ("[t](#^id)", Link("", 1, MARKDOWN, "t", block="id")),
        ("![t](x.png)", Link("x.png", 1, EMBED, "t")),
        ("[[林雨晴|她]]", Link("林雨晴", 1, alias="她")),
        ("[t](%ff.md)", Link("\ufffd.md", 1, MARKDOWN, "t")),
    ],
)
def test_one_link(written: str, link: Link) -> None:
    """Target, alias, heading and block are told apart in every way of writing."""
    assert find_links(f"see {written}.", 1) == [link]


@pytest.mark.parametrize(
    "text",
    [
        "[t](https://x.org/a.md)", "[t](mailto:a@b.c)", "[t](obsidian://open?x)", "[t](//host/a)",
        "[t](data:image/png,x)", "[[]]", "[[ ]]", "[t]()", "[t]", "[t] (a.md)", "[[a\nb]]", "[[a] ]", "text",
    ],
)  # fmt: skip
def test_no_link(text: str) -> None:
    """Links that lead out of the vault, and what only looks like one, are no links."""
    assert find_links(text, 1) == []


def test_lines_are_file_lines() -> None:
    """A link's line counts the file's lines, header and blank ones too."""
    data = b'---\nup: "[[Header]]"\n---\n\n[[a]]\r\n\r\ntext [[b]] [[c]]\x0c[[d]]\n'
    links = parse_note(NotePath("x.md"), data).links
    assert [(link.target, link.line) for link in links] == [("Header", 2), ("a", 5), ("b", 7), ("c", 7), ("d", 7)]


def test_code_and_comments_hold_no_links() -> None:
    """Fences, code spans and comments are passed over; what follows them is not."""
    body = "`[[a]]` ``[[b]] ` ``\n```\n[[c]]\n```\n%% [[d]]\n[[e]] %%\n<!-- [[f]] -->\n~~~js\n[[g]]\n~~~\n[[yes]]\n"
    assert [(link.target, link.line) for link in parse_note(NotePath("x.md"), body.encode()).links] == [("yes", 11)]


def test_fence_in_list_and_quote() -> None:
    """A fence may stand in a list item or a quote."""
    body = "- ```js\n  [[a]]\n  ```\n> ```\n> [[b]]\n> ```\n> [[yes]]\n"
    assert [link.target for link in parse_note(NotePath("x.md"), body.encode()).links] == ["yes"]


def test_unclosed_marks_hide_nothing() -> None:
    """A stray backtick, %% or <!-- is text and hides no link."""
    body = "100 %% ` and <!-- <% \\` [[a]] `\n\n[[b]]"
    assert [link.target for link in parse_note(NotePath("x.md"), body.encode()).links] == ["a", "b"]


NAME = st.text(
    st.characters(exclude_characters="[]|#^\\`%<>\n\r\0", exclude_categories=("Cs", "Cc", "Zl", "Zp")),
    min_size=1,
    max_size=12,
).filter(lambda name: name == name.strip() and name)
LINE = st.text(alphabet="abc .,é水 ", max_size=20)


@given(LINE, NAME, st.none() | NAME, st.none() | NAME, LINE, st.integers(0, 5), st.booleans())
def test_any_wikilink_is_found(
    before: str, target: str, heading: str | None, alias: str | None, after: str, line: int, embed: bool
) -> None:
    """A link of any names, anywhere in a line, is found on its line with all its parts."""
    written = f"{'!' * embed}[[{target}{'#' + heading if heading else ''}{'|' + alias if alias else ''}]]"
    (link,) = find_links("\n" * line + before + written + after, 1)
    kind = EMBED if embed else LinkKind.WIKILINK
    assert link == Link(target, line + 1, kind, alias or "", heading or "")


@given(MARKDOWN_TEXT, st.integers(1, 50))
def test_links_lie_in_the_text(text: str, first_line: int) -> None:
    """Whatever the text: links come in the order of their lines, each of them within the text, and none is empty."""
    links = find_links(text, first_line)
    lines = [link.line for link in links]
    assert lines == sorted(lines)
    assert all(first_line <= line <= first_line + text.count("\n") for line in lines)
    assert all(link.target or link.heading or link.block for link in links)
