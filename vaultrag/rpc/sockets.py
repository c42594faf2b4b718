"""The socket's place on the disk: a folder of the user's own, and what a crash left there."""

from __future__ import annotations

import os
import socket
import struct
import sys
from pathlib import Path
from typing import Any

from vaultrag.errors import DaemonAlreadyRunning, DaemonFailed, VaultragError


def private_folder(folder: Path) -> None:
    """Make the folder, if need be, and let nobody else in.

    Raises:
        DaemonFailed: It cannot be made, or is another user's.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Under /tmp the name could be a link that somebody else has put there.
        owners = {folder.lstat().st_uid, folder.stat().st_uid}
        if hasattr(os, "getuid") and owners != {os.getuid()}:
            raise DaemonFailed(f"the folder {folder} for the socket belongs to another user")
        folder.chmod(0o700)
    except OSError as error:
        raise DaemonFailed(f"the folder {folder} for the socket cannot be used: {error.strerror or error}") from error


def clear_stale(path: Path) -> None:
    """Remove a socket that a crash left behind: only a socket, and only when nothing answers there.

    Raises:
        DaemonAlreadyRunning, DaemonFailed
    """
    if not path.exists() and not path.is_symlink():
        return
    if not path.is_socket():
        raise DaemonFailed(f"{path} is in the way and is not a socket", hint=f"look at it, and move it: {path}")
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    probe.settimeout(2)
    try:
        probe.connect(str(path))
    except ConnectionRefusedError:
        path.unlink(missing_ok=True)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise DaemonFailed(f"{path} is in the way: {error.strerror or error}") from error
    else:
        raise DaemonAlreadyRunning(f"another daemon answers at {path}")
    finally:
        probe.close()


def identity(path: Path) -> tuple[int, int] | None:
    """Tells one file at this path from another; None when there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_peer(sock: Any) -> None:
    """Refuse a client of another user, where the system tells.

    Raises:
        VaultragError
    """
    user = peer_user(sock)
    if user is not None and user not in (os.getuid(), 0):
        raise VaultragError("this daemon serves its own user only")


def peer_user(sock: Any) -> int | None:
    """Return the user at the other end of a Unix socket; None where the system does not say."""
    if sock is None or sock.family == socket.AF_INET or sys.platform != "linux":
        return None
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    user: int = struct.unpack("3i", credentials)[1]
    return user
