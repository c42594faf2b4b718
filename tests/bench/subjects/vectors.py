"""The vector arm by itself, in memory, up to sizes that no vault has had yet."""

from __future__ import annotations

import time

import numpy as np

from tests.bench.bounds import scan_bytes
from tests.bench.stage import Stage, subject
from vaultrag.storage.vectors.matrix import Matrix, quantise

BEYOND = 3
"""At the largest size of a run, the arm is measured at so many times that size too: 300,000 beside 100,000."""

_CHUNK = 20_000


@subject("vectors")
def vector_arm(stage: Stage) -> None:
    """One query against every note's vector, best hundred; and at three times the size."""
    for notes in (stage.notes, BEYOND * stage.notes):
        _measure(stage, notes)


def _measure(stage: Stage, notes: int) -> None:
    random = np.random.default_rng(notes)
    matrix = Matrix(stage.dimension, reserve=notes)
    for start in range(0, notes, _CHUNK):
        count = min(_CHUNK, notes - start)
        vectors = random.standard_normal((count, stage.dimension), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        matrix.put_many(range(start, start + count), [1] * count, *quantise(vectors))
    times, cpus = [], []
    for _ in range(max(20, stage.rounds)):
        query = random.standard_normal(stage.dimension, dtype=np.float32)
        query /= np.linalg.norm(query)
        begun, cpu = time.perf_counter(), time.thread_time()
        scan = matrix.scan(query)
        scan.nearest(100)
        scan.background()
        times.append(1000 * (time.perf_counter() - begun))
        cpus.append(1000 * (time.thread_time() - cpu))
    stage.row("vector arm, in memory", times, "ms", notes=notes, cpu=sorted(cpus)[len(cpus) // 2],
              bound=stage.bandwidth.ms(scan_bytes(notes, stage.dimension, 1)),
              bound_is=f"{notes:,} int8 vectors read once")  # fmt: skip
