"""The forms in which people copy a note's name, and what each refers to."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vaultrag.retrieval.note_reference import MAX_CHARS, reference_of


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[[a/b|c]]", "a/b"),
        ("![[b#Heading]]", "b"),
        ("[[b\\|c]]", "b"),
        ("[[b^block]]", "b^block"),
        ("[shown](a/b%20c.md#x)", "a/b c"),
        ("[shown](<a/b c.md>)", "a/b c"),
        ("obsidian://open?vault=My%20vault&file=a%2Fb%20c", "a/b c"),
        ("a/b.md#L3-L7", "a/b"),
        ("a/b#L3", "a/b"),
        ("a/b.md#Some heading", "a/b"),
        ("a/b.md:12:5", "a/b"),
        ("a/b.markdown", "a/b"),
        ("a/b.markdown:12", "a/b"),
        ("a/b.markdown#x", "a/b"),
        ("a\\b.MD", "a/b"),
        ("./a/b.md", "a/b"),
        ("  a.md ", "a"),
    ],
)
def test_copied_forms(text: str, target: str) -> None:
    """A link, an address, a citation and a path lead to the note's path, and are known to be that."""
    assert (reference_of(text).target, reference_of(text).certain) == (target, True)


@pytest.mark.parametrize("text", ["C# notes", "TCP/IP", "Issue #12", "[t](http://x.org/a.md)", "[[", "what?", "a | b"])
def test_plain_names(text: str) -> None:
    """What has none of these forms is a name as it stands."""
    assert (reference_of(text).target, reference_of(text).certain) == (text, False)


@pytest.mark.parametrize(
    "text",
    ["/home/me/vault/a/b.md", "C:\\Users\\me\\vault\\a\\b.md", "file:///vault/a/b.md", "obsidian://vault/V/a/b"],
)
def test_paths_from_outside(text: str) -> None:
    """A path that begins outside the vault is the note that it ends with."""
    assert reference_of(text).is_path("a/b.md")
    assert not reference_of(text).is_path("c/b.md")


def test_ends_of_paths() -> None:
    """Some folders above a note tell it from another of its name; a name alone tells nothing."""
    assert reference_of("B/c.md").ends_path("a/b/c.md")
    assert not reference_of("b/c").ends_path("a/xb/c.md")
    assert not reference_of("c").ends_path("a/b/c.md")
    assert reference_of("A/b/C").is_path("a/b/c.md")


@given(st.text(max_size=60))
@example("obsidian://[")
@example("[[]]")
@example("x" * (MAX_CHARS + 1))
def test_any_text(text: str) -> None:
    """Every text refers to something, if only to itself, and none raises."""
    reference = reference_of(text)
    reference.is_path("a/b.md")
    reference.ends_path("a/b.md")
