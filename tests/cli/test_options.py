"""Reading arguments: lines, citations, queries with dashes, vaults and notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultrag.cli.options import line_range, options_first
from vaultrag.client.resolve import chosen_vault, cited_lines, note_path, unclear
from vaultrag.domain import VaultStatus
from vaultrag.errors import InvalidParams

VALUED = ("--vault", "-n", "--limit", "--mode")
FLAGS = ("--json", "-h", "--help")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (["pump", "-seal"], ["--", "pump", "-seal"]),
        (["-n", "3", "pump", "-notes"], ["-n", "3", "--", "pump", "-notes"]),
        (["pump", "-n3", "--json"], ["-n3", "--json", "--", "pump"]),
        (["--vault", "-odd", "pump"], ["--vault", "-odd", "--", "pump"]),
        (["-tag:#x", "--", "--json", "-n"], ["--", "-tag:#x", "--json", "-n"]),
        (["pump", "--vault"], ["--vault", "--", "pump"]),
        (["--bogus", "pump"], ["--bogus", "--", "pump"]),
        (["pump", "-", "-5"], ["--", "pump", "-", "-5"]),
    ],
)
def test_a_word_with_a_dash_is_part_of_the_query(typed: list[str], read: list[str]) -> None:
    """``-word`` is an exclusion, not a row of options; options are known wherever they stand."""
    assert options_first(typed, VALUED, FLAGS) == read


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("a/b.md", ("a/b.md", 0, 0)),
        ("a/b.md#L3-L9", ("a/b.md", 3, 9)),
        ("a/b.md#L3-9", ("a/b.md", 3, 9)),
        ("a/b.md#L3", ("a/b.md", 3, 3)),
        ("C# notes.md", ("C# notes.md", 0, 0)),
    ],
)
def test_a_citation_names_its_lines(path: str, read: tuple[str, int, int]) -> None:
    """What a search cites can be handed to ``get``."""
    assert cited_lines(path) == read


@pytest.mark.parametrize(
    ("text", "read"), [("", (0, 0)), ("3-9", (3, 9)), ("3", (3, 3)), ("3-", (3, 0)), ("-9", (0, 9))]
)
def test_lines_are_a_range_open_at_either_end(text: str, read: tuple[int, int]) -> None:
    """``--lines`` takes a range, a line, or one end of a range."""
    assert line_range(text) == read


@pytest.mark.parametrize("text", ["x", "9-3", "-", "0", "3-x", "1-2-3"])
def test_what_names_no_lines_is_refused(text: str) -> None:
    """A range that cannot be read is an error with an example."""
    with pytest.raises(InvalidParams) as caught:
        line_range(text)
    assert caught.value.hint


def vault(root: Path, name: str = "") -> VaultStatus:
    return VaultStatus(f"{root.name}-id", name or root.name, str(root), "ready")


def test_a_vault_is_known_by_folder_name_and_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``--vault`` takes what people have at hand, and a link to the folder."""
    first, second = vault(tmp_path / "a"), vault(tmp_path / "b")
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    for name in ("a", "./a", str(tmp_path / "a"), str(tmp_path / "link"), "a-id", f"{tmp_path}/x/../a/"):
        assert chosen_vault([first, second], name, tmp_path) == first
    assert chosen_vault([first, second], "c", tmp_path) is None


def test_without_a_name_the_only_vault_is_meant_or_the_one_around(tmp_path: Path) -> None:
    """Inside a vault that one is meant; with several and none around, nobody guesses."""
    first, second = vault(tmp_path / "a"), vault(tmp_path / "b")
    assert chosen_vault([first], "", tmp_path) == first
    assert chosen_vault([first, second], "", tmp_path / "b" / "sub") == second
    assert chosen_vault([first, second], "", tmp_path) is None
    assert "several" in unclear([first, second]).message
    assert unclear([]).hint == "vaultrag up ~/Notes"


def test_a_note_is_named_by_its_path_in_the_vault_or_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths as shells complete them are understood; what search prints comes first."""
    (tmp_path / "a" / "sub").mkdir(parents=True)
    for name in ("x.md", "sub/x.md", "sub/y.md"):
        (tmp_path / "a" / name).write_text("x")
    known = vault(tmp_path / "a")
    monkeypatch.chdir(tmp_path / "a" / "sub")
    assert note_path("x.md", known, [known]) == ("x.md", "")
    assert note_path("y.md", known, [known]) == ("sub/y.md", "a-id")
    assert note_path(str(tmp_path / "a/sub/x.md"), None, [known]) == ("sub/x.md", "a-id")
    assert note_path("nowhere.md", known, [known]) == ("nowhere.md", "")
    assert note_path("~nobody-at-all/x.md", known, [known]) == ("~nobody-at-all/x.md", "")
