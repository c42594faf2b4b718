"""``make test`` begins with what it will take, and every part of it is timed."""

from __future__ import annotations

import subprocess
import sys

from tests.preflight import Tool, report
from tests.support.daemons import REPOSITORY


def test_what_is_lacking_is_named() -> None:
    """A program that is not here is named with the tests that are left out, and how to get it."""
    lines = report([Tool("no-such-program", "the impossible", "no-such-package"), Tool("sh", "everything", "dash")])
    assert "  lacking no-such-program: left out: the impossible (Debian: apt-get install no-such-package)" in lines
    assert not any("lacking sh:" in line for line in lines)


def test_a_part_is_timed_and_its_failure_kept() -> None:
    """A part runs as it would alone; its time is printed, and its exit code is the part's."""
    command = [sys.executable, "-m", "tests.preflight", "part", "trial", sys.executable, "-c", "raise SystemExit(3)"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 3
    assert done.stdout.startswith("== trial: failed (3) in 0 min")


def test_interrupts_reach_children() -> None:
    """Tests started in the background, where SIGINT is ignored, can still interrupt what they start."""
    child = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    script = f"import tests.conftest, subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    command = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", sys.executable, "-c", script]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.strip() == "True", done.stderr
