"""Documents that are generated must be what the code would generate now, and links must lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs import FILES, GENERATED, PAGES

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    path
    for path in [
        *ROOT.glob("*.md"),
        *ROOT.glob("*/README.md"),
        *ROOT.glob("plugin-bridge/*/README.md"),
        *PAGES,
        *ROOT.glob("vaultrag/*/README.md"),
        ROOT / "tests/quality/README.md",
    ]
    if "sample-vault" not in path.parts
]


@pytest.mark.timeout(180)  # the page of the commands runs each of them
@pytest.mark.parametrize("path", list(PAGES), ids=lambda path: path.name)
def test_reference_pages_are_fresh(path: Path) -> None:
    """A reference page says what the code says; `make docs` writes it anew."""
    assert path.read_text("utf-8") == GENERATED + PAGES[path](), f"{path.name} is stale: make docs"


@pytest.mark.parametrize("path", list(FILES), ids=lambda path: path.name)
def test_generated_files_are_fresh(path: Path) -> None:
    """What clients in other languages are built from is what the method table says; `make docs` writes it anew."""
    assert path.read_text("utf-8") == FILES[path](), f"{path.name} is stale: make docs"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """A relative link in a document leads to a file that exists."""
    text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


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
