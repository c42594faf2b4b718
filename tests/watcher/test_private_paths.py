"""Paths that the settings keep from agents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.errors import ConfigError
from vaultrag.watcher.private_paths import private_paths


@pytest.mark.parametrize(
    ("patterns", "path", "hidden"),
    [
        (["Diary/"], "Diary/a.md", True),
        (["Diary/"], "Diary/b/c.md", True),
        (["Diary/"], "diary/a.md", True),
        (["diary/"], "DIARY/a.md", True),
        (["Diary/"], "x/Diary/a.md", True),
        (["/Diary/"], "x/Diary/a.md", False),
        (["Diary"], "Diary.md", False),
        (["Diary"], "Diary/a.md", True),
        (["*.secret.md"], "x/A.Secret.md", True),
        (["*.secret.md"], "secret.md", False),
        (["a/**/z"], "a/b/c/z/n.md", True),
        (["A.md"], "x/a.md", True),
        (["Ärger/"], "A\u0308rger/n.md", True),
        (["stra\u00dfe/"], "STRASSE/n.md", True),
        (["Diary/", "!Diary/Open.md"], "Diary/Open.md", True),
        (["*.md", "!Open.md"], "Open.md", False),
        (["*.md", "!Open.md"], "Shut.md", True),
        (["Diary/"], "Diary/caf\udce9.md", True),
        (["*.secret.md"], "caf\udce9.secret.md", True),
        (["*.secret.md"], "caf\udce9.md", False),
        ([], "Diary/a.md", False),
    ],
)
def test_a_path(patterns: list[str], path: str, hidden: bool) -> None:
    """Patterns are those of .gitignore; letter case and Unicode form never open a way round them."""
    assert private_paths(patterns)(path) is hidden


@pytest.mark.parametrize("pattern", ["", "  ", "# Diary", "!", "/"])
def test_a_pattern_that_names_nothing_is_an_error(pattern: str) -> None:
    """A pattern that hides nothing is told, rather than passed over."""
    with pytest.raises(ConfigError, match=r"privacy\.paths"):
        private_paths(["Diary/", pattern])


@given(st.lists(st.text(max_size=12), max_size=4), st.text(max_size=30))
def test_no_pattern_raises_anything_else(patterns: list[str], path: str) -> None:
    """Whatever the settings hold, it is a list of paths or a ConfigError; whatever path is asked, an answer."""
    try:
        is_private = private_paths(patterns)
    except ConfigError:
        return
    assert isinstance(is_private(path), bool)


@given(st.text(min_size=1, max_size=12).filter(lambda name: name.strip("./") and "/" not in name and "\0" not in name))
def test_what_lies_in_a_private_folder_is_private(name: str) -> None:
    """Every path below a private folder is private, however deep and whatever it is called."""
    is_private = private_paths(["/Diary/"])
    assert is_private(f"Diary/{name}")
    assert is_private(f"diary/{name}/{name}.md")
    assert not is_private(f"Open/Diary/{name}")
