"""What a session has been given is remembered, over restarts, and never a reason to fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.daemons import Raw, daemon_home
from vaultrag.daemon.sessions import SESSIONS, SessionMemory
from vaultrag.daemon.vaults import write_atomically
from vaultrag.domain import NotePath

A, B = NotePath("A.md"), NotePath("B.md")


def memory(path: Path) -> SessionMemory:
    return SessionMemory(path, write_atomically)


def test_each_note_once_in_a_session(tmp_path: Path) -> None:
    """A note is fresh once a session, also for a memory that is opened anew on the same file."""
    one = memory(tmp_path / "sessions.json")
    assert one.take("s", [A]) == {A}
    assert one.take("s", [A, B]) == {B}
    assert one.take("t", [A]) == {A}
    assert memory(tmp_path / "sessions.json").take("s", [A, B]) == set()


def test_old_sessions_are_forgotten(tmp_path: Path) -> None:
    """Only so many sessions are kept; the one that was quiet the longest goes first."""
    one = memory(tmp_path / "sessions.json")
    for number in range(SESSIONS):
        one.take(f"s{number}", [A])
    one.take("s0", [A])
    one.take("new", [A])
    assert one.take("s0", [A]) == set()
    assert one.take("s1", [A]) == {A}


@pytest.mark.parametrize("kept", ["", "[]", '{"s": 1}', "\0", '{"s": [null]}'])
def test_a_damaged_file_costs_the_memory_only(tmp_path: Path, kept: str) -> None:
    """What cannot be read is forgotten, what cannot be written is remembered until the end."""
    (tmp_path / "sessions.json").write_text(kept, "utf-8")
    assert memory(tmp_path / "sessions.json").take("s", [A]) == {A}
    (tmp_path / "file").write_text("in the way", "utf-8")
    nowhere = memory(tmp_path / "file" / "sessions.json")
    assert nowhere.take("s", [A]) == {A}
    assert nowhere.take("s", [A]) == set()


def test_a_restart_in_the_midst_of_a_session_repeats_nothing() -> None:
    """A daemon that was restarted knows what it gave before."""
    with daemon_home() as home:
        home.write("SQL.md", "---\nwhen: '*.sql'\n---\nName the table first.\n")
        for expected in (["SQL.md"], []):
            daemon = home.start()
            daemon.ready()
            with Raw(home.places, reader="agent") as raw:
                notes = raw.call("triggers", {"path": "a.sql", "session": "one"})["result"]["notes"]
            assert [note["path"] for note in notes] == expected
            daemon.stop()
