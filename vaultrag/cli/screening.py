"""``vaultrag tui``, and what ``vaultrag`` alone does on a terminal: the search screen."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from vaultrag.cli.options import VaultOption
from vaultrag.cli.output import write
from vaultrag.cli.render.lines import LineFormat
from vaultrag.config import Places, load
from vaultrag.model import Mode


def tui(
    query: Annotated[list[str] | None, typer.Argument(metavar="QUERY", help="What to begin with.")] = None,
    vault: VaultOption = "",
    mode: Annotated[Mode, typer.Option("--mode", help="Which ways of finding are used.")] = "hybrid",
    printing: Annotated[
        bool,
        typer.Option("--print", help="Enter prints the choice and leaves; as it is when stdout is no terminal."),
    ] = False,
    form: Annotated[
        LineFormat, typer.Option("--format", help="How a choice is printed; see vaultrag search --help.")
    ] = "paths",
    no_start: Annotated[bool, typer.Option("--no-start", help="Do not start the daemon if it is not running.")] = False,
) -> None:
    """Search as you type, on the whole terminal: F1 shows the keys.

    It is drawn on stderr, and a choice is printed on stdout: $EDITOR "$(vaultrag tui)". Exit code 0: chosen, 1: left
    without a choice, 130: Ctrl+C.
    """
    show(" ".join(query or []), vault=vault, mode=mode, printing=printing, form=form, start=not no_start)


def show(
    query: str = "",
    *,
    vault: str = "",
    mode: Mode = "hybrid",
    printing: bool = False,
    form: LineFormat = "paths",
    start: bool = True,
) -> None:
    """Open the search screen, and print what was chosen on it."""
    places = Places.find()
    settings = load(places.config_file).tui
    from vaultrag.tui.errand import Errand  # brings in Textual: nothing that other commands need
    from vaultrag.tui.run import run

    printing = printing or not sys.stdout.isatty()
    left = run(Errand(places, settings, Path.cwd().resolve(), query, mode, vault, printing, form, start))
    write("".join(f"{line}\n" for line in left.lines))
    if left.code:
        raise typer.Exit(left.code)


def possible() -> bool:
    """Whether ``vaultrag`` alone may open it: a person at a terminal that can place its cursor."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    at_terminal = all(stream is not None and stream.isatty() for stream in streams)
    return at_terminal and os.environ.get("TERM", "") not in ("", "dumb", "unknown")
