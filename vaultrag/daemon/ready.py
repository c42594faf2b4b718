"""Telling systemd that the daemon is ready, by its datagram protocol (sd_notify(3)). Nothing where there is none."""

from __future__ import annotations

import contextlib
import os
import socket


def tell_manager(state: str) -> None:
    """Send a state such as ``READY=1`` to the socket in ``NOTIFY_SOCKET``, if there is one."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address or not hasattr(socket, "AF_UNIX"):
        return
    if address.startswith("@"):  # Linux's abstract names begin with a NUL
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(state.encode(), address)
