"""How a fused search with previews compares with the plain tables, within one process and one run.

Both are asked in turn, query by query, so that whatever else the machine does slows both alike; what comes out is a
ratio, which means the same on any machine. Processor time tells more than the clock where the machine is busy, and the
clock tells of waiting, so both are taken.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.bench.clients import Asked
from tests.bench.plain import LIMIT, Plain
from tests.bench.queries import PLAIN_KINDS, some
from tests.bench.serve import HashOnly
from vaultrag.app import VaultService
from vaultrag.config import Places, Settings
from vaultrag.daemon.vaults import open_vault
from vaultrag.domain.requests import Search

__all__ = ["LIMIT", "Ratio", "compare", "opened", "queries", "searching", "searching_plain"]

WARMING = 8
"""First queries of each that are not counted."""

Searching = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Medians over the same queries: ours by the plain tables', by the clock and in processor time; and what was found.

    Attributes:
        hits: Results of ours by results of theirs.
    """

    clock: float
    cpu: float
    hits: float

    @property
    def least(self) -> float:
        """The one that a busy machine has spoiled less."""
        return min(self.clock, self.cpu)


def compare(ours: Searching, plain: Searching, queries: Sequence[str]) -> Ratio:
    """Ask both every query, in turn, each first as often as the other."""
    measured: list[list[tuple[float, float]]] = [[], []]
    hits = [0, 0]
    for number, query in enumerate(queries):
        turn = list(enumerate((ours, plain)))
        for which, search in turn if number % 2 else turn[::-1]:
            begun, cpu = time.perf_counter(), time.process_time()
            hits[which] += search(query)
            measured[which].append((time.perf_counter() - begun, time.process_time() - cpu))
    medians = [[median(column) for column in zip(*times[WARMING:], strict=True)] for times in measured]
    (clock, cpu), (plain_clock, plain_cpu) = medians
    return Ratio(clock / plain_clock, cpu / plain_cpu, hits[0] / hits[1])


def queries(notes: int, each: int) -> list[str]:
    """Queries that both understand, of every kind in turn."""
    streams: list[list[Asked]] = [some(kind, notes, each, seed=17) for kind in PLAIN_KINDS]
    return [one.text for kinds in zip(*streams, strict=True) for one in kinds]


def searching(service: VaultService) -> Searching:
    """A fused search with previews, as the socket's ``search`` asks for it; weak hits too, so that as many are made."""
    return lambda query: len(service.search(Search(query, limit=LIMIT, include_weak=True)).hits)


def searching_plain(plain: Plain) -> Searching:
    """The plain pipeline: as many results, with previews."""
    return lambda query: len(plain.fused(query))


@contextmanager
def opened(vault: Path, home: Path, notes: int, dimension: int = 384) -> Iterator[VaultService]:
    """The service as the daemon puts it together, with everything indexed."""
    settings = Settings()
    places = Places(home / "config.toml", home / "data", home / "run")
    embedders = HashOnly(settings, dimension)
    service = open_vault(vault.resolve(), places, settings, embedders)
    try:
        _until_ready(service, notes)
        yield service
    finally:
        service.close()
        embedders.close()


def _until_ready(service: VaultService, notes: int, timeout_s: float = 300) -> None:
    until = time.monotonic() + timeout_s
    pause = threading.Event()
    while True:
        status = service.status()
        if status.state == "ready" and status.embedded >= notes and not status.passages_pending:
            return
        if time.monotonic() > until:
            raise TimeoutError(f"the vault was not indexed within {timeout_s:.0f} s: {status}")
        pause.wait(0.02)
