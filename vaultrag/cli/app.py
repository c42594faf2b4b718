"""The table of commands."""

from __future__ import annotations

from typing import Annotated, Any

import typer
import typer.main

from vaultrag.cli import (
    agents,
    asking,
    beginning,
    configuring,
    delivering,
    explaining,
    healing,
    judging,
    running,
    screening,
    serving,
    tending,
    watching,
    wondering,
)
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


def build() -> Any:
    """The command, ready to be run: an object with click's ``main``."""
    app = typer.Typer(
        name="vaultrag",
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Local search for the notes you keep. Begin with: vaultrag up ~/Notes",
        epilog=_BEGIN,
        callback=_root,
    )
    app.command(rich_help_panel=_ASK, cls=asking.QueryCommand, epilog=_FINDING)(asking.search)
    app.command(rich_help_panel=_ASK, cls=asking.QueryCommand)(screening.tui)
    app.command(rich_help_panel=_ASK)(asking.related)
    app.command(rich_help_panel=_ASK)(asking.get)
    app.command(rich_help_panel=_ASK)(explaining.explain)
    app.command(rich_help_panel=_ASK)(wondering.why)
    app.command(rich_help_panel=_ASK)(tending.tags)
    app.command(rich_help_panel=_ASK)(delivering.rules)
    app.command(rich_help_panel=_ASK)(delivering.catalogue)
    app.command(rich_help_panel=_ASK)(delivering.push)
    app.command(rich_help_panel=_ASK)(agents.mcp)
    app.command(rich_help_panel=_RUN)(beginning.init)
    app.command(rich_help_panel=_RUN)(running.up)
    app.command(rich_help_panel=_RUN)(running.stop)
    app.command(rich_help_panel=_RUN)(tending.status)
    app.command(rich_help_panel=_RUN)(watching.log)
    app.command(rich_help_panel=_RUN)(healing.doctor)
    app.command(rich_help_panel=_RUN)(tending.reindex)
    app.add_typer(_group(tending.vaults, remove=tending.remove), name="vaults", rich_help_panel=_RUN)
    app.command(rich_help_panel=_RUN)(running.serve)
    app.add_typer(
        _group(
            serving.service,
            install=serving.install,
            uninstall=serving.uninstall,
            status=serving.status,
            logs=serving.logs,
        ),
        name="service",
        rich_help_panel=_RUN,
    )
    app.add_typer(
        _group(
            configuring.config,
            show=configuring.show,
            edit=configuring.edit,
            path=configuring.path,
            init=configuring.init,
        ),
        name="config",
        rich_help_panel=_SET,
    )
    app.command("eval", rich_help_panel=_SET)(judging.evaluate)
    return typer.main.get_command(app)


def _group(callback: Any, **commands: Any) -> typer.Typer:
    """A command that does something by itself and has commands below it."""
    group = typer.Typer(invoke_without_command=True, callback=callback)
    for name, command in commands.items():
        group.command(name)(command)
    return group


def _show_version(value: bool) -> None:
    if value:
        from vaultrag.cli.showing import version_lines

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
