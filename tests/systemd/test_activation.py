"""systemd-socket-activate, systemd's own tool, hands its socket to the real daemon when the first client knocks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.daemons import REPOSITORY, STOP_S, daemon_home, until
from vaultrag.rpc.client import Client, discover

ACTIVATE = shutil.which("systemd-socket-activate") or ""

pytestmark = pytest.mark.skipif(not ACTIVATE, reason="systemd-socket-activate is not installed: apt install systemd")


def test_the_first_client_starts_the_daemon() -> None:
    """No daemon runs until somebody knocks; the one who does is answered, on the very socket that systemd made."""
    with daemon_home() as home:
        home.write("Pump.md", "The seal leaks.\n")
        home.places.socket.parent.mkdir(mode=0o700, parents=True)
        told = {"VAULTRAG_HOME": str(home.path), "PYTHONPATH": str(REPOSITORY), "HOME": str(home.base)}
        log = (home.base / "log").open("ab")
        process = subprocess.Popen(
            [ACTIVATE, f"--listen={home.places.socket}",
             *(f"--setenv={name}={value}" for name, value in told.items()),
             sys.executable, "-m", "vaultrag", "serve", "--verbose", str(home.vault)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=home.base, env={**os.environ, **told},
        )  # fmt: skip
        log.close()
        daemon = home.adopt(process)
        daemon.until(home.places.socket.exists, "systemd listens")
        assert "serves" not in home.log
        made = home.places.socket.stat().st_ino
        with Client.connect(home.places) as client:
            assert client.welcome["pid"] == process.pid  # the tool has become the daemon
        daemon.found("seal", "Pump.md", 20)
        assert discover(home.places).sockets == (str(home.places.socket),)
        assert daemon.stop(STOP_S) == 0
        assert home.places.socket.stat().st_ino == made
        until(lambda: not home.places.discovery.exists(), "it has withdrawn")
