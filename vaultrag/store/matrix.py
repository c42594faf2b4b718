"""Vectors in memory, as int8, searched from end to end.

An exact scan beats every approximate index up to some hundred thousand notes, and int8 is a quarter of the bytes that
the scan has to read. Each row is scaled to its own largest component; the cosine so computed is off by about 0.002, so
the best are computed again from float32 by the caller.

Rows belong to an owner (a note) and an owner's rows stand together: one row for a note's own vector, several for its
passages. A row that is deleted or replaced is only marked; when a quarter is marked, the matrix is packed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import simsimd
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Codes = NDArray[np.int8]


def quantise(vectors: Vector) -> tuple[Codes, Vector]:
    """float32[n, dim] to (int8[n, dim], float32[n] scales): ``codes * scales[:, None]`` is about ``vectors``."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    scales = np.where(largest > 0, largest / 127.0, 1.0).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


@dataclass(frozen=True, slots=True)
class _Groups:
    """Which rows belong to whom. Neighbouring rows that are marked as deleted are a group of owner -1.

    Attributes:
        starts: int64[groups], ascending, the first of them 0.
        owners: int64[groups].
        places: Group of each owner.
        living: Groups that have an owner.
    """

    starts: NDArray[np.int64]
    owners: NDArray[np.int64]
    places: Mapping[int, int]
    living: NDArray[np.int64]

    @classmethod
    def of(cls, owners: NDArray[np.int64]) -> _Groups:
        starts = np.flatnonzero(np.diff(owners, prepend=-2))
        owning = owners[starts]
        living = np.flatnonzero(owning >= 0)
        return cls(starts, owning, dict(zip(owning[living].tolist(), living.tolist(), strict=True)), living)


class Matrix:
    """A growing int8 matrix with owners. All methods may be called from any thread."""

    def __init__(self, dimension: int, reserve: int = 256) -> None:
        self._dimension = dimension
        self._codes = np.empty((reserve, dimension), np.int8)
        self._scales = np.empty(reserve, np.float32)
        self._owners = np.empty(reserve, np.int64)
        self._size = 0
        self._dead = 0
        self._places: dict[int, tuple[int, int]] = {}
        self._groups: _Groups | None = None  # made at the first scan after a change
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Living rows."""
        return self._size - self._dead

    def __contains__(self, owner: int) -> bool:
        return owner in self._places

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._codes.nbytes + self._scales.nbytes + self._owners.nbytes

    def put(self, owner: int, codes: Codes, scales: Vector) -> None:
        """Give an owner its rows, in place of any it had."""
        self.put_many([owner], [len(codes)], codes, scales)

    def put_many(self, owners: Sequence[int], counts: Sequence[int], codes: Codes, scales: Vector) -> None:
        """Give owners their rows, in place of any they had.

        Args:
            owners: Each at most once.
            counts: How many of the rows belong to each owner, in order.
            codes: int8[sum(counts), dim].
            scales: float32[sum(counts)].
        """
        with self._lock:
            for owner in owners:
                self._drop(owner)
            if self._worth_packing():
                self._pack()
            self._grow(len(codes))
            self._groups = None
            end = self._size + len(codes)
            self._codes[self._size : end] = codes
            self._scales[self._size : end] = scales
            self._owners[self._size : end] = np.repeat(np.asarray(owners, np.int64), counts)
            for owner, count in zip(owners, counts, strict=True):
                if count:
                    self._places[owner] = (self._size, count)
                    self._size += count

    def delete(self, owners: Iterable[int]) -> None:
        """Forget these owners' rows."""
        with self._lock:
            for owner in owners:
                self._drop(owner)
            if self._worth_packing():
                self._pack()

    def scan(self, query: Vector) -> MatrixScan:
        """Compare a query with every row, once.

        Args:
            query: float32[dim], L2-normalised.
        """
        with self._lock:
            if self._groups is None:
                self._groups = _Groups.of(self._owners[: self._size])
            if not self._size:
                return MatrixScan(np.empty(0, np.float32), self._groups)
            codes, scales = quantise(query[None, :])
            products = simsimd.cdist(codes, self._codes[: self._size], metric="dot", out_dtype="float32")
            scores = np.asarray(products, np.float32).reshape(-1) * (self._scales[: self._size] * scales[0])
            return MatrixScan(scores, self._groups)

    def _drop(self, owner: int) -> None:
        start, count = self._places.pop(owner, (0, 0))
        self._owners[start : start + count] = -1
        self._dead += count
        self._groups = None if count else self._groups

    def _grow(self, count: int) -> None:
        needed = self._size + count
        if needed <= len(self._codes):
            return
        capacity = max(needed, len(self._codes) * 3 // 2)
        for name in ("_codes", "_scales", "_owners"):
            old = getattr(self, name)
            new = np.empty((capacity, *old.shape[1:]), old.dtype)
            new[: self._size] = old[: self._size]
            setattr(self, name, new)

    def _worth_packing(self) -> bool:
        return self._dead > 1024 and self._dead * 4 > self._size

    def _pack(self) -> None:
        keep = np.flatnonzero(self._owners[: self._size] >= 0)
        self._codes, self._scales, self._owners = self._codes[keep], self._scales[keep], self._owners[keep]
        self._size, self._dead = len(keep), 0
        self._places = {}
        starts = np.flatnonzero(np.diff(self._owners, prepend=-1))
        for start, end in zip(starts, [*starts, self._size][1:], strict=True):
            self._places[int(self._owners[start])] = (int(start), int(end - start))


class MatrixScan:
    """The cosines of one query with every row, at one moment."""

    def __init__(self, scores: Vector, groups: _Groups) -> None:
        self._scores = scores
        self._groups = groups
        # An owner's rows stand together, so that one pass over them finds the best of each.
        self._best = np.maximum.reduceat(scores, groups.starts) if len(scores) else scores

    def nearest(self, k: int, allowed: frozenset[int] | None = None) -> list[tuple[int, float]]:
        """The ``k`` best owners, each by its best row: (owner, cosine), best first."""
        groups = self._groups.living
        if allowed is not None:
            groups = groups[np.isin(self._groups.owners[groups], np.fromiter(allowed, np.int64, len(allowed)))]
        scores = self._best[groups]
        if k < len(groups):
            top = np.argpartition(scores, -k)[-k:]
            groups, scores = groups[top], scores[top]
        owners = self._groups.owners[groups]
        order = np.lexsort((owners, -scores))
        return list(zip(owners[order].tolist(), scores[order].tolist(), strict=True))

    def best_of(self, owners: Sequence[int]) -> dict[int, float]:
        """The best cosine of each of these owners that has a row."""
        known = [owner for owner in owners if owner in self._groups.places]
        best = self._best[[self._groups.places[owner] for owner in known]] if known else np.empty(0)
        return dict(zip(known, best.tolist(), strict=True))

    def best_row(self, owner: int) -> tuple[float, int] | None:
        """The owner's best row: (cosine, which of its rows); None for an owner without rows."""
        group = self._groups.places.get(owner)
        if group is None:
            return None
        starts = self._groups.starts
        start = int(starts[group])
        end = int(starts[group + 1]) if group + 1 < len(starts) else len(self._scores)
        row = int(self._scores[start:end].argmax())
        return float(self._scores[start + row]), row

    def background(self, without: frozenset[int] = frozenset()) -> tuple[float, float]:
        """Mean and standard deviation over all owners but these: what this query gets from the vault at large."""
        groups = self._groups.living
        if without:
            groups = groups[~np.isin(self._groups.owners[groups], np.fromiter(without, np.int64, len(without)))]
        scores = self._best[groups]
        return (float(scores.mean()), float(scores.std())) if len(scores) else (0.0, 0.0)
