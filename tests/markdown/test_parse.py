"""Bytes into a note."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.markdown.test_cleaning import MARKDOWN
from vaultrag.domain import Heading, Link, Note, NotePath, NoteText
from vaultrag.markdown import file_title, looks_binary, parse_note

PATH = NotePath("Folder/A note.md")


def parse(data: bytes) -> Note:
    return parse_note(PATH, data)


def test_a_whole_note() -> None:
    """Everything a note says is found, and the lines are the file's."""
    data = (
        b"---\ntitle: P-102 overhaul\naliases: [P 102]\ntags: [pump]\ncreated: 2025-03-14\n---\n"
        b"# Why\n\nThe **seal** of [[P-102|the pump]] leaks. #leak\n"
    )
    assert parse(data) == Note(
        path=PATH,
        title="P-102 overhaul",
        body="# Why\n\nThe **seal** of [[P-102|the pump]] leaks. #leak\n",
        body_line=7,
        text=NoteText("P-102 overhaul", "# Why\n\nThe seal of the pump leaks. #leak\n"),
        aliases=("P 102",),
        tags=("pump", "leak"),
        headings=(Heading(1, "Why", 7),),
        links=(Link("P-102", 9, alias="the pump"),),
        properties={"title": "P-102 overhaul", "aliases": ("P 102",), "tags": ("pump",), "created": "2025-03-14"},
    )


@pytest.mark.parametrize(
    ("header", "title"),
    [
        ("title: 2024", "2024"),
        ("title: ''", "A note"),
        ("title:", "A note"),
        ("title: [a, b]", "A note"),
        ("title: |\n  two\n  lines", "two lines"),
        ("title: cafe\u0301", "café"),
        ("Title: other", "other"),
        ("TITLE: other", "other"),
        ("title: {{title}}", "A note"),
        ("title: good: words", "good: words"),
        ("title: <% tp.file.title %>", "A note"),
    ],
)
def test_title(header: str, title: str) -> None:
    """The title is the header's where that is one text, else the file's name."""
    note = parse(f"---\n{header}\n---\nbody".encode())
    assert (note.title, note.text.title) == (title, title)


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("a/b.md", "b"), ("v1.2 plan.md", "v1.2 plan"), ("UP.MD", "UP"), (".md", ".md"), ("°.md", "°"), ("{.md", "{"),
        ("----=-.md", "----=-"), ("cafe\u0301.md", "café"), ("🚰.md", "🚰"), ("a.md.md", "a.md"),
    ],
)  # fmt: skip
def test_file_title(path: str, title: str) -> None:
    """A file's name without .md, composed, whatever it is made of."""
    assert file_title(NotePath(path)) == title


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(encoding: str, line_end: str) -> None:
    """A byte-order mark, UTF-16 and any line end give the same note."""
    text = "---\ntitle: Überlauf\n---\n\n# Höhe\n".replace("\n", line_end)
    note = parse(text.encode(encoding))
    assert (note.title, note.body, note.headings) == ("Überlauf", "\n# Höhe\n", (Heading(1, "Höhe", 5),))
    assert note.problems == ()


def test_invalid_bytes_are_replaced_and_reported() -> None:
    """Bytes that are not UTF-8 cost themselves only, and the problem says where."""
    note = parse(b"good \xff text [[a]]\xed\xa0\x80")
    assert note.body == "good \ufffd text [[a]]\ufffd\ufffd\ufffd"
    assert note.links == (Link("a", 1),)
    assert note.problems == ("not valid UTF-8 at byte 5; what could not be read is shown as \ufffd",)


def test_stray_nul_bytes_are_text() -> None:
    """A few NUL bytes are shown as replaced, and reported."""
    note = parse(b"a\0b")
    assert note.body == "a\ufffdb"
    assert len(note.problems) == 1


def test_nul_bytes_at_the_end_are_left_out() -> None:
    """A note that a file system has filled up with NULs loses those, and says so."""
    note = parse(b"text\n" + b"\0" * 4091)
    assert note.body == "text\n"
    assert note.problems == ("4091 NUL characters at the end, left out",)


@pytest.mark.parametrize("data", [bytes(range(256)) * 40, b"\0" * 5000, b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" * 9])
def test_binary_data_has_no_body(data: bytes) -> None:
    """A binary file is recognised, has no body, and says so."""
    assert looks_binary(data)
    note = parse(data)
    assert (note.title, note.body, note.problems) == ("A note", "", ("binary data, not text",))


@pytest.mark.parametrize(
    "data", [b"", b"text", "Ünï".encode("utf-16"), b"a\0b", "水".encode() * 100, b"note\n" + b"\0" * 4000]
)
def test_text_is_not_binary(data: bytes) -> None:
    """Text in any encoding we read is no binary file."""
    assert not looks_binary(data)


def test_a_bad_header_costs_nothing_but_itself() -> None:
    """The body of a note with a bad header is read as ever, from its right line on."""
    note = parse(b'---\npath: "C:\\Users"\n---\n# Body\n[[a]]')
    assert note.properties == {"path": "C:\\Users"}
    assert note.headings == (Heading(1, "Body", 4),)
    assert note.links == (Link("a", 5),)
    assert "line 2" in note.problems[0]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"---\n---\n", b"\xef\xbb\xbf", b"%% only a comment %%"])
def test_empty_notes_have_a_title(data: bytes) -> None:
    """A note without text is a note: its title is what can be found."""
    note = parse(data)
    assert note.text.title == "A note"
    assert note.text.text.strip() == ""


def test_only_line_feeds_end_lines() -> None:
    """Form feeds and Unicode's line separators do not count as lines."""
    assert parse("a\x0bb\x0cc\x1cd\u2028e\x85f\n# H\n".encode()).headings == (Heading(1, "H", 2),)


def test_drawing() -> None:
    """Of a drawing only the words are read."""
    note = parse(b'---\nexcalidraw-plugin: parsed\n---\n# Text Elements\nPump ^ab\n\n# Drawing\n{"elements": []}\n')
    assert note.text.text == "# Text Elements\nPump \n\n\n\n"


def test_moving_a_note_changes_no_text() -> None:
    """The embedded text does not know the folder."""
    assert parse_note(NotePath("x/a.md"), b"b").text.hash == parse_note(NotePath("y/z/a.md"), b"b").text.hash


def check(note: Note) -> None:
    body_lines = note.body.count("\n") + 1
    last = note.body_line + body_lines - 1
    assert note.text.text.count("\n") + 1 == body_lines
    assert all(1 <= link.line <= last for link in note.links)
    assert all(note.body_line <= heading.line <= last for heading in note.headings)
    assert [heading.line for heading in note.headings] == sorted(heading.line for heading in note.headings)
    note.text.text.encode()
    note.body.encode()


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_a_note(data: bytes) -> None:
    """No bytes raise, and every line is within the file."""
    check(parse(data))


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.just(""), MARKDOWN.map("---\n{}\n---\n".format)), MARKDOWN, st.sampled_from(["utf-8", "utf-16"]))
def test_any_markdown_gives_a_note(header: str, body: str, encoding: str) -> None:
    """However marks are mixed, nothing raises and every line is within the file."""
    check(parse((header + body).encode(encoding)))


HOSTILE = {
    "no spaces": "x" * 10_000_000,
    "brackets": "[" * 1_000_000,
    "wikilinks": "[[a|" * 100_000,
    "links": "[a](" * 100_000,
    "titles": '[a](b "' * 150_000,
    "nested links": "[a]((b)" * 150_000,
    "ticks": "".join("`" * n + " " for n in range(1, 1500)),
    "lone ticks": "`a\n\n" * 150_000,
    "fences": "```\na\n" * 100_000,
    "inline fences": "a ``` " * 100_000,
    "comments": "<!-- " * 100_000,
    "templates": "<% {{ " * 150_000,
    "percent": "%% % " * 150_000,
    "tags": "#a" * 1_000_000,
    "hashes": "# " * 1_000_000,
    "headings": "# a\n" * 100_000,
    "underlines": "a\n---\n" * 100_000,
    "rules": "-" * 1_000_000 + "x",
    "quotes": ">" * 1_000_000,
    "pipes": "| " * 1_000_000,
    "stars": "*" * 1_000_000,
    "carets": " ^a" * 700_000,
    "html": "<b " * 100_000,
    "data": "data:image/png;a=b" * 100_000,
    "base64": "![](data:image/png;base64," + "QUJD" * 1_000_000 + ")",
    "words": ("a1" * 99 + " ") * 20_000,
    "spaces": " " * 3_000_000 + "#",
    "blank heading": "# " + " " * 1_000_000 + "x",
    "marks in heading": "# " + "# " * 150_000 + "x",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_notes_take_linear_time(text: str) -> None:
    """No arrangement of marks makes a note of megabytes take more than seconds."""
    started = time.perf_counter()
    parse(text.encode())
    assert time.perf_counter() - started < 8
