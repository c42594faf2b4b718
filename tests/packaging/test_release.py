"""A release is refused where its parts disagree, and `make version` makes them agree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import vaultrag
from tests.packaging import release, versions
from tests.packaging.building import copy
from tests.support.daemons import REPOSITORY

pytestmark = pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="only a clone knows which files are its own")

NOTES = """# Changelog

## [Unreleased]

## [{version}] - 2026-02-28

### Added

- Something.
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the repository, committed, with a changelog that is ready for a release."""
    root = copy(tmp_path / "tree")
    (root / "CHANGELOG.md").write_text(NOTES.format(version=vaultrag.__version__), "utf-8")
    git(root, "init", "--quiet")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message", "All of it")
    return root


def git(root: Path, *args: str) -> None:
    person = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *person, *args], cwd=root, check=True, capture_output=True)


def test_a_tree_that_is_ready_is_let_through(tree: Path) -> None:
    """Where all agree nothing is said; a tag on this very commit is no fault."""
    assert versions.disagreements(tree) == []
    assert release.changelog(tree) == []
    assert release.committed(tree) == []
    git(tree, "tag", f"v{vaultrag.__version__}")
    assert release.committed(tree) == []


@pytest.mark.parametrize("name", [*versions.PLACES, versions.FITTING])
def test_each_place_counts(tree: Path, name: str) -> None:
    """A version that one file alone says is found, with the file's name."""
    path = tree / name
    text = path.read_text("utf-8")
    first = text.index(vaultrag.__version__)
    path.write_text(f"{text[:first]}9.9.9{text[first + len(vaultrag.__version__) :]}", "utf-8")
    faults = versions.disagreements(tree)
    assert faults
    assert any(name in fault for fault in faults)


def test_a_new_version_is_written_everywhere(tree: Path) -> None:
    """After `make version` every place says it, and which app the plugin needs; the old version stays known."""
    versions.write(tree, "12.0.34")
    assert versions.disagreements(tree) == []
    assert set(sum(versions.said(tree).values(), ())) == {"12.0.34"}
    assert f'"{vaultrag.__version__}": ' in (tree / versions.FITTING).read_text("utf-8")
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=tree, capture_output=True, text=True, check=True)
    assert {line[3:] for line in changed.stdout.splitlines()} == {*versions.PLACES, versions.FITTING}
    assert release.changelog(tree) == [f"the newest release in CHANGELOG.md is {vaultrag.__version__}, not 12.0.34"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("## [Unreleased]\n", "## [Unreleased]\n\n- Something new.\n", "still has entries under Unreleased"),
        (" - 2026-02-28", "", "no date"),
        (" - 2026-02-28", " - 2026-02-30", "no date"),
        ("- Something.", "", "says nothing of"),
        ("## [Unreleased]\n", "", "does not begin with"),
    ],
)
def test_the_changelog_must_be_ready(tree: Path, before: str, after: str, said: str) -> None:
    """Entries that nobody has moved, a date that is none, an empty section: each is named."""
    path = tree / "CHANGELOG.md"
    path.write_text(path.read_text("utf-8").replace(before, after), "utf-8")
    assert any(said in fault for fault in release.changelog(tree))


def test_what_is_not_committed_is_not_released(tree: Path) -> None:
    """A changed file, and a tag that stands elsewhere, are refused."""
    git(tree, "tag", f"v{vaultrag.__version__}")
    (tree / "README.md").write_text("changed", "utf-8")
    assert any("README.md" in fault for fault in release.committed(tree))
    git(tree, "commit", "--all", "--quiet", "--message", "Later")
    assert any("another commit" in fault for fault in release.committed(tree))
