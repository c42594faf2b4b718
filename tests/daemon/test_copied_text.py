"""What people type, paste and copy, against the real daemon: names find their note, and text stays text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daemons import RunningDaemon, daemon_home
from vaultrag.errors import NoteNotFound, PathRefused

NOTES = {
    "Kitchen/Plum jam.md": "---\naliases: [Pflaumenmus]\n---\n# Jam\nBoil the plums with sugar.",
    "Daily/2026-03-14.md": "Bought plums.",
    "Old/Shopping.md": "plum jam, plum jam, plum jam",
    "New/Shopping.md": "bread",
}


@pytest.fixture(scope="module")
def daemon() -> Iterator[RunningDaemon]:
    with daemon_home({"embedder": {"provider": "off"}}) as home:
        for path, text in NOTES.items():
            home.write(path, text)
        daemon = home.start()
        daemon.ready()
        yield daemon


@pytest.mark.parametrize(
    "copied",
    [
        "Daily/2026-03-14.md",
        "Daily/2026-03-14",
        "Daily\\2026-03-14.md",
        "2026-03-14",
        "[[2026-03-14]]",
        "![[Daily/2026-03-14#Plums|that day]]",
        "obsidian://open?vault=My%20vault&file=Daily%2F2026-03-14",
        "Daily/2026-03-14.md#L1-L2",
    ],
)
def test_a_copied_name_is_found_and_read(daemon: RunningDaemon, copied: str) -> None:
    """A path, a link, an address and a citation bring their note first, and ``get`` reads it."""
    for limit in (1, 10):
        assert daemon.client.search(copied, limit=limit).hits[0].path == "Daily/2026-03-14.md"
    assert daemon.client.get(copied).path == "Daily/2026-03-14.md"


def test_a_name_is_read_where_it_is_unambiguous(daemon: RunningDaemon) -> None:
    """``get`` takes a title or an alias that one note has; of several it names them all."""
    assert daemon.client.get("Plum jam").path == daemon.client.get("pflaumenmus").path == "Kitchen/Plum jam.md"
    with pytest.raises(NoteNotFound, match=r"2 notes are named Shopping: New/Shopping\.md, Old/Shopping\.md"):
        daemon.client.get("Shopping")
    with pytest.raises(NoteNotFound, match="there is no note Plum"):
        daemon.client.get("Plum")
    with pytest.raises(PathRefused):
        daemon.client.get("/etc/Kitchen/Plum jam.md")


def test_a_name_is_first_where_a_filter_is_met(daemon: RunningDaemon) -> None:
    """A note of the name stands first among those that meet the filter."""
    assert daemon.client.search("Plum jam path:Kitchen").hits[0].path == "Kitchen/Plum jam.md"
    assert daemon.client.search("plum jam").hits[0].path == "Kitchen/Plum jam.md"
