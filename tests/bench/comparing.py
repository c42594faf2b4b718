"""Two runs beside each other: what became faster, what slower."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.bench.rows import Row, rows_of

SAME_MACHINE = ("processor", "cores", "system", "python", "sqlite")


def compare(old: Path, new: Path) -> str:
    """A line a row that both have: both medians, and the new figures by the old ones. Smaller is better throughout.

    Raises:
        OSError, ValueError, KeyError: One of them is no file of a run.
    """
    before, after = json.loads(old.read_text("utf-8")), json.loads(new.read_text("utf-8"))
    known = {(row.notes, row.name): row for row in rows_of(before)}
    lines = [
        *_differences(before, after),
        f"{'notes':>8}  {'row':<58} {'old':>10} {'new':>10}  new by old (p50, p95)",
    ]
    seen = set()
    for row in rows_of(after):
        seen.add((row.notes, row.name))
        earlier = known.get((row.notes, row.name))
        if earlier is not None and earlier.middle is not None and row.middle is not None:
            lines.append(_line(earlier, row))
    lines += [f"{notes:>8}  {name:<58} only in the old run" for notes, name in known if (notes, name) not in seen]
    return "\n".join(lines)


def _line(old: Row, new: Row) -> str:
    assert old.middle is not None
    assert new.middle is not None
    ratios = [_ratio(old.middle, new.middle)]
    if "p95" in old.value and "p95" in new.value:
        ratios.append(_ratio(old.value["p95"], new.value["p95"]))
    figures = f"{old.middle:>10,.2f} {new.middle:>10,.2f}"
    return f"{new.notes or '':>8}  {new.name:<58} {figures}  {'  '.join(ratios)} {new.unit}"


def _ratio(old: float, new: float) -> str:
    return f"{new / old:5.2f}" if old > 0 else "    -"


def _differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    pairs = [(name, before["machine"].get(name), after["machine"].get(name)) for name in SAME_MACHINE]
    pairs += [(name, before["options"].get(name), value) for name, value in after["options"].items() if name != "notes"]
    return [f"Beware: {name} was {old}, and is {new} now." for name, old, new in pairs if old != new]
