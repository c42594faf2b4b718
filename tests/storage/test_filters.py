"""Filters: each condition, its opposite, and all of them together."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from tests.support.stores import add, filtered
from vaultrag.domain import Filters
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_rows import NoteRows


def _ns(text: str) -> int:
    return int(datetime.fromisoformat(text).astimezone().timestamp()) * 1_000_000_000


HEADER = "---\nstatus: Done\nlist: [Eins, Zwei]\nGröße: Groß\n---\n"


@pytest.fixture
def filled(index: NoteIndex) -> NoteIndex:
    notes = {
        "How-to/Pump.md": (HEADER + "#pump/seal [[Valve]]", "2026-01-01T00:00"),
        "How-to/sub/Valve.md": ("#pump #VALVE text", "2026-01-01T23:59"),
        "Ärger/Über.md": ("#pumps only", "2025-12-31T23:59:59"),
        "lone.md": ("no links, no tags [[#here]] [[lone]]", "2026-02-01T12:00"),
        "blank.md": ("---\nstatus: open\n---\n", "2026-02-01T12:00"),
        "2026-03-01.md": ("day #daily [[lone and more]]", "2026-03-01T12:00"),
    }  # fmt: skip
    for path, (text, time) in notes.items():
        add(index, path, text, mtime_ns=_ns(time))
    return index


ALL = {"How-to/Pump.md", "How-to/sub/Valve.md", "Ärger/Über.md", "lone.md", "blank.md", "2026-03-01.md"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tag:#pump", {"How-to/Pump.md", "How-to/sub/Valve.md"}),
        ("tag:PUMP/", {"How-to/Pump.md", "How-to/sub/Valve.md"}),
        ("tag:pump/seal", {"How-to/Pump.md"}),
        ("tag:valve tag:pump", {"How-to/sub/Valve.md"}),
        ("-tag:pump", ALL - {"How-to/Pump.md", "How-to/sub/Valve.md"}),
        ("path:how-to", {"How-to/Pump.md", "How-to/sub/Valve.md"}),
        ("path:/How-to/sub", {"How-to/sub/Valve.md"}),
        ("path:ärger", {"Ärger/Über.md"}),
        ("path:A\u0308rger", {"Ärger/Über.md"}),
        ("-path:how-to -path:ärger", {"lone.md", "blank.md", "2026-03-01.md"}),
        ("file:valve", {"How-to/sub/Valve.md"}),
        ("file:sub", set()),
        ("file:ÜBER", {"Ärger/Über.md"}),
        ("-file:.md", set()),
        ("[status]", {"How-to/Pump.md", "blank.md"}),
        ("[Status:done]", {"How-to/Pump.md"}),
        ("[list:zwei]", {"How-to/Pump.md"}),
        ("[list:drei]", set()),
        ("[größe:GROSS]", {"How-to/Pump.md"}),
        ("[grosse:gross]", {"How-to/Pump.md"}),
        ("-[status:done] [status]", {"blank.md"}),
        ("is:orphan", {"lone.md", "blank.md", "Ärger/Über.md"}),
        ("is:untagged", {"lone.md", "blank.md"}),
        ("is:empty", {"blank.md"}),
        ("is:daily", {"2026-03-01.md"}),
        ("-is:orphan", {"How-to/Pump.md", "How-to/sub/Valve.md", "2026-03-01.md"}),
        ("after:2026-01-01", ALL - {"Ärger/Über.md"}),
        ("before:2026-01-01", {"Ärger/Über.md"}),
        ("-after:2026-01-01", {"Ärger/Über.md"}),
        ("-before:2026-02-01", {"lone.md", "blank.md", "2026-03-01.md"}),
        ("after:2026-01-01 before:2026-01-02", {"How-to/Pump.md", "How-to/sub/Valve.md"}),
        ("after:0001-01-01", ALL),
        ("before:9999-12-31", ALL),
        ("before:0001-01-01", set()),
        ("after:9999-12-31", set()),
        ("tag:pump path:sub -is:orphan after:2020-01-01", {"How-to/sub/Valve.md"}),
        ("tag:%", set()),
        ("path:'\";--", set()),
        ("path:_", set()),
        ("[a'b:\";--]", set()),
    ],
)
def test_filter(filled: NoteIndex, query: str, expected: set[str]) -> None:
    """Each condition lets through the notes that meet it and no others."""
    assert filtered(filled, query) == expected


def test_no_filter(filled: NoteIndex) -> None:
    """Without a condition there is nothing to resolve."""
    assert NoteRows(filled).matching(Filters()) is None


def test_extreme_days(filled: NoteIndex) -> None:
    """The calendar's first and last day are days like any other."""
    assert len(NoteRows(filled).matching(Filters(after=date.min, before=date.max)) or ()) == len(ALL)


def test_deep_folder_named_like_the_file(index: NoteIndex) -> None:
    """A file's name is what follows the last slash, whatever its folders are called."""
    for path in ("a/a/a.md", "a/b.md", "b/a/c.md", "a.md"):
        add(index, path, "x")
    assert filtered(index, "file:a") == {"a/a/a.md", "a.md"}
    assert filtered(index, "file:a.m") == {"a/a/a.md", "a.md"}
    assert filtered(index, "file:b") == {"a/b.md"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("[author:Jane Roe]", {"a.md", "b.md", "d.md"}),
        ("[author:jane roe]", {"a.md", "b.md", "d.md"}),
        ("[AUTHOR:people/jane]", {"b.md"}),
        ("[author:jane]", {"b.md"}),
        ("[author:jose nunez]", {"c.md", "d.md"}),
        ("[author:José Núñez]", {"c.md", "d.md"}),
        ("[author:roe]", set()),
        ("[place:ulm hall]", {"e.md"}),
    ],
)
def test_links_match_by_what_they_show(index: NoteIndex, query: str, expected: set[str]) -> None:
    """A property that is a link is what the link shows, or the note it names; case and accents do not matter."""
    add(index, "a.md", '---\nauthor: "[[Jane Roe]]"\n---\n')
    add(index, "b.md", '---\nauthor: "[[people/jane|Jane Roe]]"\n---\n')
    add(index, "c.md", "author:: [[José Núñez]]\n")
    add(index, "d.md", "---\nauthor: ['[[Jane Roe]]', Jose Nunez]\n---\n")
    add(index, "e.md", "- place:: [Ulm hall](hall.md), [x](y.md)\n")
    assert filtered(index, query) == expected
