"""Another user of the machine: kept out by the folder's and the socket's modes, and by who they are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.daemons import RunningDaemon, daemon_home
from vaultrag.errors import DaemonNotRunning
from vaultrag.rpc.client import Client

NOBODY = 65_534

PYTHON = shutil.which("python3", path="/usr/bin:/bin") or ""
"""One that every user may run; the tests' own may lie in a closed folder."""

pytestmark = [
    pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user"),
    pytest.mark.skipif(not PYTHON, reason="no Python that another user may run"),
]


@pytest.fixture(scope="module")
def daemon() -> Iterator[RunningDaemon]:
    with daemon_home() as home:
        home.write("Pump.md", "The seal leaks.\n")
        daemon = home.start()
        daemon.ready()
        home.base.chmod(0o755)  # what is tested is vaultrag's own folders
        home.path.chmod(0o755)
        yield daemon


def as_nobody(script: str, *arguments: str) -> str:
    """What a script says when another user runs it."""
    done = subprocess.run(
        [PYTHON, "-I", "-c", script, *arguments], user=NOBODY, group=NOBODY, extra_groups=[],
        capture_output=True, text=True, timeout=30, cwd="/", check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


CONNECT = """
import socket, sys
sock = socket.socket(socket.AF_UNIX)
sock.settimeout(10)
try:
    sock.connect(sys.argv[1])
    sock.sendall(b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{"client":"x"}}\\n'
                 b'{"jsonrpc":"2.0","id":2,"method":"shutdown","params":{}}\\n')
    print(sock.makefile().read())
except OSError as error:
    print(type(error).__name__)
"""


def test_the_modes_keep_them_out(daemon: RunningDaemon) -> None:
    """Another user can neither reach the socket nor look into the data folder."""
    assert as_nobody(CONNECT, str(daemon.home.places.socket)).strip() == "PermissionError"
    look = "import os, sys; print(os.listdir(sys.argv[1]))"
    assert "PermissionError" in as_nobody(look, str(daemon.home.places.data))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who is at the other end")
def test_who_gets_as_far_as_the_socket_is_refused(daemon: RunningDaemon) -> None:
    """Were folder and socket open to all by accident, another user is still sent away, and nothing of theirs is run."""
    socket_path = daemon.home.places.socket
    socket_path.parent.chmod(0o755)
    socket_path.chmod(0o666)
    try:
        said = json.loads(as_nobody(CONNECT, str(socket_path)))
    finally:
        socket_path.chmod(0o600)
        socket_path.parent.chmod(0o700)
    assert said["error"]["message"] == "this daemon serves its own user only"
    assert daemon.process.poll() is None
    assert daemon.client.search("seal").hits


LISTEN = """
import os, socket, sys
sock = socket.socket(socket.AF_UNIX)
sock.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
sock.listen()
print("listening", flush=True)
peer, _ = sock.accept()
peer.settimeout(5)
try:
    print("heard", peer.recv(100), flush=True)
except OSError as error:
    print("heard nothing", flush=True)
"""


def test_a_client_does_not_ask_another_users_process() -> None:
    """Where somebody else's process listens in the daemon's place, the client says so and sends it nothing."""
    with daemon_home() as home:
        home.base.chmod(0o755)
        home.path.chmod(0o755)
        folder = home.places.socket.parent
        folder.mkdir()
        os.chown(folder, NOBODY, NOBODY)
        impostor = subprocess.Popen(
            [PYTHON, "-I", "-c", LISTEN, str(home.places.socket)],
            user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert impostor.stdout is not None
            assert impostor.stdout.readline() == "listening\n"
            with pytest.raises(DaemonNotRunning, match="another user's"):
                Client.connect(home.places)
            assert impostor.stdout.readline() == "heard b''\n"
        finally:
            impostor.kill()
            impostor.wait(10)
            assert impostor.stdout is not None
            impostor.stdout.close()
