"""Searches while the whole vault is read again and its vectors are made again, beside searches at rest."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench.clients import Asked
from tests.bench.queries import PLAIN_KINDS, some
from tests.bench.serving import Served, is_ready
from tests.bench.stage import Stage, subject
from tests.bench.statistics import quantiles
from tests.bench.vaults import whole_mark


@subject("reindex")
def while_reindexing(stage: Stage) -> None:
    """Searches while every note of the vault has changed; the last row is their p95 by the p95 at rest."""
    with stage.serving() as served:
        queries = [one for kind in PLAIN_KINDS for one in some(kind, stage.notes, 400, seed=9)]
        queries = queries[::400] + [one for at in range(1, 400) for one in queries[at::400]]
        rest = _ask(served, queries[: 4 * stage.rounds], stage.budget_s * 2)
        with _every_note_changed(stage):
            served.client.reindex()
            begun = time.monotonic()
            served.wait(lambda vault: not is_ready(vault), timeout_s=60)
            busy: list[float] = []
            for one in _again(queries[4 * stage.rounds :]):
                busy.append(_timed(served, one))
                if len(busy) % 10 == 0 and is_ready(served.client.status().vaults[0]):
                    break
            took = time.monotonic() - begun
        served.client.reindex()
        served.wait(lambda vault: not is_ready(vault), timeout_s=60)
        served.wait_ready(stage.notes)
    stage.row("search at rest, kinds mixed", rest, "ms")
    stage.row("search while everything is indexed again", busy, "ms", note=f"indexing took {took:.1f} s meanwhile")
    ratio = quantiles(busy)["p95"] / quantiles(rest)["p95"]
    stage.row("p95 while indexing, by p95 at rest", ratio, "times", bound=3.0, bound_is="the aim", grows=False)


def _ask(served: Served, queries: list[Asked], budget_s: float) -> list[float]:
    begun = time.monotonic()
    times: list[float] = []
    for one in queries:
        times.append(_timed(served, one))
        if time.monotonic() - begun > budget_s:
            break
    return times


def _timed(served: Served, one: Asked) -> float:
    begun = time.perf_counter()
    served.client.search(one.text, limit=10)
    return 1000 * (time.perf_counter() - begun)


def _again(queries: list[Asked]) -> Iterator[Asked]:
    while True:
        yield from queries


@contextmanager
def _every_note_changed(stage: Stage) -> Iterator[None]:
    """A line more in every note; afterwards they are as they were, to the nanosecond."""
    mark = whole_mark(stage.vault, stage.notes)
    mark.unlink()  # should this run be cut short, the next one makes the vault anew
    before = {path: (stage.vault / path).stat() for path in stage.paths}
    for path in stage.paths:
        with (stage.vault / path).open("ab") as file:
            file.write(b"\nA line that was not there before.\n")
    try:
        yield
    finally:
        for path, was in before.items():
            os.truncate(stage.vault / path, was.st_size)
            os.utime(stage.vault / path, ns=(was.st_atime_ns, was.st_mtime_ns))
        mark.touch()
