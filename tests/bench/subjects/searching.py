"""Fused searches with previews, through the socket, by kind of query and by how many ask at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.bounds import mean, scan_bytes
from tests.bench.clients import LIMIT, Asked, ask_all
from tests.bench.queries import KINDS, some
from tests.bench.stage import Stage, subject

CLIENTS = (1, 16, 64)
WARMING = 5
SAMPLE = 20
"""Queries of a kind whose bound is measured."""


@subject("search")
def by_kind(stage: Stage) -> None:
    """Every kind of query, asked by one client, by 16 and by 64; new queries each time, as people have them."""
    with stage.serving() as served:
        for warm in KINDS:
            for one in some(warm, stage.notes, WARMING, seed=77):
                served.client.search(one.text, limit=LIMIT, typing=one.typing)
        for kind in KINDS:
            for clients in CLIENTS:
                asked = some(kind, stage.notes, max(stage.rounds, 2 * clients), seed=clients)
                before = served.cpu_s()
                times = ask_all(served.home, asked, clients, stage.budget_s)
                cpu = 1000 * (served.cpu_s() - before) / len(times.ms)
                bound, bound_is = least(stage, kind, asked) if clients == 1 else (None, "")
                stage.row(
                    f"search: {kind}, {clients} client{'s' if clients > 1 else ''}", times.ms, "ms", cpu=cpu,
                    bound=bound, bound_is=bound_is,
                    note=f"{len(times.ms) / times.wall_s:,.0f} queries/s, {times.hits / len(times.ms):.1f} hits each",
                )  # fmt: skip


def least(stage: Stage, kind: str, asked: Sequence[Asked]) -> tuple[float | None, str]:
    """Milliseconds that such a query needs at the least, and what for: int8 vectors once through memory, the postings
    of its words once through the processor.
    """
    if kind == "filter only":
        return None, ""
    vectors = stage.bandwidth.ms(scan_bytes(stage.notes, stage.dimension, 1))
    plain = stage.plain()
    postings = mean([plain.postings_ms(one.text.partition("] ")[2] or one.text) for one in asked[:SAMPLE]])
    return vectors + postings, f"vectors {vectors:.3f}, postings {postings:.3f}"
