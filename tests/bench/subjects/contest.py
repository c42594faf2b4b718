"""Everybody the same queries, in turn: vaultrag through its socket, then each peer, query by query."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.bench.clients import Asked
from tests.bench.peers import LIMIT, Ask, CannotRun, Peer, all_peers
from tests.bench.queries import PLAIN_KINDS, some
from tests.bench.stage import Stage, subject
from tests.bench.statistics import quantiles

OURS = "vaultrag, through the socket, with previews"
WARMING = 3


@dataclass(slots=True)
class _Entrant:
    name: str
    ask: Ask
    what: str = ""
    cpu_s: Callable[[], float] | None = None
    ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    hits: int = 0

    def answer(self, query: str) -> None:
        cpu = self.cpu_s() if self.cpu_s is not None else 0.0
        begun = time.perf_counter()
        self.hits += self.ask(query)
        self.ms.append(1000 * (time.perf_counter() - begun))
        if self.cpu_s is not None:
            self.cpu_ms.append(1000 * (self.cpu_s() - cpu))


@subject("peers")
def contest(stage: Stage) -> None:
    """The same notes and queries for other programs, ten results each; the last figure is their time by ours."""
    queries = [query.text for kinds in zip(*_streams(stage), strict=True) for query in kinds]
    with ExitStack() as stack:
        served = stack.enter_context(stage.serving())
        entrants = [
            _Entrant(OURS, lambda query: len(served.client.search(query, limit=LIMIT).hits), cpu_s=served.cpu_s)
        ]
        for peer in all_peers():
            opened = _open(stage, stack, peer)
            if opened is not None:
                entrants.append(_Entrant(peer.name, opened, peer.what, time.process_time if peer.here else None))
        for warm in some(PLAIN_KINDS[1], stage.notes, WARMING, seed=99):
            for entrant in entrants:
                entrant.ask(warm.text)
        failed = _run(entrants, queries, stage.budget_s)
    ours = quantiles(entrants[0].ms)["p50"]
    for entrant in entrants:
        if entrant.name in failed:
            stage.cannot(f"peer: {entrant.name}", failed[entrant.name])
            continue
        times = quantiles(entrant.ms)["p50"] / ours
        name = entrant.name if entrant.name == OURS else f"peer: {entrant.name}"
        stage.row(
            name, entrant.ms, "ms",
            cpu=quantiles(entrant.cpu_ms)["p50"] if entrant.cpu_ms else None,
            note=f"{times:,.2f} times ours; {entrant.hits / len(entrant.ms):.1f} results; {entrant.what}".rstrip("; "),
        )  # fmt: skip


def _streams(stage: Stage) -> list[list[Asked]]:
    return [list(some(kind, stage.notes, stage.rounds, seed=41)) for kind in PLAIN_KINDS]


def _open(stage: Stage, stack: ExitStack, peer: Peer) -> Ask | None:
    try:
        return stack.enter_context(peer.open(stage))
    except CannotRun as reason:
        stage.cannot(f"peer: {peer.name}", str(reason))
        return None


def _run(
    entrants: list[_Entrant], queries: list[str], budget_s: float, clock: Callable[[], float] = time.monotonic
) -> dict[str, str]:
    """Ask in turn; an entrant whose time is spent is passed by. Returns those that failed, with the reason."""
    spent = dict.fromkeys((entrant.name for entrant in entrants), 0.0)
    failed: dict[str, str] = {}
    for query in queries:
        for entrant in entrants:
            if entrant.name in failed or spent[entrant.name] > 2 * budget_s:
                continue
            begun = clock()
            try:
                entrant.answer(query)
            except CannotRun as reason:
                failed[entrant.name] = str(reason)
            spent[entrant.name] += clock() - begun
    return failed
