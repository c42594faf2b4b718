"""Notes as other programs write them: what they are called, what they say of themselves, and every word is found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daemons import RunningDaemon, daemon_home

HEX = "0123456789abcdef0123456789abcdef"
NOTES: dict[str, str | bytes] = {
    f"Notion/Pump hall {HEX}.md": "# Pump hall\n\nStatus: open\n\nAn antelope.\n",
    "Logseq/pages/pumps___seals.md": "alias:: Gland packing\ntags:: [[big room]]\n\n- A buffalo.\n  id:: 1\n",
    "Logseq/pages/Linker.md": "- see [[pumps/seals]] of the caribou\n",
    "Zettel/202103141200.md": "# Cavitation\n\nA dolphin.\n",
    "Daily/2026-03-14.md": "# A visit to Ulm\n\nAn eland.\n",
    "Dataview/Book.md": "author:: [[people/jane|Jane Roé]]\nAn offer [rating:: 5] of a falcon.\n",
    "Hugo/post.md": '+++\ntitle = "Grease a bearing"\ntags = ["pump"]\n+++\nA gibbon.\n',
    "Broken.md": "---\ntitle: Meeting: the budget\ntags: [#money, #b]\n---\nA hamster.\n",
    "Rule.md": "---\nAn impala between rules.\n\nNote: jackal\n---\nA koala.\n",
    "Sentence.md": "---\nThe lemur says: a marmot is here\n---\nAn ocelot.\n",
    "Long.markdown": "A panther.\n",
    "Old.md": "Über die Straße läuft ein Pfau.\n".encode("cp1252"),
    "Wide.md": "A quokka.\n".encode("utf-16-le"),
}


@pytest.fixture(scope="module")
def daemon() -> Iterator[RunningDaemon]:
    with daemon_home() as home:
        for path, text in NOTES.items():
            home.write(path, text)
        daemon = home.start()
        daemon.ready()
        yield daemon


@pytest.mark.parametrize(
    ("query", "path", "title"),
    [
        ("Pump hall", f"Notion/Pump hall {HEX}.md", "Pump hall"),
        ("pumps/seals", "Logseq/pages/pumps___seals.md", "pumps/seals"),
        ("Gland packing", "Logseq/pages/pumps___seals.md", "pumps/seals"),
        ('tag:"big room"', "Logseq/pages/pumps___seals.md", "pumps/seals"),
        ("Cavitation", "Zettel/202103141200.md", "Cavitation"),
        ("202103141200", "Zettel/202103141200.md", "Cavitation"),
        ("A visit to Ulm", "Daily/2026-03-14.md", "A visit to Ulm"),
        ("is:daily", "Daily/2026-03-14.md", "A visit to Ulm"),
        ("[author:jane roe]", "Dataview/Book.md", "Book"),
        ("[rating:5]", "Dataview/Book.md", "Book"),
        ("tag:pump", "Hugo/post.md", "Grease a bearing"),
        ("tag:money", "Broken.md", "Meeting: the budget"),
        ("impala", "Rule.md", "Rule"),
        ("jackal", "Rule.md", "Rule"),
        ("lemur", "Sentence.md", "Sentence"),
        ("marmot", "Sentence.md", "Sentence"),
        ("panther", "Long.markdown", "Long"),
        ("Straße", "Old.md", "Old"),
        ("quokka", "Wide.md", "Wide"),
    ],
)
def test_each_is_found_by_what_it_says(daemon: RunningDaemon, query: str, path: str, title: str) -> None:
    """Names, aliases, tags, fields and words of each kind of note bring it first, under its own title."""
    hit = daemon.client.search(query).hits[0]
    assert (hit.path, hit.title) == (path, title)


def test_what_is_odd_is_listed(daemon: RunningDaemon) -> None:
    """A broken header and an old encoding are listed with what was made of them; the rest is nothing odd."""
    problems = {str(note.path): note.reason for note in daemon.status(full=True).problem_notes}
    assert problems["Broken.md"].startswith("properties read line by line: ")
    assert problems["Old.md"] == "not UTF-8; read as Windows-1252"
    assert set(problems) == {"Broken.md", "Old.md", "Rule.md"}


def test_a_note_is_read_without_its_ending(daemon: RunningDaemon) -> None:
    """``.markdown`` may be left out as ``.md`` may."""
    assert daemon.client.get("Long").path == "Long.markdown"
