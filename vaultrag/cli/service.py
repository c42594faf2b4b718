"""``vaultrag service``: the daemon as a service of the system, started with the session and again after a fault."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from vaultrag.cli.options import AsJson
from vaultrag.cli.output import remark, write, write_json
from vaultrag.client.launch import wait_until_gone
from vaultrag.config import Places
from vaultrag.errors import ConnectionLost, DaemonError, DaemonNotRunning, ServiceError
from vaultrag.install.plans import installing, removing, texts
from vaultrag.install.service_managers import (
    ServiceState,
    carry_out,
    check_visible,
    launch,
    log_command,
    prepare_folders,
    state,
    where,
)
from vaultrag.rpc.client import Client, wait_for_daemon

ANSWER_S = 60.0
"""An installed daemon that does not answer after so long has failed."""

NOT_RUNNING = 1


def service(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Run the daemon as a service of your system: install, uninstall, status, logs. Alone: its status."""
    if ctx.invoked_subcommand is None:
        _status(as_json)


def install(
    printing: Annotated[bool, typer.Option("--print", help="Print the files, and write none.")] = False,
    no_start: Annotated[bool, typer.Option("--no-start", help="Write the files, and run no command.")] = False,
    as_json: AsJson = False,
) -> None:
    """Have the daemon start with your session, and start it now.

    On Linux with systemd: two user units, and no root. On macOS a launchd agent, on Windows a scheduled task; these two
    have not been tried on their systems.
    """
    if printing:
        places = Places.find()
        place = where(os.environ, places)
        for path, text in texts(place, launch(os.environ, places, place.system)).items():
            write(f"# {path}\n{text}\n")
        return
    fares = install_service(start=not no_start)
    if as_json:
        write_json(fares)
    elif no_start:
        write("written; it starts with your next session\n")
    else:
        write(f"vaultrag runs as a service (process {fares.pid}), and starts with your session\n")


def install_service(*, start: bool = True) -> ServiceState:
    """Write the files, and start the service in the place of a daemon that runs without.

    Raises:
        ServiceError
    """
    places = Places.find()
    place = where(os.environ, places)
    made = launch(os.environ, places, place.system)
    if start:
        check_visible(place, made)
    prepare_folders(places)
    if start and not state(place).running:
        _end_other(places)
    carry_out(installing(place, made, start=start))
    fares = state(place)
    if not start:
        return fares
    client = wait_for_daemon(places, ANSWER_S)
    if client is None:
        raise ServiceError("the service was installed, but its daemon does not answer", hint="vaultrag service logs")
    client.close()
    return state(place)


def uninstall(as_json: AsJson = False) -> None:
    """End the service and remove its files. The index, the settings and the notes stay."""
    places = Places.find()
    place = where(os.environ, places)
    known = any(os.path.lexists(path) for path in place.files)
    carry_out(removing(place))
    if as_json:
        write_json({"removed": [str(path) for path in place.files] if known else []})
    else:
        write("the service is removed; vaultrag up starts the daemon without one\n" if known else "none was there\n")


def status(as_json: AsJson = False) -> None:
    """Say if the service is installed, runs, and starts with the session. Exit code 0: it runs, 1: it does not."""
    _status(as_json)


def logs(
    lines: Annotated[int, typer.Option("-n", "--lines", min=0, help="So many of the last lines.")] = 20,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on, and print what is added.")] = False,
) -> None:
    """Print the log of the service. It never holds text of a note."""
    places = Places.find()
    command = log_command(where(os.environ, places), lines, follow)
    if not command:
        from vaultrag.cli.log import log

        log(lines, follow)
        return
    sys.stdout.flush()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise ServiceError(f"{command[0]} cannot be run: {error.strerror}", hint="vaultrag log") from error


def _status(as_json: bool) -> None:
    place = where(os.environ, Places.find())
    fares = state(place)
    if as_json:
        write_json(fares)
    else:
        write("".join(f"{line}\n" for line in _told(fares, str(place.files[0]))))
    if not fares.running:
        raise typer.Exit(NOT_RUNNING)


def _told(fares: ServiceState, file: str) -> list[str]:
    if not fares.installed:
        return ["no service is installed", "  try: vaultrag service install"]
    if not fares.loaded:
        return [
            f"installed ({file}), but it cannot be said how it fares: {fares.why or 'the manager does not know it'}"
        ]
    runs = f"runs (process {fares.pid})" if fares.pid else "runs" if fares.running else "does not run"
    lines = [f"the service {runs}{f', since {fares.since}' if fares.running and fares.since else ''}"]
    lines.append(f"  starts with your session: {'yes' if fares.enabled else 'no; vaultrag service install'}")
    if fares.listening and not fares.running:
        lines.append("  its socket is there: the next question starts it")
    if fares.restarts:
        lines.append(f"  started again after a fault: {fares.restarts} times")
    if fares.why:
        lines += [f"  {fares.why}", "  try: vaultrag service logs"]
    return [*lines, f"  {file}"]


def _end_other(places: Places) -> None:
    """Stop a daemon that runs without the manager: it holds the lock and the socket."""
    try:
        with Client.connect(places) as client:
            pid = int(client.welcome["pid"])
            client.shutdown()
    except DaemonNotRunning:
        return
    except (ConnectionLost, DaemonError) as error:
        raise ServiceError(
            f"a daemon runs already and cannot be ended: {error.message}", hint="vaultrag stop"
        ) from error
    remark(f"the daemon that ran so far (process {pid}) makes room for the service")
    wait_until_gone(pid)
