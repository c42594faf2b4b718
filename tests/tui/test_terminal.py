"""The search screen on a real terminal: what is typed arrives, the editor opens and gives the screen back."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.support.daemons import Home
from tests.tui.terminals import MISSING, quoted, script, terminal

pytestmark = [pytest.mark.timeout(180), pytest.mark.skipif(bool(MISSING), reason=MISSING or "tmux is there")]

VAULTRAG = f"{quoted(sys.executable)} -m vaultrag"


def environment(home: Home, **more: str) -> dict[str, str]:
    return {"VAULTRAG_HOME": str(home.path), "TMPDIR": str(home.base), **more}


def test_search_open_come_back_and_leave(served: Home, tmp_path: Path) -> None:
    """A query with signs of two columns is typed, the list is seen, the editor gets file and line, and the screen is
    there again as it was; Esc leaves with 0.
    """
    editor = script(tmp_path / "editor", f'printf "%s\\n" "$@" > {quoted(tmp_path / "args")}; echo EDITING; read end')
    with terminal(110, 30, environment(served, EDITOR=str(editor))) as term:
        term.enter(f"{VAULTRAG}; echo left with $?")
        term.shows("Type to search.")
        term.type("ポンプ")
        seen = term.shows("❯ ポンプ", "水道", "日本語/水道.md:3", "▎ 東京都の水道について")
        # Signs of two columns in the list do not push the preview: its border is one straight line.
        assert len({_columns(line.partition("│")[0]) for line in seen.splitlines() if "│" in line}) == 1
        term.press("Enter")
        term.shows("EDITING", gone="❯ ポンプ")
        assert (tmp_path / "args").read_text().splitlines() == ["+3", f"{served.vault}/日本語/水道.md"]
        term.press("Enter")
        term.shows("❯ ポンプ", "▎ 東京都の水道について", gone="EDITING")
        term.press("BSpace", "BSpace", "BSpace")
        term.type("tomatoes")
        term.shows("❯ tomatoes", "🍅", "Garden/Tomatoes.md:1")
        term.press("M-Enter")
        term.shows("copied [[Garden/Tomatoes|Tomatoes]]")
        term.press("Escape")
        term.shows("left with 0", gone="Garden/Tomatoes.md")


def test_the_choice_is_printed_for_a_shell(served: Home) -> None:
    """In ``$(…)`` the screen is drawn on the terminal, as wide as that is, and the choice goes to the shell."""
    with terminal(160, 20, environment(served)) as term:
        term.enter(f'file=$({VAULTRAG} tui mechanical seal); echo "$? <$file>"')
        seen = term.shows("❯ mechanical seal", "Pumps/Seal replacement.md")
        assert seen.splitlines()[0].rstrip().endswith("words+meaning")
        assert len(seen.splitlines()[0].rstrip()) == 160
        term.press("Enter")
        term.shows(f"0 <{served.vault}/Pumps/Seal replacement.md>")
        term.enter(f'file=$({VAULTRAG} tui seal); echo "$? <$file>"')
        term.shows("❯ seal", "Pumps/Seal replacement.md:")
        term.press("Escape")
        term.shows("1 <>")
        term.enter(f'file=$(echo y | {VAULTRAG} tui --format links bearings); echo "$? <$file>"')
        term.shows("❯ bearings", "Pumps/Bearings.md:")
        term.press("M-Enter")
        term.shows("0 <[[Pumps/Bearings|Bearings]]>")
        term.enter(f'file=$({VAULTRAG} tui seal); echo "$? <$file>"')
        term.shows("❯ seal", "Pumps/Seal replacement.md:")
        term.press("C-c")
        term.shows("130 <>")


def test_keys_that_terminals_keep_for_themselves(served: Home) -> None:
    """Ctrl+S does not stop the output, Ctrl+/ and Alt+Up arrive, Ctrl+Z goes to the shell and fg comes back."""
    with terminal(110, 24, environment(served)) as term:
        term.enter("exec bash --norc --noprofile -i")  # dash has no job control worth the name
        term.enter(f"{VAULTRAG}")
        term.shows("Type to search.")
        term.type("seal")
        term.shows("Pumps/Seal replacement.md:", "▎")
        term.press("C-s")
        term.shows("❯ seal", " words\n", gone="words+meaning")
        term.press("C-_")
        term.shows("❯ seal", gone="▎")
        term.press("C-_")
        term.shows("▎")
        term.press("C-l", "C-u")
        term.shows("Type to search.")
        term.press("M-Up")
        term.shows("❯ seal")
        term.press("C-z")
        term.shows("Stopped")
        term.enter("fg")
        term.shows("❯ seal", "Pumps/Seal replacement.md:")
        term.press("Escape")
        term.shows("Stopped", gone="❯ seal")


def test_the_window_is_resized_while_one_types(served: Home) -> None:
    """The screen is drawn for the new size, and nothing of the old one is left over."""
    with terminal(120, 30, environment(served)) as term:
        term.enter(VAULTRAG)
        term.shows("Type to search.")
        for text, size in (("mech", (50, 14)), ("anical", (150, 40)), (" seal", (60, 24))):
            term.type(text)
            term.resize(*size)
        seen = term.shows("❯ mechanical seal", "Seal replacement", "▎ The mechanical seal")
        lines = seen.splitlines()
        assert max(_columns(line) for line in lines) <= 60
        assert sum("mechanical seal" in line and "❯" in line for line in lines) == 1
        assert "│" not in seen  # the preview stands below the list now
        term.press("Escape")


def test_without_colours_nothing_is_coloured(served: Home) -> None:
    """NO_COLOR leaves bold, underline and signs: what matches and what is selected can still be seen."""
    with terminal(100, 20, environment(served, NO_COLOR="1")) as term:
        term.enter(VAULTRAG)
        term.shows("Type to search.")
        term.type("mechanical seal")
        term.shows("▎ The mechanical seal")
        styles = re.findall(r"\x1b\[([\d;]*)m", term.screen(styles=True))
        codes = {int(code) for style in styles for code in style.split(";") if code}
        assert not {code for code in codes if 30 <= code <= 38 or 40 <= code <= 48 or 90 <= code <= 107}, codes
        assert {1, 4} <= codes
        assert "▌" in term.screen()
        term.press("Escape")


def test_a_terminal_that_cannot_draw_gets_help(served: Home) -> None:
    """On a dumb terminal ``vaultrag`` prints its help, and ``vaultrag tui`` says what to type instead."""
    with terminal(100, 50, environment(served)) as term:
        term.enter(f"TERM=dumb {VAULTRAG} | head -4; TERM=dumb {VAULTRAG} tui; echo left with $?")
        term.shows("Usage: vaultrag", "this terminal (TERM=dumb) cannot place its cursor", "try: vaultrag search QUERY")
        term.shows("left with 2")


def _columns(text: str) -> int:
    return cell_len(text)
