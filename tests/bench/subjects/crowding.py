"""One honest client's searches beside a note of 9.9 MB and beside five clients that pipeline, by those at rest."""

from __future__ import annotations

import os
import random
import string
import subprocess
import sys
import time
from collections.abc import Callable

from tests.bench.clients import Asked
from tests.bench.machine import ROOT
from tests.bench.queries import PLAIN_KINDS, some
from tests.bench.serving import Served, is_ready
from tests.bench.stage import Stage, subject
from tests.bench.statistics import quantiles
from tests.bench.vaults import whole_mark

LARGE_CHARS = 9_900_000
FLOODING = 5
AIM = 4.0


@subject("crowd")
def crowded(stage: Stage) -> None:
    """Rows: the p95 at rest, and the p95 beside each by it."""
    with stage.serving() as served:
        queries = [one for kind in PLAIN_KINDS for one in some(kind, stage.notes, 400, seed=11)]
        random.Random(5).shuffle(queries)
        rest = _asked(served, queries, _until(stage.budget_s))
        flooded = _beside_flood(stage, served, queries)
        large = _beside_large_note(stage, served, queries)
    stage.row("search at rest, one client", rest, "ms")
    for what, times in ((f"{FLOODING} clients that pipeline", flooded), ("a note of 9.9 MB", large)):
        stage.row(f"search beside {what}", times, "ms")
        ratio = quantiles(times)["p95"] / quantiles(rest)["p95"]
        stage.row(f"p95 beside {what}, by p95 at rest", ratio, "times", bound=AIM, bound_is="the aim", grows=False)


def _beside_flood(stage: Stage, served: Served, queries: list[Asked]) -> list[float]:
    flood = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.flooding", str(FLOODING)],
        env={**os.environ, "VAULTRAG_HOME": str(stage.home)},
        cwd=ROOT,
    )
    try:
        before = served.cpu_s()
        while served.cpu_s() - before < 0.5:  # they have begun
            time.sleep(0.05)
        return _asked(served, queries, _until(stage.budget_s))
    finally:
        flood.kill()
        flood.wait()


def _beside_large_note(stage: Stage, served: Served, queries: list[Asked]) -> list[float]:
    """From the moment it is saved until its words are in the index."""
    source = random.Random(7)
    lines = ("".join(source.choices(string.ascii_lowercase + " " * 5, k=80)) for _ in range(LARGE_CHARS // 81))
    note = stage.vault / "A large note.md"
    mark = whole_mark(stage.vault, stage.notes)
    mark.unlink()  # should this run be cut short, the next one makes the vault anew
    note.write_text("\n".join(lines))
    try:
        served.wait(lambda vault: not is_ready(vault), timeout_s=60)
        return _asked(served, queries, lambda: served.client.status().vaults[0].state != "indexing")
    finally:
        note.unlink()
        served.wait(lambda vault: is_ready(vault) and vault.notes == stage.notes)
        mark.touch()


def _until(budget_s: float) -> Callable[[], bool]:
    end = time.monotonic() + budget_s
    return lambda: time.monotonic() > end


def _asked(served: Served, queries: list[Asked], ended: Callable[[], bool]) -> list[float]:
    times: list[float] = []
    while len(times) < 20 or not ended():
        begun = time.perf_counter()
        served.client.search(queries[len(times) % len(queries)].text, limit=10)
        times.append(1000 * (time.perf_counter() - begun))
    return times
