"""The search screen's start and its answer to a key, on a terminal: `python -m tests.bench.screen`.

The screen runs as a person's would, in a process of its own on a pseudo-terminal, with the real daemon behind it (query
vectors cost nothing, as in the other rows). A key's time ends with the last byte that is drawn because of it: the whole
answer, fused and previewed, not the first letter.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.__main__ import ROOT, cpu_s, machine, quantiles, serving, wait_for
from tests.bench.vaults import Zipf, build, vocabulary

QUIET_S = 0.6
"""When nothing has been drawn for so long, everything has been."""

COLUMNS, LINES = 120, 40


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.screen", description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--keep", type=Path, help="folder for the generated vault, to use again")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args()
    measured: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="vr-bench-") as scratch:
        vault = (arguments.keep or Path(scratch)) / f"vault-{arguments.notes}"
        build(vault, arguments.notes)
        home = Path(scratch) / "h"
        home.mkdir()
        with serving(home, vault) as (client, _, _):
            wait_for(client, lambda status: status.state == "ready" and status.vaults[0].notes >= arguments.notes)
            starts = [start(home, keys=False) for _ in range(7)]
            measured["start, to the drawn screen"] = quantiles([one.start_ms for one in starts])
            measured["start, processor time of it"] = quantiles([one.start_cpu_ms for one in starts])
            typed = start(home, keys=True)
            measured["a key, to the whole answer drawn"] = quantiles(typed.keys_ms)
            measured["a key, processor time of the screen"] = quantiles([typed.keys_cpu_ms / len(typed.keys_ms)])
    for name, values in measured.items():
        print(
            f"{arguments.notes:>8}  {name:<42} "
            + "  ".join(f"{key} {part:8.2f}" for key, part in values.items())
            + " ms"
        )
    if arguments.json:
        rows = [
            {"notes": arguments.notes, "row": name, "value": value, "unit": "ms"} for name, value in measured.items()
        ]
        arguments.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", "utf-8")


@dataclass
class Measured:
    """One run of the screen. Wall time is the machine's, busy or not; processor time is the screen's own."""

    start_ms: float = 0.0
    start_cpu_ms: float = 0.0
    keys_ms: list[float] = field(default_factory=list)
    keys_cpu_ms: float = 0.0


def start(home: Path, *, keys: bool) -> Measured:
    """Open the screen, and type some queries if wanted."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {**os.environ, "VAULTRAG_HOME": str(home), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    begun = time.perf_counter()
    options: dict[str, Any] = {"stdin": slave, "stdout": slave, "stderr": slave, "env": environment}
    process = subprocess.Popen([sys.executable, "-m", "vaultrag"], start_new_session=True, **options)
    os.close(slave)
    try:
        # The sentence in the empty list is the last thing to be drawn.
        until(master, b"Type to search")
        run = Measured(1000 * (time.perf_counter() - begun), 1000 * cpu_s(process.pid))
        settle(master)
        before = cpu_s(process.pid)
        if keys:
            zipf = Zipf(vocabulary(), random.Random(8))
            for _ in range(6):
                run.keys_ms += [press(master, char.encode()) for char in " ".join(zipf.words(3))]
                os.write(master, b"\x15")  # Ctrl+U empties the prompt
                settle(master)
        run.keys_cpu_ms = 1000 * (cpu_s(process.pid) - before)
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


if __name__ == "__main__":
    main()
