"""Hits as lines for other programs: rules by example and by property, and the command as a process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.commands import NOTES, Command
from vaultrag.client.lines import LineFormat, hit_as_line, link_to
from vaultrag.domain import Hit, NotePath, Place, Span

pytestmark = pytest.mark.timeout(180)

ROOT = Path("/vault")
FORMS: tuple[LineFormat, ...] = ("jsonl", "tsv", "vimgrep", "links")
TEXT = st.text(st.characters(codec="utf-8"), max_size=60)


@given(title=TEXT, path=TEXT.filter(lambda path: "\0" not in path), preview=TEXT)
def test_a_hit_is_one_line(title: str, path: str, preview: str) -> None:
    """No title and no passage breaks a line or adds a column."""
    span = Span(0, min(1, len(preview)))
    hit = Hit(NotePath(path), title, 1.0, 3, 4, preview, (span,))
    for form in ("jsonl", "tsv", "vimgrep"):
        line = hit_as_line(hit, form, ROOT)
        assert "\n" not in line
        assert "\x1b" not in line
    assert hit_as_line(hit, "tsv", ROOT).count("\t") == 4


def test_the_place_of_a_match_is_exact() -> None:
    """vimgrep names the line that matches and the byte in it, wherever the preview begins."""
    text = "\n\n  Ein Öl für\ndie Pumpe.\nMore.\n"
    hit = Hit(NotePath("a.md"), "A", 1.0, 7, 9, "für\ndie Pumpe.", (Span(8, 13),), places=(Place(10, 4, 9),))
    assert hit_as_line(hit, "vimgrep", ROOT, text) == "/vault/a.md:10:5:die Pumpe."
    first = replace(hit, spans=(Span(0, 3),), places=(Place(9, 9, 12),))
    assert hit_as_line(first, "vimgrep", ROOT, text) == "/vault/a.md:9:11:für"
    assert hit_as_line(first, "vimgrep", ROOT) == "/vault/a.md:9:10:für"
    assert hit_as_line(replace(hit, spans=(), places=()), "vimgrep", ROOT).startswith("/vault/a.md:7:1:")
    assert hit_as_line(Hit(NotePath("a.md"), "A", 1.0), "vimgrep", ROOT) == "/vault/a.md:1:1:"


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("Note.md", "[[Note]]"),
        ("Folder/Note.md", "[[Folder/Note|Note]]"),
        ("Folder/C# [old].md", "[C# \\[old\\]](Folder/C%23%20%5Bold%5D.md)"),
        ("水/道.md", "[[水/道|道]]"),
    ],
)
def test_links_work_from_everywhere(path: str, link: str) -> None:
    """A link has the whole path, and a name that wikilinks cannot hold gets a Markdown link."""
    assert link_to(path) == link


def test_the_command_prints_each_form(served: Command) -> None:
    """The columns stay what they are, files exist, and an empty answer is empty and ends with 1."""
    root = Path(served.json("vaults")[0]["root"])
    (line,) = served.run("search", "tomatoes", "-n", "1", "--format", "tsv", code=0).stdout.splitlines()
    file, number, score, title, passage = line.split("\t")
    assert (file, number, title) == (str(root / "Garden/Tomatoes.md"), "1", "Tomatoes")
    assert float(score) > 0
    assert "Water them in the morning." in passage
    (line,) = served.run("search", "impeller", "-n", "1", "--format", "vimgrep", code=0).stdout.splitlines()
    file, number, column, text = line.split(":", 3)
    written = NOTES["Pumps/Seal replacement.md"].splitlines()[int(number) - 1]
    assert (file, text) == (str(root / "Pumps/Seal replacement.md"), written.replace("[[", "").replace("]]", ""))
    assert written.encode()[int(column) - 1 :].startswith(b"impeller")
    links = served.run("search", "tomatoes", "-n", "1", "--format", "links", code=0).stdout
    assert links == "[[Garden/Tomatoes|Tomatoes]]\n"
    for form in FORMS:
        assert served.run("search", "zyzzyva", "--format", form, code=1).stdout == ""
