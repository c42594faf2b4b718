"""The table of commands."""

from __future__ import annotations

from typing import Annotated, Any

import typer
import typer.main

from vaultrag.cli import (
    config,
    daemon,
    deliver,
    doctor,
    eval,
    explain,
    init,
    log,
    maintenance,
    mcp,
    search,
    service,
    tui,
    why,
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
    """Return the command, ready to run: an object with click's ``main``."""
    app = typer.Typer(
        name="vaultrag",
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Local search for the notes you keep. Begin with: vaultrag up ~/Notes",
        epilog=_BEGIN,
        callback=_root,
    )
    app.command(rich_help_panel=_ASK, cls=search.QueryCommand, epilog=_FINDING)(search.search)
    app.command(rich_help_panel=_ASK, cls=search.QueryCommand)(tui.tui)
    app.command(rich_help_panel=_ASK)(search.related)
    app.command(rich_help_panel=_ASK)(search.get)
    app.command(rich_help_panel=_ASK)(explain.explain)
    app.command(rich_help_panel=_ASK)(why.why)
    app.command(rich_help_panel=_ASK)(maintenance.tags)
    app.command(rich_help_panel=_ASK)(deliver.rules)
    app.command(rich_help_panel=_ASK)(deliver.catalogue)
    app.command(rich_help_panel=_ASK)(deliver.push)
    app.command(rich_help_panel=_ASK)(mcp.mcp)
    app.command(rich_help_panel=_RUN)(init.init)
    app.command(rich_help_panel=_RUN)(daemon.up)
    app.command(rich_help_panel=_RUN)(daemon.stop)
    app.command(rich_help_panel=_RUN)(maintenance.status)
    app.command(rich_help_panel=_RUN)(log.log)
    app.command(rich_help_panel=_RUN)(doctor.doctor)
    app.command(rich_help_panel=_RUN)(maintenance.reindex)
    app.add_typer(_group(maintenance.vaults, remove=maintenance.remove), name="vaults", rich_help_panel=_RUN)
    app.command(rich_help_panel=_RUN)(daemon.serve)
    app.add_typer(
        _group(
            service.service,
            install=service.install,
            uninstall=service.uninstall,
            status=service.status,
            logs=service.logs,
        ),
        name="service",
        rich_help_panel=_RUN,
    )
    app.add_typer(
        _group(
            config.config,
            show=config.show,
            edit=config.edit,
            path=config.path,
            init=config.init,
        ),
        name="config",
        rich_help_panel=_SET,
    )
    app.command("eval", rich_help_panel=_SET)(eval.evaluate)
    return typer.main.get_command(app)


def _group(callback: Any, **commands: Any) -> typer.Typer:
    """Make a command that does something by itself and has commands below it."""
    group = typer.Typer(invoke_without_command=True, callback=callback)
    for name, command in commands.items():
        group.command(name)(command)
    return group


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
