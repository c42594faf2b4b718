"""How each figure grows with the vault: the exponents, and which of them are worse than linear. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.bench.rows import Row
from tests.bench.statistics import LINEAR, exponent, last_exponent


@dataclass(frozen=True, slots=True)
class Growth:
    """One figure over all sizes.

    Attributes:
        points: Number of notes to the figure's median.
        fitted: Exponent of the line through all points, in logarithms.
        last: Exponent between the two largest sizes, where constant costs hide less.
    """

    name: str
    unit: str
    points: dict[int, float]
    fitted: float
    last: float

    @property
    def steep(self) -> bool:
        """Whether it grows faster than the vault does."""
        return max(self.fitted, self.last) > LINEAR

    def line(self) -> str:
        figures = "  ".join(f"{notes:,}: {value:,.2f}" for notes, value in self.points.items())
        flag = "  ABOVE LINEAR" if self.steep else ""
        return f"{self.name:<58} {self.fitted:6.2f} {self.last:6.2f}{flag}\n    {figures} {self.unit}"


def growths(rows: Iterable[Row]) -> list[Growth]:
    """Every figure that was measured at two sizes or more, in the order in which it came."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        if row.grows and row.notes and row.middle is not None:
            by_name.setdefault(row.name, []).append(row)
    found = []
    for name, same in by_name.items():
        points = {row.notes: row.middle for row in sorted(same, key=lambda row: row.notes) if row.middle is not None}
        fitted, last = exponent(points), last_exponent(points)
        if fitted is not None and last is not None:
            found.append(Growth(name, same[0].unit, points, fitted, last))
    return found


def table(rows: Iterable[Row]) -> str:
    """All of them as text; nothing where there was one size only."""
    found = growths(rows)
    if not found:
        return ""
    steep = sum(growth.steep for growth in found)
    head = f"{'Growth with the number of notes: exponent':<58} fitted   last"
    foot = f"{steep} of {len(found)} grow faster than linear (exponent above {LINEAR})"
    return "\n".join([head, *(growth.line() for growth in found), foot])
