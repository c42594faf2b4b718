"""Plain headers: read without YAML, and never otherwise than YAML would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.markdown import plain_header
from vaultrag.markdown.frontmatter import _parse_yaml

_VALUES = (
    "x", "two words", "true", "Null", "~", "yes", "2024-1-2", "2024-01-02T3:04", "12:30", "1.10", "007", "a:b", "a: b",
    "http://x.y/z", "a #b", "a#b", "'q'", '"q"', '"[[N]]"', '"a: b # c"', '" sp "', '""', '"a\\n"', "[a, b]", "[a,b]",
    "[]", "[a, true, ~]", "[[x]]", "é ü", "日本", "-", "- x", "? x", "!t", "&a x", "*a", "| ", "x ", "x  y", "x, y",
    "x,y", ",x", "x:", "a's", "(x)", "50%", "{a: b}", "x\ty", "\u00a0x", "x\u2028y", "x\x85y", "\ufeffx", "²", "...",
    "---", "a" * 120, "\n  - x", '\n  - x\n  - "y"', "\n  - x\n - y", "\n  - x: y", "\n  -", "\n  x", "",
)  # fmt: skip
_LINES = st.builds(
    lambda key, blank, value, end: f"{key}:{blank if value[:1] not in ('', chr(10)) else ''}{value}{end}",
    st.sampled_from(("a", "tags", "a-b", "A", "true", "null", "2024-1-2", "- a", "é", "a" * 99, "a" * 101)),
    st.sampled_from((" ", " ", " ", "  ", "")),
    st.one_of(st.sampled_from(_VALUES), st.lists(st.sampled_from(_VALUES), max_size=3).map(", ".join), st.text()),
    st.sampled_from(("\n", "\n", "\n", "\n\n", " \n", "")),
)


@given(st.lists(_LINES, max_size=4).map("".join))
def test_never_otherwise_than_yaml(header: str) -> None:
    """What is read without YAML is what YAML reads: the same properties in the same order, and no problem."""
    plain = plain_header.read(header)
    if plain is not None:
        properties, problem = _parse_yaml(header)
        assert (list(plain.items()), "") == (list(properties.items()), problem)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("key: some words", "some words"),
        ("key: 2024-1-2", "2024-01-02"),
        ("key: True", "true"),
        ("key:", ""),
        ('key: "[[Other note]]"', "[[Other note]]"),
        ("key: [pump, null, pump/seal]", ("pump", "pump/seal")),
        ('key:\n  - one\n  - "two: three"', ("one", "two: three")),
    ],
)
def test_what_is_plain(line: str, value: str | tuple[str, ...]) -> None:
    """These are read without YAML, anywhere in a header."""
    assert plain_header.read(f"{line}\n") == plain_header.read(line) == {"key": value}
    assert plain_header.read(f"a: b\n{line}\nz: b\n") == {"a": "b", "z": "b", "key": value}


@pytest.mark.parametrize(
    "line",
    ["key: 'x'", "key: a: b", "key: a #b", "key: &a x", "key: |", "key: [[x]]", "key: b\nkey: c", "# x", "key: \\"],
)
def test_what_is_not(line: str) -> None:
    """One line that may mean more than it says leaves the whole header to YAML."""
    assert plain_header.read(f"a: b\n{line}\n") is None
