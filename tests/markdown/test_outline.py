"""Headings, tags, aliases."""

from __future__ import annotations

import pytest

from vaultrag.domain import Heading, Note, NotePath
from vaultrag.markdown import parse_note


def note(text: str) -> Note:
    return parse_note(NotePath("x.md"), text.encode())


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# One", (1, "One")),
        ("###### Six ##", (6, "Six")),
        ("## C#", (2, "C#")),
        ("   ## Three spaces", (2, "Three spaces")),
        ("## [[a|b]] and [t](u.md)", (2, "b and t")),
        ("## Use `#define` **now**", (2, "Use #define now")),
        ("# *Soft* ~~old~~ **new**", (1, "*Soft* old new")),
        ("# *Soft*", (1, "Soft")),
        ("# 见 `码` 二", (1, "见 码 二")),
    ],
)
def test_atx_headings(line: str, heading: tuple[int, str]) -> None:
    """A heading has its level and its visible text, code included."""
    assert note(f"`first`\n\n{line}\n").headings == (Heading(*heading, 3),)


@pytest.mark.parametrize(
    "line", ["#tag", "####### seven", "#", "## ", "    x # y", "```\n# code\n```", "%%\n# gone\n%%"]
)
def test_no_headings(line: str) -> None:
    """Tags, empty headings, code and comments are no headings."""
    assert note(f"a\n\n{line}\n").headings == ()


def test_setext_headings() -> None:
    """An underlined paragraph of one line is a heading; under a list, a table or a longer paragraph it is a rule."""
    text = "Top\n===\n\n# Mid\n\nLow\n---\n\n- item\n---\n\n| a |\n---\n\none\ntwo\n---\n\n---\n"
    assert note(text).headings == (Heading(1, "Top", 1), Heading(1, "Mid", 4), Heading(2, "Low", 6))


def test_heading_lines_after_a_header() -> None:
    """Heading lines are file lines."""
    assert note("---\na: 1\n---\n# A\n\n```\n# no\n```\n## B\n").headings == (Heading(1, "A", 4), Heading(2, "B", 9))


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#tag", ("tag",)),
        ("a #one, #two. (#three) #four!", ("one", "two", "three", "four")),
        ("#nested/tag/ #with-dash_2", ("nested/tag", "with-dash_2")),
        ("#y1984 #1984 #1-2", ("y1984", "1-2")),
        ("#标签。#é #Überlauf #🚰 #👩‍🚒", ("标签", "é", "Überlauf", "🚰", "👩‍🚒")),
        ("#Tag #tag #TAG", ("Tag",)),
        ("| #cell |", ("cell",)),
        ("#cafe\u0301", ("café",)),
    ],
)
def test_inline_tags(text: str, tags: tuple[str, ...]) -> None:
    """Tags are words of any script after a #, without the punctuation that follows."""
    assert note(text).tags == (tags if "。#é" not in text else tuple(tag for tag in tags if tag != "é"))


@pytest.mark.parametrize(
    "text",
    [
        "a#b", "# heading", "##x", "`#code`", "```\n#code\n```", "%% #gone %%", "<!-- #gone -->", "[[a#b]]", "[[#b]]",
        "[t](#b)", "https://x.org/#b", "https://x.org/a#b", "#1984", "\\#no", "# ", "#!", "`a`#b",
    ],
)  # fmt: skip
def test_no_inline_tags(text: str) -> None:
    """Code, comments, links, addresses, headings and numbers are no tags."""
    assert note(text).tags == ()


@pytest.mark.parametrize(
    "header",
    ["tags: [a, b/c]", "tags:\n- a\n- '#b/c'", "Tags: a, b/c", "tag: a b/c", 'tags: "#a, #b/c"', "TAGS: ['#a b/c', A]"],
)
def test_header_tags(header: str) -> None:
    """Tags in the header: list or text, with or without #, any letter case."""
    assert note(f"---\n{header}\n---\n").tags == ("a", "b/c")


def test_tags_of_header_and_text_are_one_list() -> None:
    """Header tags come first, and each tag once."""
    assert note("---\ntags: [b, a]\n---\n#A #c\n").tags == ("b", "a", "c")


@pytest.mark.parametrize(
    "header",
    ["aliases: [P 102, Pump]", "alias: P 102, Pump", "Aliases:\n- P 102\n- pump\n- Pump\n-", "ALIAS: ' P  102,Pump,'"],
)
def test_aliases(header: str) -> None:
    """Aliases: list or text with commas, any letter case of the name, each once."""
    assert tuple(alias.lower() for alias in note(f"---\n{header}\n---\n").aliases) == ("p 102", "pump")
