"""The service manager, where there is one.

It is told the state of the daemon by systemd's datagrams (sd_notify(3)), and asked for a socket that it already listens
on (sd_listen_fds(3)). Without a manager nothing here does anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import MutableMapping

from vaultrag.errors import DaemonFailed

FIRST_FD = 3
"""systemd hands its sockets over from this descriptor on."""


def tell_manager(state: str) -> None:
    """Send a state such as ``READY=1`` to the socket in ``NOTIFY_SOCKET``, if there is one."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address or not hasattr(socket, "AF_UNIX"):
        return
    if address.startswith("@"):  # Linux's abstract names begin with a NUL
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(state.encode(), address)


def inherited_socket(environ: MutableMapping[str, str]) -> socket.socket | None:
    """Return the socket that the manager listens on for this process; None without one.

    Args:
        environ: The environment. What is said there of sockets is taken out: it is not for the process's children.

    Raises:
        DaemonFailed: What was handed over is not one listening Unix socket.
    """
    count, meant_for = environ.pop("LISTEN_FDS", ""), environ.pop("LISTEN_PID", "")
    environ.pop("LISTEN_FDNAMES", None)
    if not count.isdecimal() or meant_for != str(os.getpid()) or int(count) == 0:
        return None
    if int(count) != 1:
        raise DaemonFailed(f"the service manager handed over {count} sockets, and one is expected", hint=_SEE)
    try:
        os.set_inheritable(FIRST_FD, False)
        sock = socket.socket(fileno=FIRST_FD)
    except OSError as error:
        raise DaemonFailed(f"what the service manager handed over is no socket: {error.strerror}", hint=_SEE) from error
    unix = sock.family == getattr(socket, "AF_UNIX", None) and sock.type == socket.SOCK_STREAM
    name = sock.getsockname()  # of an abstract one: bytes, which clients could not be told
    if not (unix and sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) and name and isinstance(name, str)):
        sock.detach()
        raise DaemonFailed("the service manager's socket is no Unix socket that it listens on", hint=_SEE)
    sock.setblocking(False)
    return sock


_SEE = "vaultrag service install"


def watchdog_s(environ: MutableMapping[str, str]) -> float:
    """Return how often the manager wants a sign of life, in seconds; 0 for never."""
    asked, meant_for = environ.get("WATCHDOG_USEC", ""), environ.get("WATCHDOG_PID", "")
    if not asked.isdecimal() or meant_for not in ("", str(os.getpid())):
        return 0.0
    return int(asked) / 1_000_000


async def keep_telling(every_s: float) -> None:
    """Give the manager a sign of life, twice in each of its intervals.

    It comes from the loop that answers clients: if that hangs, the manager starts another daemon.
    """
    while True:
        tell_manager("WATCHDOG=1")
        await asyncio.sleep(every_s / 2)
