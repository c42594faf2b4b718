"""What a person waits for before anything can be asked."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
import time

from tests.bench.bounds import python_start_ms
from tests.bench.machine import ROOT
from tests.bench.serving import POLL_S, Served, installed
from tests.bench.stage import Stage, subject
from vaultrag.errors import VaultragError


@subject("start")
def start(stage: Stage) -> None:
    """The daemon's start on a vault that has not changed, to the first answer and to the last vector in memory."""
    with stage.serving():
        pass  # so that there is an index
    first, looked, ready, cpus = [], [], [], []
    for _ in range(3 if stage.notes >= 50_000 else 5):
        with stage.starting() as served:
            state = _answered(served)
            first.append(1000 * (time.monotonic() - served.started))
            while state == "indexing":
                time.sleep(POLL_S / 2)
                state = _answered(served)
            looked.append(1000 * (time.monotonic() - served.started))
            ready.append(1000 * (served.wait_ready(stage.notes) - served.started))
            cpus.append(1000 * served.cpu_s())
    stage.row("start, nothing changed, to the first answer", first, "ms", bound=python_start_ms(),
              bound_is="a Python that does nothing")  # fmt: skip
    stage.row("start, nothing changed, until all files were looked at", looked, "ms")
    stage.row("start, nothing changed, until the answer is full", ready, "ms", cpu=min(cpus))


def _answered(served: Served) -> str:
    """The state of an answer; that of the first comes before anything was compared with the disk."""
    while True:
        with contextlib.suppress(VaultragError):
            return str(served.client.search("other words", limit=10, mode="words").state)
        time.sleep(POLL_S / 2)


@subject("help", once=True)
def show_help(stage: Stage) -> None:
    """`vaultrag --help`, from the key to the prompt: what every command pays before it does anything."""
    times, cpus = [], []
    command = [sys.executable, "-m", "vaultrag", "--help"]
    environment = {**installed(stage.folder / "help"), "VAULTRAG_HOME": str(stage.folder / "help")}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)  # which compiles it
    for _ in range(12):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        times.append(1000 * (time.perf_counter() - begun))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    stage.row("vaultrag --help", times, "ms", cpu=min(cpus), bound=python_start_ms(),
              bound_is="a Python that does nothing", grows=False)  # fmt: skip
