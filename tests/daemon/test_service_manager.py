"""The service manager's side, played by the test: a socket handed over, a watchdog that waits for signs of life."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemons import Home, RunningDaemon, until
from vaultrag.errors import DaemonNotRunning
from vaultrag.rpc.client import Client, discover

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no Unix sockets here")

# The manager becomes the daemon, as systemd does between fork and exec: only so the process's number is known in time.
HAND_OVER = """
import os, sys
count, *descriptors = map(int, sys.argv[1].split(","))
for number, descriptor in enumerate(descriptors):
    os.dup2(descriptor, 3 + number)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(count)}
os.execv(sys.executable, [sys.executable, "-m", "vaultrag", "serve", "--verbose", *sys.argv[2:]])
"""


@pytest.fixture(autouse=True)
def a_note(home: Home) -> None:
    home.write("Pump.md", "The seal leaks.\n")


@contextlib.contextmanager
def listening(path: Path, kind: socket.SocketKind = socket.SOCK_STREAM) -> Iterator[socket.socket]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX, kind) as sock:
        sock.bind(str(path))
        path.chmod(0o600)
        if kind == socket.SOCK_STREAM:
            sock.listen(16)
        yield sock


def hand_over(home: Home, *sockets: socket.socket, env: dict[str, str] | None = None) -> RunningDaemon:
    """Start a daemon with these sockets, as systemd does."""
    # Far above 3, so that what is handed over is not overwritten while it is put in its place.
    far = [os.dup2(sock.fileno(), 50 + number) for number, sock in enumerate(sockets)]
    try:
        with (home.base / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", HAND_OVER, ",".join(map(str, [len(far), *far])), str(home.vault)],
                pass_fds=far, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=home.base,
                env=home.environment(**(env or {})),
            )  # fmt: skip
    finally:
        for descriptor in far:
            os.close(descriptor)
    return home.adopt(process)


def test_a_socket_that_is_handed_over_is_served(home: Home) -> None:
    """The daemon answers on the manager's socket, says so in the discovery file, and leaves the file when it ends."""
    path = home.base / "handed/daemon.sock"
    with listening(path) as sock:
        daemon = hand_over(home, sock)
        daemon.until(home.places.discovery.exists, "it announces itself", 30)
        assert discover(home.places).sockets == (str(path),)
        assert not home.places.socket.exists()
        daemon.found("seal", "Pump.md", 20)
        assert daemon.stop() == 0
        assert path.is_socket()


def test_a_client_waits_while_the_daemon_is_started_again(home: Home) -> None:
    """A question asked between two daemons waits in the manager's socket and is answered by the second."""
    with listening(home.places.socket) as sock:
        first = hand_over(home, sock)
        first.until(home.places.discovery.exists, "it announces itself", 30)
        first.found("seal", "Pump.md", 20)
        assert first.stop() == 0
        asking = subprocess.Popen(
            [sys.executable, "-m", "vaultrag", "search", "seal", "--no-start", "--format", "paths"],
            env=home.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        second = hand_over(home, sock)
        second.until(home.places.discovery.exists, "it announces itself", 30)
        assert asking.communicate(timeout=60)[0].strip().endswith("Pump.md")


def test_a_socket_meant_for_another_process_is_left_alone(home: Home) -> None:
    """What the environment says of sockets counts only for the process that it names: a child's child ignores it."""
    daemon = home.start(env={"LISTEN_FDS": "1", "LISTEN_PID": "1"})
    assert discover(home.places).sockets == (str(home.places.socket),)
    daemon.found("seal", "Pump.md")


def test_what_is_no_listening_socket_is_refused(home: Home) -> None:
    """Two sockets, or one that nobody listens on: the daemon says what is wrong and ends; it guesses nothing."""
    with listening(home.base / "a") as one, listening(home.base / "b") as two:
        assert hand_over(home, one, two).process.wait(30) == 2
    assert "handed over 2 sockets, and one is expected" in home.log
    with listening(home.base / "c", socket.SOCK_DGRAM) as datagrams:
        assert hand_over(home, datagrams).process.wait(30) == 2
    assert "no Unix socket that it listens on" in home.log
    assert "Traceback" not in home.log


def test_it_gives_signs_of_life(home: Home) -> None:
    """Asked to, the daemon tells the manager again and again that it lives; once its loop stands still, it does not."""
    path = str(home.base / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(20)
        daemon = home.spawn(home.vault, env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"})
        said = [manager.recv(100) for _ in range(4)]
        assert said == [b"READY=1"] + [b"WATCHDOG=1"] * 3
        daemon.signal(signal.SIGSTOP)
        try:
            manager.settimeout(1.0)
            with contextlib.suppress(TimeoutError):
                for _ in range(20):  # what it said before it stood still
                    manager.recv(100)
            with pytest.raises(TimeoutError):
                manager.recv(100)
        finally:
            daemon.signal(signal.SIGCONT)
        manager.settimeout(20)
        assert manager.recv(100) == b"WATCHDOG=1"


def test_no_signs_are_given_unasked(home: Home) -> None:
    """A watchdog of another process, or none, is told nothing but that the daemon is ready and that it stops."""
    path = str(home.base / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(20)
        env = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}
        daemon = home.start(home.vault, env=env)
        daemon.ready()
        assert daemon.stop() == 0
        assert [manager.recv(100), manager.recv(100)] == [b"READY=1", b"STOPPING=1"]


def test_nothing_answers_once_the_manager_has_gone(home: Home) -> None:
    """A socket file that a manager left behind is no daemon: clients are told so."""
    with listening(home.places.socket):
        pass
    with pytest.raises(DaemonNotRunning):
        Client.connect(home.places)
    daemon = home.start()
    assert until(lambda: discover(home.places).pid == daemon.pid, "the next daemon serves", 20)
