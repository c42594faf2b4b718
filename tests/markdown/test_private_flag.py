"""What makes a note private: when in doubt, it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.domain import NotePath
from vaultrag.markdown import parse_note
from vaultrag.markdown.private_flag import PrivateRules, says_private, tag_key


def private(text: str) -> bool:
    """Whether a file with this text hides itself."""
    return says_private(parse_note(NotePath("x.md"), text.encode()).properties)


@pytest.mark.parametrize(
    "header",
    [
        "private: true", "private: True", "Private: TRUE", "PRIVATE: yes", "private: on", "private: 1",
        '"private": true',
        "'private': 'true'", "private: [true]", "private:\n  - yes", "private: !!bool true", "private: &x true",
        "private: ja", "private: maybe", "private: 2031-01-01", "private: {agents: true}", "private: |\n  true",
        "private: true # from all", "title: x\nprivate: true\ntags: [a]", "{private: true}", "? private\n: true",
    ],
)  # fmt: skip
def test_a_header_that_hides(header: str) -> None:
    """``private`` hides with any value but a plain no, however it is written."""
    assert private(f"---\n{header}\n---\ntext\n")
    assert private(f"\ufeff---\r\n{header.replace(chr(10), chr(13) + chr(10))}\r\n---\r\ntext\r\n")


@pytest.mark.parametrize(
    "header",
    [
        "private: false", "private: False", "private: no", "private: off", "private: 0", "private:", "private: ''",
        "private: []",
        "private: ~", "private: null", "privately: true", "note: 'private: true'", "tags: [private]", "title: private",
        "x: |\n  private: true",
    ],
)  # fmt: skip
def test_a_header_that_does_not(header: str) -> None:
    """A plain no, no value at all, and the word in any other place hide nothing."""
    assert not private(f"---\n{header}\n---\nprivate: true\n")


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: a: b\nprivate: true\n---\ntext", "---\nprivate: true\n\tx: [\n---\ntext",
        "---\nprivate: yes\n- a\nb: c\n---\n",
        "---\n{private: true, x: [}\n---\n", "---\n  'Private' : true\n x: - :\n---\n", "---\nprivate: true\nno end",
        "---\nprivate: true", "---\ntitle: x\nprivate: on\n\n# Never closed\n",
        "---\nprivate: true\nlong: " + "x" * 70_000 + "\n---\n",
    ],
    ids=lambda text: text[:40],
)  # fmt: skip
def test_a_header_that_cannot_be_read_still_hides(text: str) -> None:
    """Where the header is broken, too long or never closed, what it says of ``private`` counts all the same."""
    assert private(text)


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: a: b\nprivate: false\n---\ntext", "---\ntitle: a: b\n---\nprivate: true\n", "private: true\n",
        "text\n---\nprivate: true\n",
        "---\nA ruled line.\n\nIt is private: true\n", "---\nprivate:false\n---\n",
        "\n---\ntitle: x\n---\nprivate: true\n",
        "\n\nprivate: true\n", "---\ntitle: x\n---\nprivate:true\n", "--- private: true\n",
        "---\nnotprivate: true\nx: [\n---\n",
    ],
)  # fmt: skip
def test_text_that_is_no_header_hides_nothing(text: str) -> None:
    """The words in the text of a note hide nothing, be its header broken or not there."""
    assert not private(text)


@pytest.mark.parametrize(
    "text",
    [
        "---\nprivate:true\n---\ntext", "---\ntitle: x\nprivate:true\n---\ntext", "---\nprivate:true\ntitle: x\n---\n",
        "---\ntitle: a: b\nprivate:yes\n---\ntext", "---\nPrivate:ja\ntags: [a]\n---\n", "---\n'private':true\n---\n",
        "---\nprivate：true\n---\ntext", "---\ntitle: x\n\nprivate: true\n\nno end", "---\nA line.\n\nprivate:true\n",
        "\n---\nprivate: true\n---\ntext", " \n\n---\nprivate:true\n---\ntext",
        "---\nalways: true\nprivate:true\n---\ntext",
    ],
)  # fmt: skip
def test_a_line_that_means_it_hides_and_is_told(text: str) -> None:
    """Without its space, after a blank line, in a header that is none: the note is hidden, and its owner is told."""
    assert private(text)
    assert parse_note(NotePath("x.md"), text.encode()).problems


@given(st.text(alphabet=st.sampled_from("private: true\n-[]{},'\"#&*!|>\t"), max_size=60))
def test_broken_headers_with_the_mark_hide(noise: str) -> None:
    """Whatever else stands in a header, a line ``private: true`` in it hides the note, read or not."""
    lines = [
        line for line in noise.split("\n") if "private" not in line.casefold() and not line.startswith(("---", "..."))
    ]
    header = "\n".join(["private: true", *lines])
    note = parse_note(NotePath("x.md"), f"---\n{header}\n---\ntext\n".encode())
    if note.problems or "private" in note.properties:
        assert says_private(note.properties), note.problems


@pytest.mark.parametrize(
    "text", ["---\n" + "private " * 200_000, "---\n" + "{" * 500_000, "---\n" + "private:\n" * 100_000]
)
def test_no_header_takes_long(text: str) -> None:
    """A header made to be slow is read before the test's time is up."""
    assert not private(text)


@pytest.mark.parametrize(
    ("tags", "hidden"),
    [
        (("health",), True), (("Health",), True), (("health/blood",), True), (("healthy",), False),
        (("my/health",), False), ((), False), (("Ärzte",), True), (("A\u0308rzte/x",), True),
    ],
)  # fmt: skip
def test_tags_hide_what_is_below_them(tags: tuple[str, ...], hidden: bool) -> None:
    """A tag of the settings hides notes with it and with those below it, case and Unicode form aside."""
    rules = PrivateRules(tuple(map(tag_key, ("#Health/", "ärzte"))))
    assert rules.hides("x.md", {}, tags) is hidden
