"""The matrix of int8 rows: a dictionary that can be scanned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.support.stores import DIMENSION, unit_rows
from vaultrag.storage.vectors.matrix import Matrix, MatrixScan, quantise

Rows = NDArray[np.float32]


def _model_best(model: dict[int, Rows], query: Rows) -> dict[int, float]:
    return {owner: float((rows @ query).max()) for owner, rows in model.items() if len(rows)}


def _nearest(scan: MatrixScan, k: int, allowed: frozenset[int] | None = None) -> dict[int, float]:
    owners, cosines = scan.nearest(k, allowed)
    return dict(zip(owners.tolist(), cosines.tolist(), strict=True))


def _check(matrix: Matrix, model: dict[int, Rows], query: Rows) -> None:
    best = _model_best(model, query)
    scan = matrix.scan(query)
    found = _nearest(scan, len(model) + 3)
    assert found.keys() == best.keys()
    assert found == pytest.approx(best, abs=0.02)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert len(matrix) == sum(len(rows) for rows in model.values())
    for owner, rows in model.items():
        if len(rows):
            row = scan.best_row(owner)
            assert row is not None
            assert row[1] in np.flatnonzero(rows @ query >= best[owner] - 0.02)
        else:
            assert scan.best_row(owner) is None
    asked = np.array([*model, 998, 999], np.int64)
    wanted = [best.get(owner, np.nan) for owner in asked.tolist()]
    assert scan.best_of(asked) == pytest.approx(wanted, abs=0.02, nan_ok=True)


STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "put", "put", "many", "delete"]), st.integers(1, 6), st.integers(0, 4)),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, packing=st.booleans())
def test_like_a_dictionary(steps: list[tuple[str, int, int]], packing: bool) -> None:
    """After any puts and deletions, a scan sees exactly the rows that a dictionary would hold."""
    matrix, model = Matrix(DIMENSION, reserve=2), dict[int, Rows]()
    if packing:
        matrix._worth_packing = lambda: matrix._dead > 0  # type: ignore[method-assign]
    for number, (kind, owner, count) in enumerate(steps):
        rows = unit_rows(count, number) if count else np.empty((0, DIMENSION), np.float32)
        if kind == "put":
            matrix.put(owner, *quantise(rows))
            model[owner] = rows
        elif kind == "delete":
            matrix.delete([owner, owner + 1])
            model.pop(owner, None)
            model.pop(owner + 1, None)
        else:
            owners = [owner, owner + 10]
            both = np.concatenate([rows, rows])
            matrix.put_many(owners, [count, count], *quantise(both))
            model.update(dict.fromkeys(owners, rows))
        _check(matrix, model, unit_rows(1, number + 100)[0])


def test_replacing_does_not_grow() -> None:
    """A note that is edited again and again takes no more memory than once."""
    matrix = Matrix(DIMENSION)
    rows = quantise(unit_rows(10))
    for _ in range(5_000):
        matrix.put(1, *rows)
    assert len(matrix) == 10
    assert matrix.nbytes < 5_000 * DIMENSION


def test_deleting_gives_memory_back() -> None:
    """Deleting most of the rows gives their memory back."""
    matrix = Matrix(DIMENSION)
    matrix.put_many(range(5_000), [1] * 5_000, *quantise(unit_rows(5_000)))
    full = matrix.nbytes
    matrix.delete(range(1, 5_000))
    assert matrix.nbytes < full / 100 + 5_001 * 8  # but for where each owner's rows would be
    assert 0 in matrix
    assert 1 not in matrix


def test_empty() -> None:
    """An empty matrix is scanned like any other, and finds nothing."""
    scan = Matrix(DIMENSION).scan(unit_rows(1)[0])
    assert _nearest(scan, 5) == {}
    assert np.isnan(scan.best_of(np.array([1]))).all()
    assert scan.best_row(1) is None
    assert scan.background() == (0.0, 0.0)


def test_only_allowed() -> None:
    """Owners outside the filter are not seen, however near."""
    matrix, rows = Matrix(DIMENSION), unit_rows(50)
    matrix.put_many(range(50), [1] * 50, *quantise(rows))
    allowed = frozenset({3, 17, 999})
    assert _nearest(matrix.scan(rows[20]), 10, allowed).keys() == {3, 17}
    assert _nearest(matrix.scan(rows[20]), 10, frozenset()) == {}


def test_many_rows_of_one_owner() -> None:
    """An owner that holds all of the nearest rows does not hide the next owners."""
    matrix, query = Matrix(DIMENSION), unit_rows(1)
    matrix.put(1, *quantise(np.repeat(query, 500, axis=0)))
    matrix.put(2, *quantise(unit_rows(1, 5)))
    assert list(_nearest(matrix.scan(query[0]), 2)) == [1, 2]


def test_a_scan_stands_still() -> None:
    """What happens after a scan does not change what it saw, nor make it see another's rows."""
    matrix, rows = Matrix(DIMENSION), unit_rows(3)
    matrix.put_many([1, 2, 3], [1, 1, 1], *quantise(rows))
    scan = matrix.scan(rows[0])
    matrix.delete([1])
    matrix.put(2, *quantise(unit_rows(4, 9)))
    assert list(_nearest(scan, 1)) == [1]
    assert scan.best_row(3) is not None
    for owner in (1, 2):
        assert scan.best_row(owner) is None or scan.best_row(owner)[1] == 0  # type: ignore[index]


def test_quantise() -> None:
    """Codes times scales are the vectors, within half a step; a zero row stays zero."""
    rows = np.concatenate([unit_rows(20), np.zeros((1, DIMENSION), np.float32)])
    codes, scales = quantise(rows)
    off: Any = np.abs(codes * scales[:, None] - rows).max(axis=1)
    assert (off <= scales / 2 + 1e-7).all()
    assert not codes[-1].any()


def test_background() -> None:
    """The background is the mean and the deviation of the living rows only."""
    matrix, rows = Matrix(DIMENSION), unit_rows(400)
    matrix.put_many(range(400), [1] * 400, *quantise(rows))
    matrix.delete(range(200, 400))
    query = unit_rows(1, 3)[0]
    cosines = rows[:200] @ query
    assert matrix.scan(query).background() == pytest.approx((cosines.mean(), cosines.std()), abs=0.01)
