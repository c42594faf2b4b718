"""The page of the tests knows their folders and helpers."""

from __future__ import annotations

import re

from tests.meta.test_documents import ROOT


def test_every_folder_and_helper_is_on_the_page() -> None:
    """tests/README.md names each folder of tests and each module of helpers, and none that is gone."""
    page = (ROOT / "tests/README.md").read_text("utf-8")
    below = [path for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"]
    folders = {f"{path.name}/" for path in below if any(inner.is_file() for inner in path.iterdir())}
    modules = {path.name for path in (ROOT / "tests/support").glob("*.py") if path.name != "__init__.py"}
    rows = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`([\w.]+/?)`", rows)) == folders | modules
