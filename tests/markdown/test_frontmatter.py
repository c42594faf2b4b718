"""Headers: where they begin and end, and what becomes of their values."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultrag.markdown import frontmatter
from vaultrag.markdown.frontmatter import MAX_HEADER_CHARS, read, split
from vaultrag.markdown.lenient_header import Properties


def parse(header: str) -> tuple[Properties, str]:
    """What a YAML header says, and what is wrong with it."""
    found = frontmatter.parse(header)
    return found.properties, found.problem


@pytest.mark.parametrize("first", ["--- start-multi-column", "----", "--", " ---", "---x", "﻿---x", "- --"])
def test_only_a_bare_fence_opens(first: str) -> None:
    """A first line that is not exactly three hyphens opens no header."""
    text = f"{first}\ntitle: x\n---\nbody\n"
    assert split(text) == (None, text, 1)


@pytest.mark.parametrize("fence", ["---", "---  ", "---\t"])
def test_split_gives_body_and_its_line(fence: str) -> None:
    """The body begins right after the closing fence, and its file line is known."""
    assert split(f"{fence}\na: 1\nb: 2\n{fence}\nbody\n") == ("a: 1\nb: 2\n", "body\n", 5)


def test_dots_close_too() -> None:
    """YAML's own end mark closes a header."""
    assert split("---\na: 1\n...\nbody") == ("a: 1\n", "body", 4)


def test_unclosed_header_is_text() -> None:
    """A header that is never closed is part of the body."""
    text = "---\ntitle: x\n\nbody\n--- not a fence\n"
    assert split(text) == (None, text, 1)


@pytest.mark.parametrize(("text", "body_line"), [("---\n---\n", 3), ("---\n---", 3), ("---\n\n---\nx", 4)])
def test_empty_header(text: str, body_line: int) -> None:
    """A header may be empty, and the note may end with it."""
    header, _, line = split(text)
    assert header is not None
    assert line == body_line
    assert parse(header) == ({}, "")


def test_conflict_markers_in_the_body_stay_there() -> None:
    """The first closing fence ends the header, whatever the body holds."""
    header, body, _ = split("---\na: 1\n---\n<<<<<<< HEAD\nb: 2\n---\nc\n")
    assert header == "a: 1\n"
    assert body.startswith("<<<<<<< HEAD")


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("2024-03-01", "2024-03-01"),
        ("2024-3-1 9:05", "2024-03-01T09:05"),
        ("2024-03-01 10:00:30", "2024-03-01T10:00:30"),
        ("2024-03-01T10:00:30+02:00", "2024-03-01T10:00:30+02:00"),
        ("2024-02-31", "2024-02-31"),
        ("true", "true"),
        ("False", "false"),
        ("yes", "yes"),
        ("null", ""),
        ("~", ""),
        ("", ""),
        ("1.10", "1.10"),
        ("007", "007"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("9" * 6000, "9" * 6000),
        ("'true'", "true"),
        ('"[[Some note|alias]]"', "[[Some note|alias]]"),
        ("[[Some note|alias]]", "[[Some note|alias]]"),
        ("[[Note#Heading, part two]]", "[[Note#Heading, part two]]"),
        ("!!python/object:os.system x", "x"),
        ("|\n  two\n  lines", "two\nlines"),
    ],
)
def test_scalars_are_text_as_written(written: str, text: str) -> None:
    """A scalar comes out as it was typed; only dates, booleans and null have one spelling."""
    assert parse(f"key: {written}\n") == ({"key": text}, "")


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("[a, b]", ("a", "b")),
        ("[]", ()),
        ("[1, 2.50, true, 2024-01-02]", ("1", "2.50", "true", "2024-01-02")),
        ("\n  - a\n  -\n  - [[b]]", ("a", "[[b]]")),
        ("[[[a]], [[b]]]", ("[[a]]", "[[b]]")),
        ("[[a, b], [c]]", ("a", "b", "c")),
        ("['{{x}}', \"y {{z}}\"]", ("{{x}}", "y {{z}}")),
    ],
)
def test_lists_are_tuples(written: str, values: tuple[str, ...]) -> None:
    """A list of any kind becomes a flat tuple of texts without empty ones."""
    assert parse(f"key: {written}\n") == ({"key": values}, "")


def test_maps_are_flattened() -> None:
    """Maps in maps are named with dots, also through lists and merges."""
    header = "base: &b {x: 1, y: 2}\nauthor: {name: Oda, home: {town: Ulm}}\n"
    header += "steps:\n- id: a\n- id: b\nc:\n  <<: *b\n  y: 3\n"
    assert parse(header)[0] == {
        "base.x": "1", "base.y": "2", "author.name": "Oda", "author.home.town": "Ulm",
        "steps.id": ("a", "b"), "c.x": "1", "c.y": "3",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("header", "line", "properties"),
    [
        ('path: "C:\\Users\\x"\n', "line 2", {"path": "C:\\Users\\x"}),
        ("a: 1\ntitle: *italic* text\n", "line 3", {"a": "1", "title": "*italic* text"}),
        ("title: Meeting: the budget\ntags: [a]\n", "line 2", {"title": "Meeting: the budget", "tags": ("a",)}),
        ("tags: [#a, #b]\nx: y\n", "line", {"tags": ("#a", "#b"), "x": "y"}),
        ("a: [1\nb: 2\n", "line", {"a": "[1", "b": "2"}),
        ("tags:\n\t- a\n\t- b\nc: d\n", "line", {"tags": ("a", "b"), "c": "d"}),
        ("a: b\nauthor:\n\tname: Jo\n", "line", {"a": "b", "author.name": "Jo"}),
        ("link: [[a]], [[b]]\n", "line 2", {"link": ("[[a]]", "[[b]]")}),
        ("title: x\nstatus:done\n", "line", {"title": "x", "status": "done"}),
        ("x: y: z\nby:\n  name: Jo\n  town: Ulm\n", "line", {"x": "y: z", "by.name": "Jo", "by.town": "Ulm"}),
        ("date: {{date}}\nat: {{date:YYYY}} {{time}}\n", "line", {"date": "{{date}}", "at": "{{date:YYYY}} {{time}}"}),
        ("x: y\nlist:\n  - {{date}}\n", "template", {"x": "y", "list": ("{{date}}",)}),
        ("date: {{date}}\nx: y\n", "template", {"date": "{{date}}", "x": "y"}),
        ("x: y: z\nnote: |\n  two\n  lines\n", "line", {"x": "y: z", "note": "two\nlines"}),
        ("x: y: z\nwhen: 2024-3-1\nok: True\n", "line", {"x": "y: z", "when": "2024-03-01", "ok": "true"}),
        ("tags: #a #b\n", "comment", {"tags": "#a #b"}),
        ("tags:\n  - #a\n  - b\n", "comment", {"tags": ("#a", "b")}),
    ],
)  # fmt: skip
def test_a_bad_header_costs_the_line_that_is_bad(header: str, line: str, properties: Properties) -> None:
    """A header that YAML refuses is read line by line, and the problem says where it is."""
    found = frontmatter.parse(header)
    assert (found.properties, found.complete) == (properties, True)
    assert found.problem.startswith("properties read line by line: ")
    assert line in found.problem


@pytest.mark.parametrize("header", ["just text\n", "- a\n- b\n", "\x01: a\n", "a: \ud800\n", "--- leading\n- x\n"])
def test_other_headers_are_problems(header: str) -> None:
    """Text, lists and characters YAML forbids are named as problems."""
    found = frontmatter.parse(header)
    assert found.problem.startswith("properties ")
    assert found.properties or not found.complete


@pytest.mark.parametrize(
    "header",
    [
        "A paragraph between two rules.\n\nAnd another one.\n", "# A heading\n", "- a list\n- of two\n",
        "Note: some words\nand some more\n", "x" * (MAX_HEADER_CHARS + 1), "| a | b |\n| - | - |\n",
        "See [a link](http://x.y): it is good.\n> quoted\n",
    ],
    ids=lambda header: header[:20],
)  # fmt: skip
def test_text_between_rules_is_text(header: str) -> None:
    """A note that begins with a rule loses nothing: what stands before the next rule is its text."""
    text = f"---\n{header}---\nbody\n"
    found, body, line = read(text)
    assert (found.properties, body, line) == ({}, text, 1)


def test_what_belongs_to_no_property_stays_in_the_text() -> None:
    """Of a header with a line that is no property, the properties are read and all words stay."""
    text = "---\na: 1\nstray words here\nb: 2\n---\nbody\n"
    found, body, line = read(text)
    assert (found.properties, body, line) == ({"a": "1", "b": "2"}, text, 1)


@pytest.mark.parametrize(
    ("header", "properties"),
    [
        ('title = "A \\"b\\""\n', {"title": 'A "b"'}),
        ("date = 2024-01-02T03:04:05Z\nday = 2024-01-02\n", {"date": "2024-01-02T03:04:05+00:00", "day": "2024-01-02"}),
        ("draft = false\nn = 1.10\nm = 7\n", {"draft": "false", "n": "1.10", "m": "7"}),
        ('tags = ["a",\n  "b"]\nempty = []\n', {"tags": ("a", "b"), "empty": ()}),
        ('[author]\nname = "Jo"\n[[menu]]\nid = "x"\n', {"author.name": "Jo", "menu.id": ("x",)}),
    ],
)
def test_toml(header: str, properties: Properties) -> None:
    """Between lines of three plus signs the header is TOML; its values are texts like those of YAML."""
    found, body, line = read(f"+++\n{header}+++\nbody\n---\n")
    assert (found.properties, found.problem) == (properties, "")
    assert (body, line) == ("body\n---\n", 3 + header.count("\n"))


def test_toml_is_read_line_by_line_too() -> None:
    """TOML with a slip costs what the slip is in, and the problem names the line."""
    found, body, line = read('+++\ntitle = Pumps: all\ntags = ["a", "b"]\nprivate = true\n+++\nbody')
    assert found.properties == {"title": "Pumps: all", "tags": ("a", "b"), "private": ("true", "true")}
    assert found.problem == "properties read line by line: Invalid value (line 2)"
    assert (body, line) == ("body", 6)


@pytest.mark.parametrize(
    "header",
    ["a" + ".a" * 30_000 + " = 1\n", "a = {a" + ".a" * 30_000 + "=1}\n", "a = " + "[" * 30_000, "a.b=1\n" * 10_000],
)
def test_toml_bombs_are_harmless(header: str) -> None:
    """No header in TOML takes long or raises."""
    assert frontmatter.parse(header, toml=True).problem


BOMBS = {
    "aliases": "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)),
    "merges": "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: *a{n - 1}}}\n" for n in range(1, 60)),
    "self": "a: &a [*a, *a]\nb: &b {<<: *b, c: *b}\n",
    "text": f"a: &a {'x' * 30_000}\n" + "b:\n" + "- *a\n" * 5_000,
    "flow": "a: " + "[" * 60_000,
    "maps": "a: " + "{a: " * 15_000,
    "block": "- " * 30_000,
    "keys": "? " * 30_000,
    "braces": "title: {{title}}\n",
    "many": "".join(f"k{n}: v\n" for n in range(6_000)),
    "long": "a: b\n" * MAX_HEADER_CHARS,
}


@pytest.mark.parametrize("header", BOMBS.values(), ids=BOMBS)
def test_bombs_are_harmless(header: str) -> None:
    """No header takes long, blows up or raises."""
    started = time.perf_counter()
    properties, _ = parse(header)
    assert time.perf_counter() - started < 3
    assert sum(len(name) + sum(map(len, value)) for name, value in properties.items()) < 1_000_000


YAML_LIKE = st.text(alphabet=st.sampled_from("ab: -[]{}#&*!|>'\"%@`,?<~\n\t1é🙂\\"), max_size=80)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=80), YAML_LIKE))
def test_parse_never_raises(header: str) -> None:
    """Whatever the header: texts and tuples of texts come out; where there are none, the header stays in the text."""
    found = frontmatter.parse(header)
    assert found.properties or not found.complete or not header.strip()
    for value in found.properties.values():
        assert isinstance(value, str) or all(isinstance(item, str) for item in value)


KEYS = st.text(alphabet="abcdefghijklmnopqrstuvwxyzäß水-_", min_size=1, max_size=10).map(lambda key: f"k{key}")
VALUES = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="\ufeff\ufffe\uffff"), max_size=20
)


@given(st.dictionaries(KEYS, VALUES | st.lists(VALUES.filter(str.strip), max_size=3), max_size=5), st.text(max_size=30))
def test_what_is_quoted_comes_back(written: dict[str, str | list[str]], rest: str) -> None:
    """Properties of any text, written in quotes, are read as written, and the body after them is untouched."""
    header = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in written.items())
    body = rest.replace("\r", "")
    found, text, line = split(f"---\n{header}---\n{body}")
    assert (found, text, line) == (header, body, 3 + header.count("\n"))
    properties, problem = parse(header)
    assert problem == ""
    expected = {
        key: value.strip() if isinstance(value, str) else tuple(map(str.strip, value)) for key, value in written.items()
    }
    assert properties == expected


@given(st.text(alphabet=st.sampled_from("-. \tab:\n"), max_size=60))
def test_header_and_body_are_all_of_the_file(text: str) -> None:
    """A file is its header, its fences and its body, nothing lost; the body begins at the line that is said."""
    header, body, line = split(text)
    assert text.endswith(body)
    assert text[: len(text) - len(body)].count("\n") == line - 1 or (not body and not text.endswith("\n"))
    if header is None:
        assert (body, line) == (text, 1)
