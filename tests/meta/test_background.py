"""A test run that was started in the background does what one in the foreground does."""

from __future__ import annotations

import subprocess
import sys

from tests.support.daemons import REPOSITORY

LOOK = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"


def test_children_can_be_interrupted() -> None:
    """A child that a test starts reacts to Ctrl+C, however the run itself was started."""
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_a_background_run_can_interrupt_its_children() -> None:
    """A run that a shell started with SIGINT ignored passes the test above, and is not ended by the signal itself."""
    ignoring = f"trap '' INT; exec {sys.executable} -m pytest -q -p no:cacheprovider {__file__} -k test_children"
    done = subprocess.run(["sh", "-c", ignoring], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_run_still_ignores_the_signal() -> None:
    """A background run is not ended by Ctrl+C in the terminal that it was started from."""
    raising = "import os, signal, tests.conftest; os.kill(os.getpid(), signal.SIGINT); print('goes on')"
    command = ["sh", "-c", 'trap "" INT; exec "$0" -c "$1"', sys.executable, raising]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "goes on"), done.stderr
