"""``vaultrag status --watch`` and ``vaultrag log``: what goes on, as it goes on."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Annotated

import typer

from vaultrag.cli.output import console, draw, remark, write, write_json
from vaultrag.config import Places
from vaultrag.domain import DaemonStatus
from vaultrag.errors import ConfigError, DaemonError
from vaultrag.rpc.client import Client
from vaultrag.rpc.messages import StatusChanged

CONNECT_AGAIN_S = 1.0
"""The pause before a daemon that is gone is looked for again."""

REFRESH_S = 10.0
"""Without a change the status is asked for this often: it says how long the daemon has run."""

FOLLOW_S = 0.2


def watch_status(places: Places, *, full: bool, as_json: bool) -> None:
    """Show the daemon's status until interrupted: in place on a terminal, else anew with every change.

    Raises:
        DaemonNotRunning: At the beginning; one that goes away later is waited for.
    """
    looks = _looks(places, full)
    if as_json:
        for fares in _changes(looks):
            write_json(fares if fares is not None else {"state": "gone"}, lines=True)
            sys.stdout.flush()
    elif sys.stdout.isatty():
        _live(looks, full)
    else:
        from vaultrag.cli.render.status import status_blocks

        for fares in _changes(looks):
            draw(*status_blocks(fares, full=full)) if fares is not None else write("the daemon is gone\n")
            sys.stdout.flush()


def log(
    lines: Annotated[int, typer.Option("-n", "--lines", min=0, help="So many of the last lines.")] = 20,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Go on, and print what is added; Ctrl+C ends it.")
    ] = False,
) -> None:
    """Print the last lines of the log of a daemon in the background."""
    places = Places.find()
    try:
        with places.log.open("rb") as file:
            write("".join(_printed(line) for line in deque(file, maxlen=lines)))
            sys.stdout.flush()
            if follow:
                _follow(places.log, file)
    except FileNotFoundError:
        remark(f"there is no log yet; a daemon in the background writes it to {places.log}")
        raise typer.Exit(1) from None
    except OSError as error:
        raise ConfigError(f"the log {places.log} cannot be read: {error.strerror or error}") from error


def _looks(places: Places, full: bool) -> Iterator[DaemonStatus | None]:
    """Yield the status whenever it changes, and now and then; None while there is no daemon."""
    client: Client | None = Client.connect(places)
    while True:
        try:
            with client or Client.connect(places) as client:
                status = client.subscribe(notes=False).status
                yield client.status(full=full) if full else status
                while True:
                    for change in client.notifications(REFRESH_S):
                        if isinstance(change, StatusChanged):
                            yield client.status(full=full) if full else change.status
                    yield client.status(full=full)
        except DaemonError:
            client = None
            yield None
            time.sleep(CONNECT_AGAIN_S)


def _changes(looks: Iterator[DaemonStatus | None]) -> Iterator[DaemonStatus | None]:
    """Only what differs from the look before, by more than the time that has passed."""
    before: object = ()
    for fares in looks:
        timeless = replace(fares, uptime_s=0.0) if fares is not None else None
        if timeless != before:
            yield fares
        before = timeless


def _live(looks: Iterator[DaemonStatus | None], full: bool) -> None:
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    from vaultrag.cli.render.status import status_blocks

    with Live(console=console(sys.stdout), auto_refresh=False, vertical_overflow="crop") as live:
        for fares in looks:
            gone = Text("the daemon is gone; waiting for it", style="red")
            live.update(Group(*status_blocks(fares, full=full)) if fares is not None else gone, refresh=True)


def _follow(path: Path, file: IO[bytes]) -> None:
    """Print what is added to a file, also when it is begun anew."""
    while True:
        data = file.read()
        if data:
            write(_printed(data))
            sys.stdout.flush()
            continue
        try:
            if path.stat().st_size < file.tell():
                file.seek(0)
        except FileNotFoundError:
            pass
        time.sleep(FOLLOW_S)


def _printed(data: bytes) -> str:
    return data.decode("utf-8", "replace")
