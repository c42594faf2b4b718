"""Vectors in memory, as int8 or as one bit a number, searched from end to end.

An exact scan beats every approximate index up to some hundred thousand notes, and int8 is a quarter of the bytes that
the scan has to read. Each row is scaled to its own largest component; the cosine so computed is off by about 0.002, so
the best are computed again from float32 by the caller. One bit a number is an eighth of that again, and good enough to
choose which vectors are worth to be read from the disk.

Rows belong to an owner (a note) and an owner's rows stand together: one row for a note's own vector, several for its
passages. A row that is deleted or replaced is only marked; when a quarter is marked, the matrix is packed.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

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


def compare(query: Vector, codes: Codes, scales: Vector) -> Vector:
    """Return the cosines of a query, float32[dim], with the vectors of these codes: float32[n]."""
    query_codes, query_scales = quantise(query[None, :])
    products = simsimd.cdist(query_codes, codes, metric="dot", out_dtype="float32")
    cosines: Vector = np.asarray(products, np.float32).reshape(-1) * (scales * query_scales[0])
    return cosines


def signs(codes: Codes) -> NDArray[np.uint8]:
    """Keep one bit a number, int8[n, dim] to uint8[n, ceil(dim / 8)]: whether it is above zero."""
    return np.packbits(codes > 0, axis=1)


def compare_signs(query: Vector, bits: NDArray[np.uint8]) -> Vector:
    """Estimate the cosines of a query, float32[dim], with the vectors of these signs: float32[n].

    By the angle that a share of unequal signs stands for (Charikar, STOC 2002). Fit to choose by, not to score by.
    """
    asked = np.packbits(query > 0)[None, :]
    unequal = simsimd.cdist(asked, bits, metric="hamming", dtype="bin8", out_dtype="float32")
    cosines: Vector = np.cos(np.asarray(unequal, np.float32).reshape(-1) * np.float32(math.pi / len(query)))
    return cosines


@dataclass(frozen=True, slots=True)
class _Groups:
    """The owner of each row. Neighbouring rows that are marked as deleted are a group of owner -1.

    Attributes:
        starts: int64[groups], ascending, the first of them 0.
        living: Groups that have an owner, int64[owners], by owner.
        owners: int64[owners], ascending.
    """

    starts: NDArray[np.int64]
    living: NDArray[np.int64]
    owners: NDArray[np.int64]

    @classmethod
    def of(cls, owners: NDArray[np.int64]) -> _Groups:
        starts = np.flatnonzero(np.diff(owners, prepend=-2))
        owning = owners[starts]
        living = np.flatnonzero(owning >= 0)
        living = living[np.argsort(owning[living])]
        return cls(starts, living, owning[living])

    def find(self, owners: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the places of these owners in ``owners``, and which of them have one."""
        if not len(self.owners):
            return np.zeros(len(owners), np.int64), np.zeros(len(owners), np.bool_)
        places = np.minimum(np.searchsorted(self.owners, owners), len(self.owners) - 1)
        return places, np.asarray(self.owners[places] == owners)

    def among(self, owners: frozenset[int], *, invert: bool = False) -> NDArray[np.bool_]:
        """Return which of the living groups belong to these owners; with ``invert``: to others."""
        return np.isin(self.owners, np.fromiter(owners, np.int64, len(owners)), assume_unique=True, invert=invert)


class Matrix:
    """A growing matrix with owners, of int8 codes or of one bit a number. All methods may be called from any thread."""

    def __init__(self, dimension: int, reserve: int = 256, *, bits: bool = False) -> None:
        self._dimension = dimension
        self._bits = bits
        self._codes: NDArray[Any] = (
            np.empty((reserve, (dimension + 7) // 8), np.uint8) if bits else np.empty((reserve, dimension), np.int8)
        )
        self._scales = np.empty(reserve, np.float32)
        self._owners = np.empty(reserve, np.int64)
        self._size = 0
        self._dead = 0
        # By owner, which are small numbers: its first row, and how many it has. (A dict takes twenty times the room.)
        self._starts = np.zeros(0, np.int32)
        self._counts = np.zeros(0, np.int32)
        self._groups: _Groups | None = None  # made at the first scan after a change
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Living rows."""
        return self._size - self._dead

    def __contains__(self, owner: int) -> bool:
        return 0 <= owner < len(self._counts) and bool(self._counts[owner])

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        arrays = (self._codes, self._scales, self._owners, self._starts, self._counts)
        return sum(array.nbytes for array in arrays)

    def put(self, owner: int, codes: Codes, scales: Vector) -> None:
        """Give an owner its rows, in place of any it had."""
        self.put_many([owner], [len(codes)], codes, scales)

    def put_many(self, owners: Sequence[int], counts: Sequence[int], codes: Codes, scales: Vector) -> None:
        """Give owners their rows, in place of any they had.

        Args:
            owners: Each at most once, from 0.
            counts: How many of the rows belong to each owner, in order.
            codes: int8[sum(counts), dim].
            scales: float32[sum(counts)].
        """
        kept = signs(codes) if self._bits else codes
        ids, sizes = np.asarray(owners, np.int64), np.asarray(counts, np.int32)
        with self._lock:
            self._drop(ids)
            if self._worth_packing():
                self._pack()
            self._grow(len(codes), int(ids.max(initial=-1)) + 1)
            self._groups = None
            end = self._size + len(codes)
            self._codes[self._size : end] = kept
            self._scales[self._size : end] = scales
            self._owners[self._size : end] = np.repeat(ids, sizes)
            self._starts[ids] = self._size + np.cumsum(sizes) - sizes
            self._counts[ids] = sizes
            self._size = end

    def delete(self, owners: Iterable[int]) -> None:
        """Forget these owners' rows."""
        with self._lock:
            self._drop(np.unique(np.fromiter(owners, np.int64)))
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
            # In one thread: what else an answer needs is looked up meanwhile, and has the other processor.
            codes = self._codes[: self._size]
            scores = compare_signs(query, codes) if self._bits else compare(query, codes, self._scales[: self._size])
            groups = self._groups
        return MatrixScan(scores, groups)

    def _drop(self, owners: NDArray[np.int64]) -> None:
        """Mark the rows of these owners, each of which stands there once."""
        owners = owners[owners < len(self._counts)]
        starts, counts = self._starts[owners], self._counts[owners]
        total = int(counts.sum())
        if total:
            self._owners[np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(total)] = -1
            self._counts[owners] = 0
            self._dead += total
            self._groups = None

    def _grow(self, rows: int, owners: int) -> None:
        """Make room for so many more rows, and for owners below this number."""
        if self._size + rows > len(self._codes):
            capacity = max(self._size + rows, len(self._codes) * 3 // 2)
            for name in ("_codes", "_scales", "_owners"):
                old = getattr(self, name)
                new = np.empty((capacity, *old.shape[1:]), old.dtype)
                new[: self._size] = old[: self._size]
                setattr(self, name, new)
        if owners > len(self._counts):
            more = np.zeros(max(owners, len(self._counts) * 3 // 2) - len(self._counts), np.int32)
            self._starts, self._counts = np.concatenate([self._starts, more]), np.concatenate([self._counts, more])

    def _worth_packing(self) -> bool:
        return self._dead > 1024 and self._dead * 4 > self._size

    def _pack(self) -> None:
        keep = np.flatnonzero(self._owners[: self._size] >= 0)
        self._codes, self._scales, self._owners = self._codes[keep], self._scales[keep], self._owners[keep]
        self._size, self._dead = len(keep), 0
        starts = np.flatnonzero(np.diff(self._owners, prepend=-1))
        self._starts[self._owners[starts]] = starts


class MatrixScan:
    """The cosines of one query with every row, at one moment."""

    def __init__(self, scores: Vector, groups: _Groups) -> None:
        self._scores = scores
        self._groups = groups
        # An owner's rows stand together, so that one pass over them finds the best of each.
        best = np.maximum.reduceat(scores, groups.starts) if len(scores) else scores
        self._best = best[groups.living]  # by owner

    def nearest(self, k: int, allowed: frozenset[int] | None = None) -> tuple[NDArray[np.int64], Vector]:
        """Return the ``k`` best owners, each by its best row: int64[k] and their cosines, float32[k]; best first."""
        owners, scores = self._groups.owners, self._best
        if allowed is not None:
            among = self._groups.among(allowed)
            owners, scores = owners[among], scores[among]
        if k < len(owners):
            top = np.flatnonzero(scores >= np.partition(scores, -k)[-k])  # k, and what is as good as the last of them
            owners, scores = owners[top], scores[top]
        order = np.lexsort((owners, -scores))[:k]
        return owners[order], scores[order]

    def best_of(self, owners: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the best cosine of each of these owners, float64[len(owners)]; NaN for one without a row."""
        places, known = self._groups.find(owners)
        best = np.full(len(owners), np.nan)
        best[known] = self._best[places[known]]
        return best

    def counts(self, owners: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many rows each of these owners has, int64[len(owners)]."""
        places, known = self._groups.find(owners)
        ends = np.append(self._groups.starts[1:], len(self._scores))
        groups = self._groups.living[places[known]]
        counts = np.zeros(len(owners), np.int64)
        counts[known] = ends[groups] - self._groups.starts[groups]
        return counts

    def best_row(self, owner: int) -> tuple[float, int] | None:
        """Return the owner's best row: (cosine, which of its rows); None for an owner without rows."""
        owners, starts = self._groups.owners, self._groups.starts
        place = int(np.searchsorted(owners, owner))
        if place == len(owners) or owners[place] != owner:
            return None
        group = int(self._groups.living[place])
        start = int(starts[group])
        end = int(starts[group + 1]) if group + 1 < len(starts) else len(self._scores)
        row = int(self._scores[start:end].argmax())
        return float(self._scores[start + row]), row

    def background(self, without: frozenset[int] = frozenset()) -> tuple[float, float]:
        """Mean and standard deviation over all owners but these: what this query gets from the vault at large."""
        scores = self._best[self._groups.among(without, invert=True)] if without else self._best
        if not len(scores):
            return 0.0, 0.0
        mean = float(scores.mean())
        return mean, math.sqrt(max(0.0, float(scores @ scores) / len(scores) - mean * mean))
