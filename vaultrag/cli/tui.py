"""``vaultrag tui``."""

from __future__ import annotations

from typing import Annotated

import typer

from vaultrag.cli.options import VaultOption
from vaultrag.cli.version import show
from vaultrag.client.lines import LineFormat
from vaultrag.domain import Mode


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

    It is drawn on stderr, and a choice is printed on stdout: $EDITOR "$(vaultrag tui)".

    Exit code 0: chosen or left, 1: left where a choice was to be printed, 130: Ctrl+C.
    """
    words = " ".join(query or [])
    code = show(words, vault=vault, mode=mode, printing=printing, form=form, start=not no_start)
    if code:
        raise typer.Exit(code)
