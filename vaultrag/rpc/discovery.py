"""Where the daemon answers, and a socket to it."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path

import msgspec

from vaultrag import __version__
from vaultrag.config import Places
from vaultrag.domain import Reader
from vaultrag.errors import DaemonNotRunning
from vaultrag.rpc.protocol import PROTOCOL_MAX, PROTOCOL_MIN
from vaultrag.rpc.sockets import peer_user

CHUNK = 262_144


class Address(msgspec.Struct, frozen=True):
    """The address of the daemon, from its discovery file."""

    pid: int
    version: str
    protocol: int
    sockets: tuple[str, ...] = ()
    tcp_port: int = 0
    token_file: str = ""
    vaults: tuple[str, ...] = ()


def discover(places: Places) -> Address:
    """Find the address of the daemon: the socket asked for, that of the discovery file, or the default.

    Raises:
        DaemonNotRunning: There is none of these.
    """
    asked = (places.asked_socket,) if places.asked_socket else ()
    with contextlib.suppress(OSError, msgspec.DecodeError):
        found = msgspec.json.decode(places.discovery.read_bytes(), type=Address)
        return msgspec.structs.replace(found, sockets=(*asked, *found.sockets))
    if places.socket.exists():
        return Address(0, "", PROTOCOL_MAX, (*asked, str(places.socket)))
    if asked:
        return Address(0, "", PROTOCOL_MAX, asked)
    raise DaemonNotRunning("no daemon is running")


def alive(pid: int) -> bool:
    """Return True while a process runs. A zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except (OSError, IndexError):
        return not Path("/proc/self/stat").exists()


def hello(vault: str, address: Address, reader: Reader = "person", *, searches: bool = False) -> dict[str, object]:
    """Return the parameters of the first call.

    Args:
        vault: The vault that calls mean when they name none.
        address: From ``discover``.
        reader: Who gets the answers. It is said only of an agent, so that a person can still talk to an older daemon;
            with one of those, an agent gets an error and no notes.
        searches: A search follows; said only then, see ``without_news``.

    Raises:
        DaemonNotRunning: The token file is gone, and with it the daemon.
    """
    token = ""
    if address.token_file:
        try:
            token = Path(address.token_file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise DaemonNotRunning(f"the token file {address.token_file} cannot be read") from error
    greeting: dict[str, object] = {
        "client": f"vaultrag-python/{__version__}",
        "protocol_min": PROTOCOL_MIN,
        "protocol_max": PROTOCOL_MAX,
        "vault": vault,
        "token": token,
    }
    said = {"reader": reader} if reader != "person" else {}
    return greeting | said | ({"searches": True} if searches else {})


def without_news(greeting: dict[str, object]) -> dict[str, object] | None:
    """Return the greeting as an older daemon understands it; None where it was that already."""
    return {name: value for name, value in greeting.items() if name != "searches"} if "searches" in greeting else None


def open_socket(address: Address, timeout_s: float) -> socket.socket:
    """Connect to the daemon.

    Raises:
        DaemonNotRunning: Nothing answers, or another user's process does.
    """
    trouble: OSError | None = None
    for path in address.sockets:
        try:
            sock = _unix(path, timeout_s)
        except OSError as error:
            trouble = error
        else:
            _check_owner(sock, path)
            return sock
    if address.tcp_port:
        try:
            return socket.create_connection(("127.0.0.1", address.tcp_port), timeout_s)
        except OSError as error:
            trouble = error
    raise DaemonNotRunning("no daemon answers on its socket") from trouble


def _check_owner(sock: socket.socket, path: str) -> None:
    """Ask nobody else's process: a socket under /tmp could be anybody's, and would hear every query.

    Raises:
        DaemonNotRunning
    """
    if not hasattr(os, "getuid"):
        return
    user = peer_user(sock)
    if user is None:
        user = Path(path).stat().st_uid
    if user not in (os.getuid(), 0):
        sock.close()
        raise DaemonNotRunning(f"the socket {path} is another user's", hint="vaultrag up, or set VAULTRAG_HOME")


def _unix(path: str, timeout_s: float) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(timeout_s)
    until = time.monotonic() + timeout_s
    while True:
        try:
            sock.connect(path)
            return sock
        except BlockingIOError:  # too many are knocking; Linux does not wait here, whatever the timeout
            if time.monotonic() > until:
                sock.close()
                raise
            time.sleep(0.005)
        except BaseException:
            sock.close()
            raise
