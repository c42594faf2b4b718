"""The recipes of the screen's README, run as they stand there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.daemons import REPOSITORY, Home
from tests.tui.terminals import MISSING, quoted, script, terminal

NO_FZF = MISSING or ("" if shutil.which("fzf") else "fzf is not installed")
NO_VIM = "" if shutil.which("vim") else "vim is not installed"

pytestmark = pytest.mark.timeout(180)


def commands(folder: Path) -> Path:
    """A folder with ``vaultrag`` in it, for a PATH."""
    folder.mkdir(exist_ok=True)
    script(folder / "vaultrag", f'exec {quoted(sys.executable)} -m vaultrag "$@"')
    return folder


@pytest.mark.skipif(bool(NO_FZF), reason=NO_FZF or "fzf is there")
def test_the_fzf_recipe_finds_and_prints(served: Home, tmp_path: Path) -> None:
    """Typing in fzf asks the daemon; title and passage are seen, the note is previewed, the choice is a file."""
    text = (REPOSITORY / "vaultrag/tui/README.md").read_text("utf-8")
    function = re.search(r"^vf\(\) \{.*?^\}", text, re.MULTILINE | re.DOTALL)
    assert function is not None
    recipe = tmp_path / "recipe.sh"
    recipe.write_text(function[0] + "\n")
    path = f"{commands(tmp_path / 'bin')}:/usr/local/bin:/usr/bin:/bin"
    with terminal(120, 24, {"VAULTRAG_HOME": str(served.path), "PATH": path}) as term:
        term.enter(f'. {quoted(recipe)}; file=$(vf); echo "$? <$file>"')
        term.shows("0/0")
        term.type("mechanical seal")
        term.shows("Seal replacement", "The mechanical seal comes off", "Drain the casing first.")
        term.press("Enter")
        term.shows(f"0 <{served.vault}/Pumps/Seal replacement.md>")


@pytest.mark.skipif(bool(NO_VIM), reason=NO_VIM or "vim is there")
def test_vim_takes_the_quickfix_list(served: Home, tmp_path: Path) -> None:
    """Vim opens the note at the line and column that matched."""
    path = f"{commands(tmp_path / 'bin')}:/usr/local/bin:/usr/bin:/bin"
    out = tmp_path / "out"
    subprocess.run(
        ["vim", "-u", "NONE", "-N", "-es", "-c", "cexpr systemlist('vaultrag search --format vimgrep -n 1 mechanical')",
         "-c", f"call writefile([expand('%:p'), line('.') .. ':' .. col('.')], '{out}')", "-c", "qa!"],
        env={"PATH": path, "VAULTRAG_HOME": str(served.path), "TERM": "xterm", "PYTHONPATH": str(REPOSITORY)},
        check=False, timeout=60, stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip
    assert out.read_text().splitlines() == [f"{served.vault}/Pumps/Seal replacement.md", "91:5"]
