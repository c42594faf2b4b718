"""A new person's first five minutes, as a transcript: serve a folder, search, open, leave. On a real terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Command, make_home, make_vault
from tests.tui.terminals import MISSING, script, terminal
from tests.tui.test_recipes import commands

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=MISSING or "tmux is there"),
]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    made = Command(make_home(tmp_path))
    yield made
    made.end()


def test_the_first_five_minutes(command: Command, tmp_path: Path) -> None:
    """Installed is all that is assumed: each step's answer says what the next step is."""
    make_vault(tmp_path / "Notes")
    editor = script(tmp_path / "editor", 'echo "EDITING $1 $(basename "$2")"; read end')
    path = f"{commands(tmp_path / 'bin')}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    told = {"VAULTRAG_HOME": str(command.home), "HOME": str(tmp_path), "EDITOR": str(editor), "PATH": path}
    with terminal(100, 40, told) as term:
        term.enter("vaultrag --help | tail -18")
        term.shows("Begin: vaultrag up ~/Notes")
        term.enter("clear; vaultrag search seal")  # too early: it says what is missing
        term.shows("no vault is served", "try: vaultrag up ~/Notes")
        term.enter("clear; vaultrag up ~/Notes")
        term.shows("Notes: 4 notes, searchable by words")
        term.enter("clear; vaultrag search mechanical seal")
        term.shows("1 Seal replacement", "Pumps/Seal replacement.md:", "off before the impeller")
        term.enter("clear; vaultrag serch seal")  # a slip of the finger
        term.shows("Did you mean 'search'")
        term.enter("clear; vaultrag")
        term.shows("Type to search.", "F1 all keys", "Esc leave")
        term.type("tomatoes")
        term.shows("Garden/Tomatoes.md:", "Water them in the morning.")
        term.press("Enter")
        term.shows("EDITING +1 Tomatoes.md")
        term.press("Enter")
        term.shows("❯ tomatoes", gone="EDITING")
        term.press("F1")
        term.shows("Open the note in Obsidian.")
        term.press("Escape")
        term.shows("❯ tomatoes", gone="Open the note in Obsidian.")
        term.press("Escape")
        term.shows("shell>", gone="❯ tomatoes")
        term.enter("clear; vaultrag status")
        term.shows("4 notes", "vaultrag 0.")
        term.enter("clear; vaultrag stop")
        term.shows("vaultrag has stopped")
