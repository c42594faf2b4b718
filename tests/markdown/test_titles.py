"""What a note is called."""

from __future__ import annotations

import pytest

from vaultrag.domain import NotePath
from vaultrag.markdown import file_title, parse_note

HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("path", "title"),
    [
        (f"Export/Pump hall {HEX}.md", "Pump hall"), (f"{HEX}.md", HEX), (f"Pump-{HEX}.md", f"Pump-{HEX}"),
        (f"Pump {HEX[:-1]}.md", f"Pump {HEX[:-1]}"), ("pages/pumps___seals.md", "pumps/seals"), ("___.md", "___"),
        ("New to it%3F.md", "New to it?"), ("100%25 of it.md", "100% of it"), ("50%.md", "50%"), ("%41.md", "%41"),
        ("a.markdown", "a"), ("B.MARKDOWN", "B"), (".markdown", ".markdown"), ("a.md.markdown", "a.md"),
    ],
)  # fmt: skip
def test_names_of_other_programs(path: str, title: str) -> None:
    """Notion's digits go, Logseq's signs are those it means, and both endings of a note are none of its name."""
    assert file_title(NotePath(path)) == title


def title(path: str, body: str) -> str:
    return parse_note(NotePath(path), body.encode()).title


@pytest.mark.parametrize(
    "name",
    [
        "Untitled", "Untitled 3", "untitled-2", "Unbenannt", "Без названия", "未命名 1", f"Untitled {HEX}", HEX,
        "202103141200", "20210314120000", "8f14e45f-ceea-467f-a0e6-b8d8a9d3c1f0", "9e107d9d372bb6826bd81d35",
    ],
)  # fmt: skip
def test_a_name_that_a_program_gave(name: str) -> None:
    """Where the file name says nothing the first heading is the title, wherever it stands."""
    assert title(f"x/{name}.md", "Some words.\n\n## The **pump** hall\n\n# More\n") == "The pump hall"
    assert title(f"x/{name}.md", "---\ntitle: Given\n---\n# The pump hall\n") == "Given"


@pytest.mark.parametrize(
    "name", ["2026-03-14", "20260314", "14.03.2026", "2026_03_14", "2026-W11", "12", "1.2", "1984"]
)
def test_a_number_or_a_day(name: str) -> None:
    """A number or a day gives way to a heading above all text, not to a section."""
    assert title(f"{name}.md", "\n# A visit to Ulm\n\nwords\n## Tasks\n") == "A visit to Ulm"
    for body in ("words\n# Tasks\n", "## Tasks\n", "# Morning\n\n# Evening\n", "# 2026-03-14\n", "# 14\n", "words\n"):
        assert title(f"{name}.md", body) == name


@pytest.mark.parametrize(
    "name",
    ["Pump", "P-102", "2026 plan", "facade", "Untitled ideas", "decade", "a1", "1st", "2026-03-14 Ulm", "°", "-"],
)
def test_a_name_that_says_something(name: str) -> None:
    """Any other file name is the title, whatever the headings are."""
    assert title(f"{name}.md", "# Another\n") == name
