"""Arithmetic on vectors: check what an embedder answered, normalise it, pool several into one.

Zero and non-finite vectors end here. sqlite-vec takes them, and then ranks them first with no distance at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vaultrag.errors import BadVectors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from vaultrag.domain import Vector

SMALLEST_NORM = 1e-6
"""A shorter vector has no direction to speak of."""


def normalise(rows: ArrayLike) -> Vector:
    """L2-normalise.

    Args:
        rows: [n, dim] or [dim], any float type, any length.

    Returns:
        float32 of the same shape, each row of length 1.

    Raises:
        BadVectors: A row is zero or not finite.
    """
    # float64 on the way: a float32 sum of squares overflows from 1e19 on.
    array = np.asarray(rows, dtype=np.float64)
    if not np.isfinite(array).all():
        raise BadVectors("the embedder answered with values that are not finite")
    norms = np.linalg.norm(array, axis=-1, keepdims=True)
    if array.size and norms.min() < SMALLEST_NORM:
        raise BadVectors("the embedder answered with a zero vector")
    unit: Vector = (array / norms).astype(np.float32)
    return unit


def checked(rows: Sequence[Sequence[float]], count: int, dimension: int) -> Vector:
    """Take a server's answer only if it has one vector for each text, all of the right size.

    Args:
        rows: As parsed from JSON.
        count: How many texts were sent.
        dimension: What the index holds; 0 takes any.

    Returns:
        float32[count, dim], rows L2-normalised.

    Raises:
        BadVectors: Wrong count, wrong or mixed dimension, zero or non-finite values.
    """
    if len(rows) != count:
        raise BadVectors(f"the embedder answered {len(rows)} vectors to {count} texts")
    sizes = {len(row) for row in rows}
    if dimension and sizes - {dimension}:
        raise BadVectors(
            f"the embedder answered with vectors of {_listed(sizes)} numbers, the index holds {dimension}; "
            "the notes are safe, and words are searched",
            hint="vaultrag reindex (it asks which model it is, and makes the vectors again)",
        )
    if len(sizes) > 1 or 0 in sizes:
        raise BadVectors(f"the embedder answered with vectors of {_listed(sizes)} numbers")
    return normalise(rows)


def weighted_mean(rows: Vector, weights: Sequence[float] | None = None) -> Vector:
    """Pool vectors into one.

    Args:
        rows: float32[n, dim], n at least 1.
        weights: One a row, not all zero; without them each row counts the same.

    Returns:
        float32[dim], L2-normalised.

    Raises:
        BadVectors: The rows cancel out or are not finite.
    """
    return normalise(np.average(rows, axis=0, weights=weights))


def _listed(sizes: set[int]) -> str:
    return ", ".join(map(str, sorted(sizes)))
