"""The search screen's start and its answer to a key, on a terminal.

The screen runs as a person's would, in a process of its own on a pseudo-terminal, with the real daemon behind it (query
vectors cost nothing, as in the other rows). A key's time ends with the last byte that is drawn because of it: the whole
answer, fused and previewed, not the first letter.
"""

from __future__ import annotations

import fcntl
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.bounds import python_start_ms
from tests.bench.machine import ROOT, cpu_s
from tests.bench.serving import installed
from tests.bench.stage import Stage, subject
from tests.bench.vaults import Zipf, vocabulary

QUIET_S = 0.6
"""When nothing has been drawn for so long, everything has been."""

COLUMNS, LINES = 120, 40


@subject("screen")
def screen(stage: Stage) -> None:
    """The search screen: its start to the last thing drawn, and a key to the whole answer drawn."""
    with stage.serving() as served:
        starts = [start(served.home, keys=False) for _ in range(7)]
        listed = start(served.home, keys=True, preview=False)
        typed = start(served.home, keys=True)
    stage.row("screen: start, to the drawn screen", [one.start_ms for one in starts], "ms",
              cpu=min(one.start_cpu_ms for one in starts), bound=python_start_ms(),
              bound_is="a Python that does nothing", grows=False)  # fmt: skip
    stage.row("screen: a key, to the whole list drawn", listed.keys_ms, "ms",
              cpu=listed.keys_cpu_ms / len(listed.keys_ms))  # fmt: skip
    stage.row("screen: a key, to the whole answer drawn", typed.keys_ms, "ms",
              cpu=typed.keys_cpu_ms / len(typed.keys_ms))  # fmt: skip


@dataclass
class Measured:
    """One run of the screen. Wall time is the machine's, busy or not; processor time is the screen's own."""

    start_ms: float = 0.0
    start_cpu_ms: float = 0.0
    keys_ms: list[float] = field(default_factory=list)
    keys_cpu_ms: float = 0.0


def start(home: Path, *, keys: bool, preview: bool = True) -> Measured:
    """Open the screen, and type some queries if wanted."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {**installed(home), "VAULTRAG_HOME": str(home), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    begun = time.perf_counter()
    options: dict[str, Any] = {"stdin": slave, "stdout": slave, "stderr": slave, "env": environment}
    process = subprocess.Popen([sys.executable, "-m", "vaultrag"], start_new_session=True, **options)
    os.close(slave)
    try:
        # The sentence in the empty list is the last thing to be drawn.
        until(master, b"Type to search")
        run = Measured(1000 * (time.perf_counter() - begun), 1000 * (cpu_s(process.pid) or 0.0))
        settle(master)
        if not preview:  # it waits until the selection rests, and is no part of a key's way to the list
            os.write(master, b"\x1bOQ")  # F2
            settle(master)
        before = cpu_s(process.pid) or 0.0
        if keys:
            zipf = Zipf(vocabulary(), random.Random(8))
            for _ in range(6):
                run.keys_ms += [press(master, char.encode()) for char in " ".join(zipf.words(3))]
                os.write(master, b"\x15")  # Ctrl+U empties the prompt
                settle(master)
        run.keys_cpu_ms = 1000 * ((cpu_s(process.pid) or 0.0) - before)
        return run
    finally:
        os.write(master, b"\x03")
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        os.close(master)


def press(master: int, key: bytes) -> float:
    """Milliseconds from a key to the last byte that it makes be drawn."""
    begun = last = time.perf_counter()
    os.write(master, key)
    while select.select([master], [], [], QUIET_S)[0]:
        os.read(master, 65_536)
        last = time.perf_counter()
    return 1000 * (last - begun)


def until(master: int, text: bytes) -> None:
    seen = b""
    while text not in seen:
        if not select.select([master], [], [], 30)[0]:
            raise SystemExit(f"the screen was not drawn: {seen[-2000:]!r}")
        seen += os.read(master, 65_536)


def settle(master: int) -> None:
    while select.select([master], [], [], QUIET_S)[0]:
        os.read(master, 65_536)
