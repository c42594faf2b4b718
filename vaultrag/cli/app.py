"""The table of commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.main

from vaultrag.cli.options import invocation
from vaultrag.cli.output import write

# Each line of an example is a paragraph: the help is wrapped otherwise.
_BEGIN = """Begin: vaultrag up ~/Notes    (or vaultrag init, which asks)

Find: vaultrag    (a search screen; F1 shows its keys)

Find: vaultrag search "rule for the night pump"    (ends with 0, 1: nothing)

Open: $EDITOR "$(vaultrag tui)"

Read: vaultrag get "Folder/Note.md"

Look: vaultrag status --watch

Complete commands with Tab: vaultrag --install-completion
"""
_FINDING = """Examples

vaultrag search night pump tag:#rule after:2026-01-01

vaultrag search '"mechanical seal" -impeller path:Projects' --format paths

vim -q <(vaultrag search --format vimgrep seal)

fzf --disabled --bind 'change:reload:vaultrag search --format tsv {q} || true'
"""

_ASK, _RUN, _SET = "Commands that ask", "Commands for the daemon", "Commands for settings and measuring"


@dataclass(frozen=True, slots=True)
class Command:
    """A command: where its function is, and how the help shows it.

    Attributes:
        function: ``module:function``, loaded when the command is used or listed.
        cls: ``module:class`` of the command, where it is not the usual one.
        below: Commands below it, by name.
    """

    function: str
    panel: str
    cls: str = ""
    epilog: str = ""
    below: Mapping[str, str] = field(default_factory=dict)


COMMANDS: Mapping[str, Command] = {
    "search": Command("search:search", _ASK, cls="search:QueryCommand", epilog=_FINDING),
    "tui": Command("tui:tui", _ASK, cls="search:QueryCommand"),
    "timeline": Command("timeline:timeline", _ASK, cls="search:QueryCommand"),
    "related": Command("search:related", _ASK),
    "get": Command("search:get", _ASK),
    "explain": Command("explain:explain", _ASK),
    "why": Command("why:why", _ASK),
    "tags": Command("maintenance:tags", _ASK),
    "rules": Command("deliver:rules", _ASK),
    "catalogue": Command("deliver:catalogue", _ASK),
    "push": Command("deliver:push", _ASK),
    "mcp": Command("mcp:mcp", _ASK),
    "init": Command("init:init", _RUN),
    "up": Command("daemon:up", _RUN),
    "stop": Command("daemon:stop", _RUN),
    "status": Command("maintenance:status", _RUN),
    "log": Command("log:log", _RUN),
    "doctor": Command("doctor:doctor", _RUN),
    "reindex": Command("maintenance:reindex", _RUN),
    "vaults": Command("maintenance:vaults", _RUN, below={"remove": "maintenance:remove"}),
    "serve": Command("daemon:serve", _RUN),
    "service": Command(
        "service:service",
        _RUN,
        below={name: f"service:{name}" for name in ("install", "uninstall", "status", "logs")},
    ),
    "config": Command(
        "config:config", _SET, below={name: f"config:{name}" for name in ("show", "edit", "path", "init")}
    ),
    "eval": Command("eval:evaluate", _SET),
}


def build(args: Sequence[str] = ()) -> Any:
    """Return the command, ready to run: an object with click's ``main``.

    Args:
        args: As typed. Where they begin with a command only that one is loaded, which halves the start of a search.
    """
    app = typer.Typer(
        name="vaultrag",
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Local search for the notes you keep. Begin with: vaultrag up ~/Notes",
        epilog=_BEGIN,
        callback=_root,
    )
    first = args[0] if args else ""
    for name in [first] if first in COMMANDS else [] if first == "--version" else COMMANDS:
        command = COMMANDS[name]
        if command.below:
            group = typer.Typer(invoke_without_command=True, callback=_load(command.function))
            for below, function in command.below.items():
                group.command(below)(_load(function))
            app.add_typer(group, name=name, rich_help_panel=command.panel)
            continue
        cls = _load(command.cls) if command.cls else None
        app.command(name, rich_help_panel=command.panel, cls=cls, epilog=command.epilog or None)(
            _load(command.function)
        )
    return typer.main.get_command(app)


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"vaultrag.cli.{module}"), name)


def _show_version(value: bool) -> None:
    if value:
        from vaultrag.cli.version import version_lines

        write("".join(f"{line}\n" for line in version_lines()))
        raise typer.Exit


def _root(
    ctx: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show where in the program a failure arose.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print version, build and index identity.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    if debug:
        invocation(ctx).debug = True
    if ctx.invoked_subcommand is None:
        text = ctx.get_help()  # drawn at once by some versions of typer, returned by others
        if text:
            write(f"{text}\n")
