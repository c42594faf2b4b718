"""What this machine needs at the least, measured in the same run, so that a figure can stand beside its bound.

- vectors: every byte that a scan reads, at the speed at which memory is read;
- words: every posting of the query's words, walked once without ranking;
- processes: the start of a Python that does nothing.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from tests.bench.statistics import best_of


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """How fast one thread reads memory that is in no cache."""

    bytes_per_s: float

    @classmethod
    def measured(cls, megabytes: int = 256) -> Bandwidth:
        block = np.ones(megabytes * 1_048_576 // 8, np.float64)
        # A maximum reads every element once, writes nothing, and runs in one thread whatever the library.
        seconds = best_of(5, time.perf_counter, block.max)
        return cls(block.nbytes / seconds)

    def ms(self, size: int) -> float:
        """Milliseconds for so many bytes."""
        return 1000 * size / self.bytes_per_s


@cache
def python_start_ms() -> float:
    """The start and end of a Python that imports nothing more than it must."""
    return 1000 * best_of(7, time.perf_counter, lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))


def scan_bytes(vectors: int, dimension: int, width: int) -> int:
    """Bytes of so many vectors. ``width``: 1 for int8, 4 for float32."""
    return vectors * dimension * width


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
