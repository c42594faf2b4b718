"""Where the daemon answers, and a socket to it."""

from __future__ import annotations

import contextlib
import socket
import time
from pathlib import Path

import msgspec

from vaultrag import __version__
from vaultrag.config import Places
from vaultrag.errors import DaemonNotRunning
from vaultrag.rpc.protocol import PROTOCOL_MAX, PROTOCOL_MIN

CHUNK = 262_144


class Address(msgspec.Struct, frozen=True):
    """Where the daemon answers, as its discovery file tells."""

    pid: int
    version: str
    protocol: int
    sockets: tuple[str, ...] = ()
    tcp_port: int = 0
    token_file: str = ""
    vaults: tuple[str, ...] = ()


def discover(places: Places) -> Address:
    """Where a daemon should answer: from the discovery file, else at the place it would choose.

    Raises:
        DaemonNotRunning: There is neither.
    """
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(places.discovery.read_bytes(), type=Address)
    if places.socket.exists():
        return Address(0, "", PROTOCOL_MAX, (str(places.socket),))
    raise DaemonNotRunning("no daemon is running")


def hello(vault: str, address: Address) -> dict[str, object]:
    """The parameters of the first call.

    Raises:
        DaemonNotRunning: The token file is gone, and with it the daemon.
    """
    token = ""
    if address.token_file:
        try:
            token = Path(address.token_file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise DaemonNotRunning(f"the token file {address.token_file} cannot be read") from error
    return {
        "client": f"vaultrag-python/{__version__}",
        "protocol_min": PROTOCOL_MIN,
        "protocol_max": PROTOCOL_MAX,
        "vault": vault,
        "token": token,
    }


def open_socket(address: Address, timeout_s: float) -> socket.socket:
    """A connected socket.

    Raises:
        DaemonNotRunning: Nothing answers.
    """
    trouble: OSError | None = None
    for path in address.sockets:
        try:
            return _unix(path, timeout_s)
        except OSError as error:
            trouble = error
    if address.tcp_port:
        try:
            return socket.create_connection(("127.0.0.1", address.tcp_port), timeout_s)
        except OSError as error:
            trouble = error
    raise DaemonNotRunning("no daemon answers on its socket") from trouble


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
