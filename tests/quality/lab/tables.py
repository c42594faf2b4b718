"""Sets x systems as text tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields

from tests.quality.lab.choice import Choice
from tests.quality.lab.measure import MEANS, Difference, Row, figures, interval, paired
from tests.quality.lab.sets import PUBLIC
from vaultrag.retrieval.params import DEFAULT, Params

Results = Mapping[str, Mapping[str, Sequence[Row]]]
"""Rows by set and system."""


def systems_table(results: Results) -> str:
    """Every figure of every system on every set."""
    lines: list[list[str]] = []
    for name, systems in results.items():
        for system, rows in systems.items():
            found = figures(rows)
            if not lines:
                lines.append(["set", "system", *found])
            lines.append([name, system, *(_figure(key, value) for key, value in found.items())])
    return _table(lines)


def differences_table(results: Results, new: str, old: str) -> str:
    """What a system adds to another, with 95 % intervals; ``*`` where the interval leaves 0 out."""
    both = {name: systems for name, systems in results.items() if new in systems and old in systems}
    lines = [["set", "queries", *MEANS]]
    parts = {
        field: {name: paired(systems[new], systems[old], field) for name, systems in both.items()}
        for field in MEANS.values()
    }
    for name in both:
        lines.append([name, str(len(parts["ndcg10"][name])), *(_difference(interval(parts[field][name]))
                                                              for field in MEANS.values())])  # fmt: skip
    macros = {"macro, all": list(both), "macro, public": [name for name in both if name in PUBLIC]}
    for label, names in macros.items():
        if len(names) > 1:
            lines.append([label, str(len(names)), *(_difference(interval(*(parts[field][name] for name in names)))
                                                    for field in MEANS.values())])  # fmt: skip
    return _table(lines)


def kinds_table(results: Results, name: str) -> str:
    """nDCG@10 and Hit@1 of each kind of query in a set."""
    systems = results[name]
    kinds = sorted({row.kind for rows in systems.values() for row in rows if row.answerable})
    lines = [[name, "queries", *(f"{system} {figure}" for system in systems for figure in ("nDCG@10", "Hit@1"))]]
    for kind in kinds:
        cells, count = [], 0
        for rows in systems.values():
            chosen = [row for row in rows if row.answerable and row.kind == kind]
            count = len(chosen)
            cells += [
                f"{sum(getattr(row, field) for row in chosen) / max(1, count):.3f}" for field in ("ndcg10", "right")
            ]
        lines.append([kind, str(count), *cells])
    return _table(lines)


def choice_table(choice: Choice) -> str:
    """What leaving one set out chooses, and what that is worth there."""
    lines = [
        ["left out", "in use", "chosen elsewhere", "difference (out of sample)", "best here (in sample)", "chosen"]
    ]
    for fold in choice.folds:
        lines.append([
            fold.name, f"{fold.base.mean():.4f}", f"{fold.out.mean():.4f}",
            _difference(interval(fold.out - fold.base), 4), f"{fold.within.mean():.4f}", changed(fold.chosen),
        ])  # fmt: skip
    macro = interval(*(fold.out - fold.base for fold in choice.folds))
    lines.append([
        "macro", f"{_mean([fold.base.mean() for fold in choice.folds]):.4f}",
        f"{_mean([fold.out.mean() for fold in choice.folds]):.4f}", _difference(macro, 4),
        f"{_mean([fold.within.mean() for fold in choice.folds]):.4f}",
        f"in sample: {changed(choice.overall)}, {choice.macro:.4f}",
    ])  # fmt: skip
    return _table(lines)


def changed(params: Params) -> str:
    """What differs from the parameters in use."""
    differing = [
        f"{field.name}={getattr(params, field.name):g}"
        for field in fields(Params)
        if getattr(params, field.name) != getattr(DEFAULT, field.name)
    ]
    return " ".join(differing) or "as in use"


def _mean(values: Sequence[float]) -> float:
    return float(sum(values) / len(values)) if values else math.nan


def _figure(name: str, value: float) -> str:
    if name == "queries":
        return f"{value:.0f}"
    return "-" if math.isnan(value) else f"{value:.3f}"


def _difference(one: Difference, digits: int = 3) -> str:
    if math.isnan(one.mean):
        return "-"
    return f"{one.mean:+.{digits}f} [{one.low:+.{digits}f}, {one.high:+.{digits}f}]{'*' if one.sure else ''}"


def _table(lines: Sequence[Sequence[str]]) -> str:
    if not lines:
        return ""
    head, *rows = lines
    return "\n".join(
        [f"| {' | '.join(head)} |", f"|{'|'.join(' --- ' for _ in head)}|", *(f"| {' | '.join(row)} |" for row in rows)]
    )
