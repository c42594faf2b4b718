"""Which parameters are best, chosen on all sets but one and judged on that one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.quality.lab.batch import Batch
from vaultrag.errors import ConfigError
from vaultrag.retrieval.params import Params

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One fold.

    Attributes:
        chosen: The point that is best on the other sets.
        base: nDCG@10 of each query of the set that was left out, with the parameters in use.
        out: The same with the chosen point: out of sample.
        within: The same with the point that is best on this very set: in sample, the most there is to gain.
    """

    name: str
    chosen: Params
    base: Values
    out: Values
    within: Values


@dataclass(frozen=True, slots=True)
class Choice:
    """Every fold, and the point that is best on all sets together (in sample)."""

    folds: list[LeftOut]
    overall: Params
    macro: float
    points: int


def grid(base: Params, axes: Mapping[str, Sequence[float]]) -> list[Params]:
    """Every combination of the values, the base itself first.

    Raises:
        ConfigError: No parameter has that name.
    """
    known = {field.name for field in fields(Params)}
    for name in axes:
        if name not in known - {"pool"}:  # features hold what one pool brought
            raise ConfigError(f"no parameter is called {name}", hint=f"parameters: {', '.join(sorted(known))}")
    points = []
    for values in itertools.product(*axes.values()):
        changes: dict[str, Any] = dict(zip(axes, values, strict=True))
        points.append(replace(base, **changes))
    return [base, *(point for point in points if point != base)]


def leave_one_out(batches: Mapping[str, Batch], points: Sequence[Params]) -> Choice:
    """Choose by the macro average of nDCG@10 over the other sets. The first point is the one in use; it wins ties."""
    names = list(batches)
    results = {name: [batch.ndcg10(point) for point in points] for name, batch in batches.items()}
    means = np.array([[values.mean() for values in results[name]] for name in names])
    folds = []
    for place, name in enumerate(names):
        others = np.delete(means, place, axis=0).mean(axis=0) if len(names) > 1 else means[place]
        chosen = int(np.argmax(others))
        folds.append(
            LeftOut(name, points[chosen], results[name][0], results[name][chosen],
                    results[name][int(np.argmax(means[place]))])
        )  # fmt: skip
    overall = int(np.argmax(means.mean(axis=0)))
    return Choice(folds, points[overall], float(means[:, overall].mean()), len(points))
