"""Documents that are generated must be what the code would generate now, and links must lead somewhere."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs import FILES, GENERATED, LICENCES, PAGES, licences

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "*/*.md", "vaultrag/*/*.md", "tests/*/*.md", "plugin-bridge/*/*.md")
    for path in ROOT.glob(pattern)
    if "sample-vault" not in path.parts or path.name == "README.md"
)


@pytest.mark.parametrize("path", list(PAGES), ids=lambda path: path.name)
def test_reference_pages_are_fresh(path: Path) -> None:
    """A reference page says what the code says; `make docs` writes it anew."""
    assert path.read_text("utf-8") == GENERATED + PAGES[path](), f"{path.name} is stale: make docs"


def test_licences_are_listed() -> None:
    """Every package that vaultrag brings along here is on the page, with its licence; `make docs` writes it anew."""
    text = LICENCES.read_text("utf-8")
    listed = {
        (name, licence) for name, licence in re.findall(r"^\| ([\w.-]+) \| ([^|]+) \| [^|]+ \|$", text, re.MULTILINE)
    }
    now = {(name, licence) for name, licence, _ in licences.rows_now()}
    assert len(now) > 20
    assert now <= listed, f"{LICENCES.name} is stale: make docs"
    assert text.startswith(GENERATED + licences.HEAD)
    assert text.endswith(licences.WEIGHTS)


@pytest.mark.parametrize("path", list(FILES), ids=lambda path: path.name)
def test_generated_files_are_fresh(path: Path) -> None:
    """What clients in other languages are built from is what the method table says; `make docs` writes it anew."""
    assert path.read_text("utf-8") == FILES[path](), f"{path.name} is stale: make docs"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """A relative link in a document leads to a file that exists, and to a heading that is in it."""
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text("utf-8"))):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        there = path.parent / unquote(file) if file else path
        assert there.exists(), f"{path.name} links to {target}"
        if anchor:
            assert anchor in anchors(there.read_text("utf-8")), f"{path.name} links to {target}"


def without_code(text: str) -> str:
    return re.sub(r"```.*?```|``.*?``|`[^`\n]*`", "", text, flags=re.DOTALL)


def anchors(text: str) -> set[str]:
    """The names by which the headings of a page can be linked to."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", shown.lower()).strip().replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {f"{name}-{number}" if number else name for name, count in found.items() for number in range(count + 1)}


def test_anchors_are_named_as_readers_name_them() -> None:
    """Signs fall away, blanks become hyphens, a name that comes again is counted."""
    text = "# `C++` & [links](x.md)\n## Two words\n## Two words\n```\n# no heading\n```\n"
    assert anchors(text) == {"c--links", "two-words", "two-words-1"}


NAMED = re.compile(r"((?:`test_\w+`(?:, )?)+) in \[[^\]]*\]\(([^)]+)\)")


def test_tests_that_are_named_exist() -> None:
    """Each test that the table of threats names is there, in the file it links to."""
    page = ROOT / "vaultrag/README.md"
    rows = NAMED.findall(page.read_text("utf-8"))
    assert len(rows) >= 20
    for names, target in rows:
        text = (page.parent / target).read_text("utf-8")
        for name in re.findall(r"test_\w+", names):
            assert f"def {name}(" in text, f"{name} is not in {target}"


def test_the_glossary_names_code() -> None:
    """Every name in the glossary is in the module that the glossary says."""
    text = (ROOT / "vaultrag" / "README.md").read_text("utf-8")
    glossary = text.partition("## Glossary")[2].partition("\n## ")[0]
    names = [name for line in glossary.splitlines() for name in re.findall(r"`([\w.]+)`", line.rpartition(" | ")[2])]
    assert len(names) > 20
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(f"vaultrag.{module}"), attribute), name
