"""Org files as notes."""

from __future__ import annotations

import pytest

from vaultrag.domain import NotePath
from vaultrag.markdown import parse_note
from vaultrag.sources.org import read_org
from vaultrag.sources.source_text import markdown

ORG = """#+TITLE: The garden
#+FILETAGS: :plants:home:
#+AUTHOR: A. Tester
* TODO [#A] Prune the roses :roses:garden:
:PROPERTIES:
:ID: 1234
:END:
Cut above a bud, /slanting/. See [[file:tools.org][the tools]] and [[https://example.org][this page]].
** DONE Sharpen
# a comment
#+begin_src sh
sharpen #knife
#+end_src
- item with =code= and a #hash
"""


def test_an_org_file_becomes_a_note() -> None:
    """Title, tags, headings, to-dos and links are those of the file; what only Org reads is left out."""
    note = parse_note(NotePath("a.org"), markdown(read_org(ORG.encode())).encode())
    assert note.title == "The garden"
    assert set(note.tags) == {"plants", "home", "roses", "garden"}
    assert note.properties["author"] == "A. Tester"
    assert [heading.level for heading in note.headings] == [1, 2]
    assert "Prune the roses" in note.headings[0].text
    assert [link.target for link in note.links] == ["tools.org"]
    text = note.text.text
    assert "sharpen" in text
    assert "this page" in text
    for left_out in ("1234", "a comment", "begin_src", "[#A]"):
        assert left_out not in text, left_out


def test_no_line_is_added_or_taken() -> None:
    """Line ``n`` of the body is line ``n`` of the file."""
    (section,) = read_org(ORG.encode()).sections
    assert len(section.text.split("\n")) == len(ORG.split("\n"))
    assert "Cut above a bud" in section.text.split("\n")[ORG.split("\n").index(":END:") + 1]


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe\x00", b"* ", b"[[", b"#+begin_src", ":PROPERTIES:\n".encode("utf-16")]
)
def test_strange_files_harm_nothing(data: bytes) -> None:
    """Nothing in a file makes its reader raise."""
    read_org(data)
