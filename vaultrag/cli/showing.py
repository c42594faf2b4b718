"""Opening the search screen. ``vaultrag`` alone does so without the parser of commands: it is to be there at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from vaultrag.cli.output import write
from vaultrag.cli.render.lines import LineFormat
from vaultrag.config import Places, load
from vaultrag.model import Mode


def show(
    query: str = "",
    *,
    vault: str = "",
    mode: Mode = "hybrid",
    printing: bool = False,
    form: LineFormat = "paths",
    start: bool = True,
) -> int:
    """Open the search screen, print what was chosen on it, and return the exit code."""
    places = Places.find()
    settings = load(places.config_file).tui
    from vaultrag.tui.errand import Errand  # brings in Textual: nothing that other commands need
    from vaultrag.tui.run import run

    printing = printing or not sys.stdout.isatty()
    left = run(Errand(places, settings, Path.cwd().resolve(), query, mode, vault, printing, form, start))
    write("".join(f"{line}\n" for line in left.lines))
    return left.code


def possible() -> bool:
    """Whether ``vaultrag`` alone may open it: a person at a terminal that can place its cursor."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    at_terminal = all(stream is not None and stream.isatty() for stream in streams)
    return at_terminal and os.environ.get("TERM", "") not in ("", "dumb", "unknown")
