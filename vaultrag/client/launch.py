"""The daemon's life as seen from a command: reach it, start it in the background, wait until it has gone.

A daemon started here outlives the command: it has a session of its own, no terminal, and a log file.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vaultrag.client.resolve import absolute, chosen_vault, near_vault, not_served, unclear
from vaultrag.config import Places
from vaultrag.domain import VaultStatus
from vaultrag.errors import ConnectionLost, DaemonFailed, DaemonNotRunning
from vaultrag.home import remove_left_behind
from vaultrag.rpc.client import Client, discover, wait_for_daemon
from vaultrag.rpc.discovery import alive

START_S = 60.0
"""A daemon that does not serve after so long has failed."""

ADOPT_S = 10.0
"""The daemon answers before it has opened its vaults; one that is missing may still come for so long."""

ANOTHER_S = 10.0
"""One that another command has started, or that is stopping, is waited for so long."""

STOP_S = 60.0
LOG_BYTES = 1_000_000
"""A longer log is begun anew."""

_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Reached:
    """A connection; ``started``: the daemon was not running before."""

    client: Client
    started: bool


def reach(places: Places, *, searches: bool = False) -> Client:
    """Connect to a daemon that runs.

    Args:
        places: Where it is.
        searches: A search follows.

    Raises:
        DaemonNotRunning, ProtocolMismatch, ConnectionLost
    """
    return Client.connect(places, searches=searches)


def reach_or_start(places: Places, *, searches: bool = False) -> Reached:
    """Connect; start the daemon first if none runs.

    Raises:
        DaemonFailed: It ended before it served, with the reason from its log.
    """
    try:
        return Reached(Client.connect(places, searches=searches), started=False)
    except (DaemonNotRunning, ConnectionLost):  # lost: one that is just stopping
        pass
    for _ in range(2):
        offset = _prepare_log(places.log)
        child = _spawn(places)
        client = _answering(places, child)
        if client is not None:
            return Reached(client, started=True)
        # Another command started one at the same moment, or the last one is still stopping: either way, wait for it.
        if (client := _answer_of_another(places, child.pid)) is not None:
            return Reached(client, started=False)
    raise failure_in(places.log, offset)


def served(client: Client, places: Places, name: str) -> VaultStatus | None:
    """Return the vault meant, if it is served. Wait while a daemon that has just started opens its vaults."""
    while True:
        status = client.status()
        chosen = chosen_vault(status.vaults, name, Path.cwd().resolve())
        complete = len(status.vaults) >= len(discover(places).vaults) or status.uptime_s > ADOPT_S
        if complete or (chosen is not None and name):
            return chosen
        time.sleep(_POLL_S)


def meant(client: Client, places: Places, name: str) -> VaultStatus:
    """Return the vault meant, and serve a folder that is not served yet.

    Raises:
        VaultUnknown, VaultError
    """
    chosen = served(client, places, name)
    if chosen is None and name:
        if (near := near_vault(client.status().vaults, name)) and not absolute(name).exists():
            raise not_served(name, near)
        chosen = client.add_vault(str(absolute(name)))
    if chosen is None:
        raise unclear(client.status().vaults)
    return chosen


def wait_until_gone(pid: int, timeout_s: float = STOP_S) -> None:
    """Wait until a process has ended.

    Raises:
        DaemonFailed: It has not, in time.
    """
    until = time.monotonic() + timeout_s
    while alive(pid):
        if time.monotonic() > until:
            raise DaemonFailed(f"the daemon (process {pid}) has not ended after {timeout_s:.0f} s", hint=f"kill {pid}")
        time.sleep(_POLL_S)


def failure_in(log: Path, offset: int) -> DaemonFailed:
    """Return why the daemon ended: the last failure in its log after ``offset``, else its last line."""
    try:
        with log.open("rb") as file:
            file.seek(offset)
            lines = [line.rstrip() for line in file.read(LOG_BYTES).decode("utf-8", "replace").splitlines()]
    except OSError:
        lines = []
    told = [index for index, line in enumerate(lines) if line.startswith("vaultrag: ")]
    hint = f"less {log}"
    if told:
        reason = lines[told[-1]].removeprefix("vaultrag: ")
        after = lines[told[-1] + 1 : told[-1] + 2]
        if after and after[0].startswith("  try: "):
            hint = after[0].removeprefix("  try: ")
    else:
        reason = next((line for line in reversed(lines) if line.strip()), "it said nothing")
    return DaemonFailed(f"the daemon ended before it served: {reason}", hint=hint)


def _prepare_log(log: Path) -> int:
    """Make the log ready to be appended to, and return where it ends."""
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            if os.fstat(descriptor).st_size > LOG_BYTES:
                os.ftruncate(descriptor, 0)
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
    except OSError as error:
        raise DaemonFailed(
            f"the data folder {log.parent} cannot be written: {error.strerror or error}",
            hint=f"make {log.parent} writable, or set VAULTRAG_HOME",
        ) from error


def _spawn(places: Places) -> subprocess.Popen[bytes]:
    # Its working folder is the data folder: `python -m` looks for modules there first, and a folder that the user
    # happens to be in may hold files that have the names of modules. Nor does it keep a disk from being unmounted.
    remove_left_behind()  # here too: under a service manager the daemon may not write there
    with places.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "vaultrag", "serve"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=places.data,
            start_new_session=True,
        )


def _answering(places: Places, child: subprocess.Popen[bytes]) -> Client | None:
    """Connect to this child; return None when it has ended."""
    client = _answer(places, START_S, lambda: child.poll() is None)
    if client is None and child.poll() is None:
        child.terminate()
        raise DaemonFailed(f"the daemon does not serve after {START_S:.0f} s", hint=f"less {places.log}")
    return client


def _answer_of_another(places: Places, child: int) -> Client | None:
    return _answer(places, ANOTHER_S, lambda: _held_by_another(places.lock, child))


def _answer(places: Places, timeout_s: float, running: Callable[[], bool]) -> Client | None:
    until = time.monotonic() + timeout_s
    while True:
        try:
            return wait_for_daemon(places, max(0.0, until - time.monotonic()), running)
        except ConnectionLost:  # it is ending, and has not yet taken its socket away
            if not running() or time.monotonic() > until:
                return None
            time.sleep(_POLL_S)


def _held_by_another(lock: Path, child: int) -> bool:
    try:
        holder = lock.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return False
    return holder.isdecimal() and int(holder) != child and alive(int(holder))
