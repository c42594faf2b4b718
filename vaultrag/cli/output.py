"""Where output goes: results to stdout, remarks to stderr. The only module of the commands that writes.

Drawings are rendered to text first and written in one piece: what is piped into ``head`` then ends quietly, and what
is redirected holds neither colours nor a width that depends on the window.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import msgspec

from vaultrag.wording import safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPE_WIDTH = 80
"""Columns where there is no terminal to ask."""


def write(text: str) -> None:
    """Write text to stdout; to a terminal without what could steer it. What the encoding lacks becomes an escape."""
    _write(safe(text) if sys.stdout.isatty() else text)


def _write(text: str) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text)


def write_json(value: object, *, lines: bool = False) -> None:
    """Write a value as one JSON document, or on one line."""
    text = msgspec.json.encode(value)
    write((text if lines else msgspec.json.format(text, indent=2)).decode() + "\n")


def write_paths(paths: Iterable[Path]) -> None:
    """Write paths byte for byte, each ended by NUL."""
    sys.stdout.flush()
    sys.stdout.buffer.write(b"".join(os.fsencode(path) + b"\0" for path in paths))


def remark(text: str) -> None:
    """Say something about the command itself."""
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")
    print(safe(text), file=sys.stderr, flush=True)


def draw(*things: RenderableType) -> None:
    """Draw on stdout."""
    paper = console(sys.stdout)
    with paper.capture() as drawn:
        for thing in things:
            # A text that is not to be wrapped says so itself, but printing forgets it.
            whole = bool(getattr(thing, "no_wrap", False))
            paper.print(thing, no_wrap=whole, overflow="ignore" if whole else None, crop=not whole)
    _write("\n".join(line.rstrip() for line in drawn.get().split("\n")))


def width() -> int:
    """Columns of stdout."""
    return console(sys.stdout).width


def console(stream: TextIO) -> Console:
    """Return a console that takes nothing in a text for markup: notes are full of brackets and colons."""
    from rich.console import Console

    return Console(
        file=stream,
        width=None if stream.isatty() else _columns(),
        highlight=False,
        markup=False,
        emoji=False,
    )


def _columns() -> int:
    asked = os.environ.get("COLUMNS", "")
    return max(20, int(asked)) if asked.isdecimal() else PIPE_WIDTH
