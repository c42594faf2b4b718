"""Runs the benchmark and prints a table; `--json FILE` keeps it, with the machine and the versions."""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from tests.bench.vaults import QUERIES, Zipf, build, vocabulary
from vaultrag import __version__
from vaultrag.config import Places
from vaultrag.errors import VaultragError
from vaultrag.evaluate.metrics import percentile
from vaultrag.rpc.client import Client

ROOT = Path(__file__).parents[2]
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--idle", type=float, default=30.0, help="seconds of rest to measure")
    parser.add_argument("--keep", type=Path, help="folder for the generated vaults, to use again")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []

    def row(notes: int, name: str, value: float | dict[str, float], unit: str) -> None:
        rows.append({"notes": notes, "row": name, "value": value, "unit": unit})
        shown = (
            "  ".join(f"{key} {part:8.2f}" for key, part in value.items())
            if isinstance(value, dict)
            else f"{value:12.2f}"
        )
        print(f"{notes:>8}  {name:<42} {shown} {unit}", flush=True)

    with tempfile.TemporaryDirectory(prefix="vr-bench-") as scratch:
        for notes in arguments.notes:
            vault = (arguments.keep or Path(scratch)) / f"vault-{notes}"
            build(vault, notes)
            measure(notes, vault, Path(scratch) / f"h{notes}", arguments.idle, row)
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", "utf-8")


Row = Callable[[int, str, float | dict[str, float], str], None]


def measure(notes: int, vault: Path, home: Path, idle_s: float, row: Row) -> None:
    """Every row for one size of vault."""
    home.mkdir()
    with serving(home, vault) as (client, pid, started):
        first = wait_for(client, lambda status: status.vaults[0].notes >= notes and not status.vaults[0].to_read)
        row(notes, "first index, words", notes / max(first - started, 1e-9), "notes/s, process start included")
        done = wait_for(client, lambda status: status.state == "ready")
        row(notes, "first index, words and vectors (no model)", notes / max(done - started, 1e-9), "notes/s")
        row(notes, "private memory after indexing", private_mb(pid), "MB")
    with serving(home, vault) as (client, pid, started):
        row(notes, "start, unchanged, to the first answer", 1000 * (first_answer(client) - started), "ms")
        wait_for(client, lambda status: status.state == "ready")
        searches(notes, client, row)
        edit_to_found(notes, client, vault, row)
        time.sleep(2)
        before, begun = cpu_s(pid), time.monotonic()
        time.sleep(idle_s)
        row(notes, "CPU at rest", 100 * (cpu_s(pid) - before) / (time.monotonic() - begun), "% of a core")
        row(notes, "private memory at rest", private_mb(pid), "MB")
        sizes = {path.name: path.stat().st_size / 1e6 for path in home.rglob("*.db")}
        row(notes, "files", {name.split(".")[0]: size for name, size in sorted(sizes.items())}, "MB")


def searches(notes: int, client: Client, row: Row) -> None:
    """Fused searches with previews, through the socket; query vectors cost nothing here."""
    zipf = Zipf(vocabulary(), random.Random(3))
    everything: list[float] = []
    for kind, make in QUERIES.items():
        times = []
        for _ in range(60):
            query = make(zipf)
            begun = time.perf_counter()
            client.search(query, limit=10)
            times.append(1000 * (time.perf_counter() - begun))
        everything += times
        row(notes, f"search: {kind}", quantiles(times), "ms")
    row(notes, "search: all kinds", quantiles(everything), "ms")


def edit_to_found(notes: int, client: Client, vault: Path, row: Row) -> None:
    """From the write of a note to the answer that has it, the debounce included."""
    times = []
    for number in range(3):
        word = f"zyxquv{number}{random.Random(time.time_ns()).randrange(10**6)}"
        note = vault / f"edited {number}.md"
        note.write_text(f"A note with {word} in it.\n", "utf-8")
        begun = time.monotonic()
        while not client.search(word, limit=1, mode="words").hits:
            if time.monotonic() - begun > 60:
                raise SystemExit("an edit was not found within a minute")
            time.sleep(0.005)
        times.append(1000 * (time.monotonic() - begun))
        note.unlink()
    row(notes, "an edit, to found (debounce 1,500 ms included)", quantiles(times), "ms")


@contextmanager
def serving(home: Path, vault: Path) -> Iterator[tuple[Client, int, float]]:
    """A daemon process, a client of it, and when it was started."""
    environment = {**os.environ, "VAULTRAG_HOME": str(home)}
    log = (home / "bench.log").open("ab")
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.serve", str(vault)], cwd=ROOT, env=environment, stdout=log, stderr=log
    )
    try:
        places = Places.find(environment)
        while True:
            try:
                client = Client.connect(places, timeout_s=120)
                break
            except VaultragError:
                if process.poll() is not None:
                    raise SystemExit((home / "bench.log").read_text()) from None
                time.sleep(0.005)
        with client:
            yield client, process.pid, started
    finally:
        process.terminate()
        process.wait(60)
        log.close()


def wait_for(client: Client, condition: Callable[[Any], bool]) -> float:
    while True:
        status = client.status()
        if status.vaults and condition(status):
            return time.monotonic()
        time.sleep(0.02)


def first_answer(client: Client) -> float:
    while True:
        try:
            if client.search("a", limit=1, mode="words").state != "indexing":
                return time.monotonic()
        except VaultragError:
            pass
        time.sleep(0.005)


def quantiles(times: list[float]) -> dict[str, float]:
    return {name: percentile(times, share) for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}


def cpu_s(pid: int) -> float:
    """Seconds of processor time the process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def private_mb(pid: int) -> float:
    """Memory that is the process's own: mapped files count for nobody."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_")) / 1024


def machine() -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "vaultrag": __version__,
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
    }


if __name__ == "__main__":
    main()
