"""Properties in a note's text."""

from __future__ import annotations

import time

import pytest

from vaultrag.domain import Note, NotePath
from vaultrag.markdown import parse_note


def parse(text: str) -> Note:
    return parse_note(NotePath("A note.md"), text.encode())


@pytest.mark.parametrize(
    ("body", "properties"),
    [
        ("due:: 2026-3-14\n", {"due": "2026-03-14"}),
        ("text\n- **Due date**:: soon\n", {"Due date": "soon"}),
        ("- [ ] call (due:: today) and [who:: [[Jane Roe|Jane]]]\n", {"due": "today", "who": "[[Jane Roe|Jane]]"}),
        ("> rating:: 5\n1. cost:: 7 EUR\n", {"rating": "5", "cost": "7 EUR"}),
        ("[a::b] [c:: d [1] e]", {"a": "b", "c": "d [1] e"}),
        ("with:: [[A b]], [[C d]]\n", {"with": ("[[A b]]", "[[C d]]")}),
        ("of::[[A]]\n", {"of": "[[A]]"}),
        ("cmd:: `rm -rf` it\n", {"cmd": "rm -rf it"}),
        ("a:: 1\nA:: 2\na:: 1\n", {"a": ("1", "2")}),
        ("größe:: groß\n", {"größe": "groß"}),
        ("empty::\n", {"empty": ""}),
        ("  id:: 8f14e45f-ceea-467f-a0e6-b8d8a9d3c1f0\n  collapsed:: true\n  id:: mine\n", {"id": "mine"}),
        ("always:: true\nwhen:: x\nalways-on:: y\n", {}),
        ("std::vector a; (std::move) Foo::bar\nmap :: a -> b\n", {}),
        ("```\na:: b\n```\n%% c:: d %% `e:: f`\n", {}),
        ("He said: this:: that, and the others left:: at once, all of them in one long line:: so\n", {}),
    ],
)  # fmt: skip
def test_fields(body: str, properties: dict[str, str | tuple[str, ...]]) -> None:
    """Fields of Dataview and Logseq are properties; code, comments and what Logseq keeps for itself are not."""
    note = parse(body)
    assert note.properties == properties
    assert note.body == body


def test_fields_join_the_header() -> None:
    """A field of a name that the header has adds to it; the header's title stays."""
    note = parse("---\ntitle: T\nStatus: open\nwho: [a]\n---\ntitle:: U\nstatus:: done\nwho:: b\n")
    assert note.properties == {"title": "T", "Status": ("open", "done"), "who": ("a", "b")}
    assert note.title == "T"


def test_a_page_of_logseq() -> None:
    """Title, aliases and tags above all other text are the page's; further down only tags count."""
    note = parse("title:: The hall\nalias:: [[Pump hall]], Halle\ntags:: [[big room]], #pump, x\n\n- words\n")
    assert (note.title, note.aliases, note.tags) == ("The hall", ("Pump hall", "Halle"), ("big room", "pump", "x"))
    note = parse("- a book\n  title:: Dune\n  alias:: Arrakis\n  tags:: sand\n")
    assert (note.title, note.aliases, note.tags) == ("A note", (), ("sand",))


@pytest.mark.parametrize("body", ["private:: true\n", "- a\n  private:: yes\n", "words [private:: true]\n"])
def test_a_field_hides(body: str) -> None:
    """A field ``private`` hides the note like a header's."""
    assert "private" in parse(body).properties


@pytest.mark.parametrize(
    "text",
    ["[a::" * 250_000, "(a:: " * 200_000, "a:: b\n" * 200_000, "a b c d:: " * 100_000, "[a:: [b] " * 100_000,
     "[" * 500_000 + "::", "x " * 500_000 + ":: ", "::" * 500_000, "`a` b:: `c`\n" * 50_000],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_no_fields_take_long(text: str) -> None:
    """No arrangement of colons and brackets takes more than seconds."""
    started = time.perf_counter()
    parse(text)
    assert time.perf_counter() - started < 8
