"""Commands that run the daemon: up, stop, serve."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from vaultrag import __version__
from vaultrag.cli.errors import INTERRUPTED
from vaultrag.cli.options import AsJson, invocation
from vaultrag.cli.output import remark, write, write_json
from vaultrag.cli.progress import wait
from vaultrag.client.launch import Reached, reach, reach_or_start, served, wait_until_gone
from vaultrag.client.resolve import absolute
from vaultrag.client.stages import vault_in
from vaultrag.config import Places, Settings, check_apart, load
from vaultrag.domain import DaemonStatus, VaultStatus
from vaultrag.errors import DaemonError, DaemonNotRunning, VaultError
from vaultrag.rpc.client import Client

PULLED_PATIENCE_S = 90.0
"""The daemon asks an embedder that was away again after a minute at most."""


def up(
    vault: Annotated[
        str, typer.Argument(metavar="VAULT", help="The folder of notes; remembered.", show_default=False)
    ] = "",
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Return as soon as the daemon has the vault.")] = False,
    words_only: Annotated[bool, typer.Option("--words-only", help="Wait for words, not for vectors.")] = False,
    pull: Annotated[bool, typer.Option("--pull", help="Have Ollama download the model if it lacks it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Serve a vault: start the daemon if need be, and wait until the notes can be searched."""
    places = Places.find()
    settings = load(places.config_file)
    if vault:
        check_apart(absolute(vault).resolve(), places.data)  # before the daemon's own files are made in there
    reached = reach_or_start(places)
    with reached.client as client:
        _compare_versions(str(client.welcome["version"]))
        wanted = _wanted(reached, places, vault)
        for one in () if no_wait else wanted:
            _wait_for(client, one, settings, words_only=words_only, pull=pull)
        status = client.status()
    if as_json:
        write_json(status)
        return
    from vaultrag.cli.render.status import summary

    write(summary(status, [vault_in(status, one.id) for one in wanted]))
    for inner, outer in nested([vault.root for vault in status.vaults]):
        remark(f"{inner} lies inside {outer}, which is served too: its notes are in both")


def nested(roots: Sequence[str]) -> list[tuple[str, str]]:
    """Return the vaults that lie inside another one, each with that."""
    return [
        (inner, outer) for inner in roots for outer in roots if inner != outer and Path(inner).is_relative_to(outer)
    ]


def stop(as_json: AsJson = False) -> None:
    """End the daemon. The notes and the index stay as they are."""
    places = Places.find()
    try:
        with reach(places) as client:
            pid = int(client.welcome["pid"])
            client.shutdown()
    except DaemonNotRunning:
        write_json({"stopped": False, "pid": 0}) if as_json else write("vaultrag is not running\n")
        return
    wait_until_gone(pid)
    write_json({"stopped": True, "pid": pid}) if as_json else write(f"vaultrag has stopped (process {pid})\n")


def serve(
    ctx: typer.Context,
    vaults: Annotated[list[str] | None, typer.Argument(metavar="VAULT", help="Folders of notes.")] = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Log every step.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Log every step, of the libraries too; show tracebacks.")
    ] = False,
) -> None:
    """Run the daemon in the foreground, for a service manager or to watch it. Ctrl+C ends it."""
    if debug:
        invocation(ctx).debug = True
    _log_to_stderr(verbose=verbose or debug, libraries=debug)
    places = Places.find()
    from vaultrag.daemon.process import Daemon  # brings in databases and models: nothing that other commands need

    Daemon(places, load(places.config_file)).run([absolute(vault) for vault in vaults or ()])


def _compare_versions(running: str) -> None:
    """Say when the daemon that runs is of another version: after an upgrade the old one goes on until it is ended."""
    if running != __version__:
        remark(f"the daemon that runs is vaultrag {running}, and this is {__version__}")
        remark("  to change over: vaultrag stop && vaultrag up")


def _wanted(reached: Reached, places: Places, vault: str) -> list[VaultStatus]:
    """Return the vaults to wait for: the one named, or all. Stop a daemon started for a folder that is no vault."""
    if not vault:
        served(reached.client, places, "")
        return list(reached.client.status().vaults)
    try:
        return [reached.client.add_vault(str(absolute(vault)))]
    except VaultError:
        if reached.started:
            with contextlib.suppress(DaemonError):
                pid = int(reached.client.welcome["pid"])
                reached.client.shutdown()
                wait_until_gone(pid)
        raise


def _wait_for(client: Client, vault: VaultStatus, settings: Settings, *, words_only: bool, pull: bool) -> None:
    try:
        status = wait(client, vault.id, "words" if words_only else "vectors")
        if status.embedder.state == "missing" and not words_only and _wants_model(status, pull):
            from vaultrag.cli.pull import pull_model

            pull_model(settings.embedder)
            client.reindex(vault=vault.id)
            wait(client, vault.id, "vectors", patience_s=PULLED_PATIENCE_S)
    except KeyboardInterrupt:
        remark("the daemon goes on by itself; vaultrag status tells how far it is")
        raise typer.Exit(INTERRUPTED) from None


def _wants_model(status: DaemonStatus, pull: bool) -> bool:
    if pull:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    remark(f"{status.embedder.why}.")
    return typer.confirm(f"Have Ollama download {status.embedder.model} now?", default=True, err=True)


def _log_to_stderr(*, verbose: bool, libraries: bool) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.DEBUG if libraries else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("vaultrag").setLevel(logging.DEBUG if verbose else logging.INFO)
