"""Clients that ask at the same time, in a process of their own: `python -m tests.bench.clients`, used by ``searching``.

A job comes in on standard input and its times go out on standard output, both as JSON. Each client has a connection of
its own and asks one query after the other, as a person or a program does; so many clients, so many queries in flight.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.machine import ROOT
from vaultrag.rpc.client import AsyncClient

LIMIT = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A query; ``typing``: its last word may go on."""

    text: str
    typing: bool = False


@dataclass(frozen=True, slots=True)
class Times:
    """What came of a job.

    Attributes:
        ms: Of each query that was answered, from its first byte sent to its answer decoded.
        wall_s: From the first query to the last answer.
        hits: Of all answers together.
    """

    ms: list[float]
    wall_s: float
    hits: int


def ask_all(home: Path, asked: Sequence[Asked], clients: int, budget_s: float) -> Times:
    """Let so many clients share these queries, in another process; none is begun when the budget is spent."""
    job = {"asked": [asdict(one) for one in asked], "clients": clients, "budget_s": budget_s}
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.clients"],
        input=json.dumps(job),
        env={**os.environ, "VAULTRAG_HOME": str(home)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the clients failed:\n{done.stderr[-3000:]}")
    return Times(**json.loads(done.stdout))


async def _run(asked: list[Asked], clients: int, budget_s: float) -> Times:
    connections = [await AsyncClient.connect(timeout_s=60) for _ in range(clients)]
    times: list[float] = []
    hits = 0
    queries = iter(asked)
    begun = time.perf_counter()

    async def ask(client: AsyncClient) -> None:
        nonlocal hits
        for one in queries:  # shared: the next query goes to whoever is free
            if time.perf_counter() - begun > budget_s and len(times) >= clients:
                return
            sent = time.perf_counter()
            answer = await client.search(one.text, limit=LIMIT, typing=one.typing)
            times.append(1000 * (time.perf_counter() - sent))
            hits += len(answer.hits)

    await asyncio.gather(*(ask(client) for client in connections))
    wall = time.perf_counter() - begun
    for client in connections:
        await client.close()
    return Times(times, wall, hits)


if __name__ == "__main__":
    job = json.load(sys.stdin)
    print(
        json.dumps(asdict(asyncio.run(_run([Asked(**one) for one in job["asked"]], job["clients"], job["budget_s"]))))
    )
