"""What is said of many measurements: percentiles, and how a figure grows with the number of notes. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from vaultrag.evaluate.metrics import percentile

LINEAR = 1.05
"""An exponent above this is said to be worse than linear; what is below it, two runs on one machine differ by."""


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """The middle, and how bad it gets. With fewer than a hundred values, p99 is next to the worst of them."""
    return {name: percentile(list(values), share) for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}


def exponent(points: Mapping[int, float]) -> float | None:
    """The ``e`` of the line ``value = c * notes ** e`` that lies nearest to the points, by least squares of logarithms.

    Args:
        points: Number of notes to value. Values that are not positive tell nothing and are left out.

    Returns:
        None where there are fewer than two sizes.
    """
    usable = [(math.log(notes), math.log(value)) for notes, value in points.items() if notes > 0 and value > 0]
    if len(usable) < 2:
        return None
    mean_x = sum(x for x, _ in usable) / len(usable)
    mean_y = sum(y for _, y in usable) / len(usable)
    spread = sum((x - mean_x) ** 2 for x, _ in usable)
    return sum((x - mean_x) * (y - mean_y) for x, y in usable) / spread if spread else None


def last_exponent(points: Mapping[int, float]) -> float | None:
    """The exponent between the two largest sizes: what is constant hides growth in small vaults, and less so here."""
    return exponent({notes: points[notes] for notes in sorted(points)[-2:]})


def best_of(rounds: int, clock: Callable[[], float], action: Callable[[], object]) -> float:
    """The shortest of some rounds, in the clock's own unit: for bounds, which nothing can be faster than."""
    times = []
    for _ in range(rounds):
        begun = clock()
        action()
        times.append(clock() - begun)
    return min(times)
