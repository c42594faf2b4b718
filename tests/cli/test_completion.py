"""Tab: commands, options and their values are completed, by each shell's own machinery."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.daemons import REPOSITORY
from tests.tui.terminals import MISSING, quoted, terminal
from tests.tui.test_recipes import commands

pytestmark = pytest.mark.timeout(180)

CASES = [
    ("vaultrag rela", "related"),
    ("vaultrag search --unkn", ""),
    ("vaultrag search --lim", "--limit"),
    ("vaultrag search --format vim", "vimgrep"),
    ("vaultrag config pa", "path"),
]


def lacking(program: str) -> str:
    return "" if shutil.which(program) else f"{program} is not installed"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A bare one, with ``vaultrag`` on its path."""
    path = f"{commands(tmp_path / 'bin')}:/usr/local/bin:/usr/bin:/bin"
    home = {"HOME": str(tmp_path), "VAULTRAG_HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "c")}
    return {**home, "PATH": path, "PYTHONPATH": str(REPOSITORY), "LC_ALL": "C.UTF-8", "TERM": "xterm"}


def shell(environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(bool(lacking("bash")), reason=lacking("bash") or "bash is there")
def test_bash(environment: dict[str, str]) -> None:
    """In bash the function that is installed fills the list of completions."""
    calls = "".join(
        f"COMP_WORDS=({line}); COMP_CWORD={len(line.split()) - 1}; COMPREPLY=();"
        f' _vaultrag_completion vaultrag; echo "${{COMPREPLY[*]}}"\n'
        for line, _ in CASES
    )
    script = f'eval "$(_VAULTRAG_COMPLETE=source_bash vaultrag)"\ncomplete -p vaultrag >/dev/null\n{calls}'
    assert shell(environment, "bash", "--norc", "-c", script).splitlines() == [wanted for _, wanted in CASES]


@pytest.mark.skipif(bool(lacking("fish")), reason=lacking("fish") or "fish is there")
def test_fish(environment: dict[str, str]) -> None:
    """In fish each completion has its sentence beside it."""
    for line, wanted in CASES:
        script = f"_VAULTRAG_COMPLETE=source_fish vaultrag | source; complete -C '{line}'"
        found = [one.split("\t")[0] for one in shell(environment, "fish", "-N", "-c", script).splitlines()]
        assert found == ([wanted] if wanted else [])
    script = "_VAULTRAG_COMPLETE=source_fish vaultrag | source; complete -C 'vaultrag rela'"
    assert "notes that are near a note in" in shell(environment, "fish", "-N", "-c", script)


@pytest.mark.skipif(bool(MISSING or lacking("zsh")), reason=MISSING or lacking("zsh") or "zsh is there")
def test_zsh(environment: dict[str, str], tmp_path: Path) -> None:
    """In zsh, on a terminal, Tab completes what was begun."""
    script = tmp_path / "_vaultrag"
    script.write_text(shell({**environment, "_VAULTRAG_COMPLETE": "source_zsh"}, "vaultrag"))
    with terminal(100, 20, environment) as term:
        term.enter("PS1='zsh> ' zsh -f")
        term.shows("zsh>")
        term.enter(f"autoload -U compinit; compinit -D; . {quoted(script)}; clear")
        term.shows("zsh>", gone="compinit")
        for line, wanted in CASES:
            if wanted:
                term.type(line)
                term.press("Tab")
                term.shows(f"zsh> {line.rpartition(' ')[0]} {wanted}")
                term.press("C-u")


def test_the_installer_says_what_it_did(environment: dict[str, str]) -> None:
    """``--install-completion`` names the shell and the file; nothing else of the home folder is touched."""
    if lacking("bash"):
        pytest.skip("bash is not installed")
    told = shell(environment, "bash", "--norc", "-c", "vaultrag --install-completion bash; true")
    assert "bash completion installed" in told
    assert (Path(environment["HOME"]) / ".bash_completions/vaultrag.sh").is_file()
