"""Which paths are notes, and in what words the others are refused."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.domain.kinds import ReadKinds
from vaultrag.watcher.filters import VaultFilter, copied_notes, is_filter_file, worth_a_look

PLAIN = VaultFilter.build()
TEXTS = st.lists(st.text(max_size=20), max_size=4)


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "a/b.MD",
        "°.md",
        "----=-.md",
        "{.md",
        "a b/ü.md",
        "日本語/メモ.md",
        "node_modules/readme.md",
        "~.md",
        "a.markdown",
        "B.MARKDOWN",
    ],
)
def test_notes(path: str) -> None:
    """A file whose name ends in .md or .markdown, in any letter case and with any other signs, is a note."""
    assert PLAIN.reason(path) is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (".trash/a.md", "in a hidden folder"),
        (".obsidian/plugins/x/readme.md", "in a hidden folder"),
        ("a/.git/b.md", "in a hidden folder"),
        ("a/.b.md", "a hidden file"),
        (".md", "a hidden file"),
        ("a.md.txt", "not a note: files of its kind are not read"),
        ("md", "not a note: files of its kind are not read"),
        ("~$a.md", "a temporary file"),
        ("a.md~", "a temporary file"),
        ("a.md.tmp", "a temporary file"),
        ("~syncthing~a.md.tmp", "a temporary file"),
    ],
)
def test_silent_reasons(path: str, reason: str) -> None:
    """What never was a note is left out in silence, with a reason for whoever asks."""
    exclusion = PLAIN.exclusion(path)
    assert exclusion is not None
    assert (exclusion.reason, exclusion.told) == (reason, False)


@pytest.mark.parametrize(
    "name",
    [
        "Plan.sync-conflict-20240101-120000-ABCDEFG.md",
        "Plan.sync-conflict-20240101-120000.md",
        "Plan (conflicted copy 2024-01-01 120000).md",
        "Plan (Ann's conflicted copy 2024-01-01).md",
        "Plan (Ann's Conflicted Copy 2024-01-01 (1)).md",
        "Plan (Conflicted copy phone 202401011200).md",
        "Plan (Konfliktkopie von Ann 2024-01-01).md",
        "Plan (SFConflict ann@example.org 2024-01-01-12-00-00).md",
        "Plan (Case Conflict).md",
        "Plan_conflict-20240101-120000.md",
        "Plan-DESKTOP-AB12CD3.md",
        "Plan-LAPTOP-AB12CD3 (2).md",
        "Plan.conflict.md",
        "Plan.conflict-2.md",
        "Plan [conflicted].md",
        "Plan [Conflict copy 2].md",
    ],
)
def test_conflict_copies(name: str) -> None:
    """A sync service's second copy of a note is left out, and told."""
    exclusion = PLAIN.exclusion(f"Projects/{name}")
    assert exclusion is not None
    assert (exclusion.reason, exclusion.told) == ("a sync-conflict copy", True)


@pytest.mark.parametrize(
    "name",
    [
        "How a conflicted copy comes about.md",
        "Conflict (2024).md",
        "My desktop-setup.md",
        "sync-conflict.md",
        "A (1).md",
        "conflict.md",
        "Resolving [conflict] of interests.md",
        "Armed.conflicts.md",
    ],
)
def test_no_conflict_copies(name: str) -> None:
    """A note about conflicts, or with a number in parentheses, stays a note."""
    assert PLAIN.reason(name) is None


def test_a_kind_whose_reader_is_not_installed_is_told() -> None:
    """What would be read, if something were installed, is listed with what that is; other kinds are passed over."""
    kinds = ReadKinds(frozenset(("note", "pdf")), {"word": "attachments"})
    rules = VaultFilter.build(kinds=kinds)
    assert rules.reason("a.md") is rules.reason("a.pdf") is None
    told = rules.exclusion("a.docx")
    assert told is not None
    assert (told.told, told.reason) == (True, "not read: install what reads it, the extra [attachments]")
    silent = rules.exclusion("a.epub")
    assert silent is not None
    assert not silent.told


@pytest.mark.parametrize(
    ("name", "original"),
    [
        ("A/Plan-COMPUTER.md", "A/Plan.md"),
        ("Plan-ANNS-PC.md", "Plan.md"),
        ("Plan-B-OFFICE-PC2.md", "Plan-B.md"),
        ("Plan-WIN-4K2J8S0D1FA.md", "Plan.md"),
        ("Plan-HAL9000.md", "Plan.md"),
        ("Project-README.md", ""),
        ("Report-2024Q1.md", ""),
        ("Setup-desktop.md", ""),
        ("Plan-B.md", ""),
        ("-PC.md", ""),
        ("Plan-ANNS-PC.txt", "Plan.txt"),
        ("Plan-ANNS-PC.zip", ""),
    ],
)
def test_copies_of_another_computer(name: str, original: str) -> None:
    """Only a name that ends in what says that it is a computer, or in this computer's name, may be such a copy."""
    found = copied_notes(name, "hal9000")
    assert original in found if original else not found


def test_ignore_file() -> None:
    """.vaultragignore is read as git reads .gitignore, and the reason names the line and the pattern."""
    rules = VaultFilter.build(vaultragignore_text="# mine\nDrafts/\n*.draft.md\n!keep.draft.md\n/top.md\r\n\n")
    spaced = VaultFilter.build(["", "Kept/"], "\n\n  \nTagged.md\n")
    assert spaced.reason("Tagged.md") == "excluded by .vaultragignore, line 4: Tagged.md"
    assert rules.reason("x/Drafts/a.md") == "excluded by .vaultragignore, line 2: Drafts/"
    assert rules.reason("x/Drafts", is_dir=True) == "excluded by .vaultragignore, line 2: Drafts/"
    assert rules.reason("a.draft.md") == "excluded by .vaultragignore, line 3: *.draft.md"
    assert rules.reason("keep.draft.md") is None
    assert rules.reason("top.md") == "excluded by .vaultragignore, line 5: /top.md"
    assert rules.reason("x/top.md") is None


def test_no_way_back_in() -> None:
    """A file in an excluded folder stays out even where a later pattern takes it back, as in git."""
    rules = VaultFilter.build(vaultragignore_text="Private/\n!Private/a.md\n")
    assert rules.reason("Private/a.md") == "excluded by .vaultragignore, line 1: Private/"


def test_setting_and_file() -> None:
    """The setting's patterns come first, so that the vault's own file can take one back."""
    rules = VaultFilter.build(["*.log.md", "Old/"], "!mine.log.md\n")
    assert rules.reason("a.log.md") == "excluded by the notes.ignore setting: *.log.md"
    assert rules.reason("mine.log.md") is None
    assert rules.reason("Old/a.md") == "excluded by the notes.ignore setting: Old/"


def test_obsidian() -> None:
    """Obsidian's entries are leading parts of the path, or regular expressions tried on files."""
    rules = VaultFilter.build(obsidian_patterns=["Private drafts/", "README.md", r"/^\d{4}\/(?<m>x)/", "/draft$/"])
    why = "one of Obsidian's excluded files (.obsidian/app.json): "
    assert rules.reason("Private drafts", is_dir=True) == why + "Private drafts/"
    assert rules.reason("private Drafts/a.md") == why + "Private drafts/"
    assert rules.reason("Private drafts.md") is None
    assert rules.reason("README.md") == why + "README.md"
    assert rules.reason("docs/README.md") is None
    assert rules.reason("2024/x.md") == why + r"/^\d{4}\/(?<m>x)/"
    assert rules.reason("draft", is_dir=True) is None


def test_composed_and_decomposed() -> None:
    """A pattern typed with composed letters meets a name the file system stores decomposed."""
    rules = VaultFilter.build(vaultragignore_text="Entwürfe/\n", obsidian_patterns=["Büro/"])
    for folder in ("Entwürfe", "Büro"):
        assert rules.reason(unicodedata.normalize("NFD", folder) + "/a.md")


def test_bad_entries() -> None:
    """A pattern or expression that makes no sense is listed as a problem, and the others hold."""
    rules = VaultFilter.build(["!"], "Good/\na\\\n", ["/(/", "/[z-a]/", "", "/", "Also/"])
    assert len(rules.problems) == 4
    assert "notes.ignore" in rules.problems[0]
    assert rules.reason("Good/a.md")
    assert rules.reason("Also/a.md")
    assert rules.reason("other.md") is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [(".vaultragignore", True), (".obsidian/app.json", True), (".obsidian", True), (".obsidian/workspace.json", False),
     ("a/.vaultragignore", False), ("app.json", False)],
)  # fmt: skip
def test_filter_files(path: str, expected: bool) -> None:
    """The files that change what is a note are recognised, at the vault's root only."""
    assert is_filter_file(path) is expected


@pytest.mark.parametrize(
    ("path", "is_dir", "expected"),
    [("a.md", False, True), ("a.zip", False, False), ("a", True, True), (".git", True, False),
     ("a/.x/b.md", False, False)],
)  # fmt: skip
def test_worth_a_look(path: str, is_dir: bool, expected: bool) -> None:
    """Events of hidden places and other files are dropped by their name alone."""
    assert worth_a_look(path, is_dir) is expected


@given(TEXTS, st.text(max_size=60), TEXTS, st.text())
def test_never_raises(patterns: list[str], text: str, obsidian: list[str], path: str) -> None:
    """No pattern and no path raises."""
    rules = VaultFilter.build(patterns, text, [*obsidian, *(f"/{entry}/" for entry in obsidian)])
    rules.reason(path)
    rules.reason(path, is_dir=True)
