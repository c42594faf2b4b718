"""Options that several commands share, spelled once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

import typer

from vaultrag.cli.errors import Invocation
from vaultrag.errors import InvalidParams


def invocation(ctx: typer.Context) -> Invocation:
    """Return what the failure handler knows of this run."""
    known = ctx.find_root().obj
    return known if isinstance(known, Invocation) else Invocation()


def _remember_json(ctx: typer.Context, value: bool) -> bool:
    # A failure later on must know how to show itself.
    if value:
        invocation(ctx).json = True
    return value


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.", callback=_remember_json)]
VaultOption = Annotated[
    str,
    typer.Option(
        "--vault",
        metavar="DIR",
        help="The vault: its folder or its name. Needed only where several are served and none is around here.",
        show_default=False,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("-n", "--limit", metavar="N", min=1, max=200, help="Notes at most; as in the settings, else 10."),
]

MaxTokens = Annotated[
    int, typer.Option("--max-tokens", metavar="N", min=0, help="Budget of the whole answer, in tokens; 0 for none.")
]

_LINES = re.compile(r"(\d*)(-?)(\d*)$")


def line_range(text: str) -> tuple[int, int]:
    """``3-9``, ``3``, ``3-`` or ``-9`` as first and last line; 0 where open.

    Raises:
        InvalidParams
    """
    if not text:
        return 0, 0
    found = _LINES.match(text)
    first, dash, last = found.groups() if found else ("", "", "")
    lines = int(first or 0), int(last or 0) if dash else int(first or 0)
    if lines == (0, 0) or (lines[1] and lines[0] > lines[1]):
        raise InvalidParams(f"{text[:50]!r} names no lines", hint="--lines 3-9")
    return lines


def options_first(args: Sequence[str], valued: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Put the options of a search in front of its query, with ``--`` between them.

    A query may hold ``-word``, which leaves notes out. The parser would take it for a row of short options.

    Args:
        args: As typed.
        valued: Options that take a value.
        flags: Options that take none.
    """
    options: list[str] = []
    words: list[str] = []
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            words += rest
        elif arg in valued:
            options += [arg, *([value] if (value := next(rest, None)) is not None else [])]
        elif arg in flags or arg.startswith("--") or any(re.fullmatch(f"{short}=?\\d+", arg) for short in valued):
            options.append(arg)
        else:
            words.append(arg)
    return [*options, "--", *words]
