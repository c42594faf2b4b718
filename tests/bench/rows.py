"""Rows: one figure each, at one size of vault, with the bound that it can be compared with; and the table of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    Attributes:
        notes: Size of the vault; 0 where the figure has nothing to do with one.
        value: By name: p50, p95 and p99 of ``count`` measurements, or one figure called ``value``.
        cpu: Processor time that one measurement took of the process measured, in ``unit``; None where nobody asked.
        bound: What this machine needs at the least for it, in ``unit``; None where there is no such bound.
        bound_is: What the bound is the time of.
        grows: Whether the growth of the figure with the vault says anything.
        cannot: Why there is no figure.
    """

    notes: int
    name: str
    value: Mapping[str, float]
    unit: str
    count: int = 1
    cpu: float | None = None
    bound: float | None = None
    bound_is: str = ""
    note: str = ""
    grows: bool = True
    cannot: str = ""

    @property
    def middle(self) -> float | None:
        """The figure that is compared: the median, or the one there is."""
        return self.value.get("p50", self.value.get("value"))

    def line(self) -> str:
        """The row as it is printed."""
        head = f"{self.notes or '':>8}  {self.name:<52} "
        if self.cannot:
            return head + f"not measured: {self.cannot}"
        parts = [f"{f'{name} ' if name != 'value' else ''}{value:,.2f}" for name, value in self.value.items()]
        text = "  ".join(parts) + f" {self.unit}"
        if self.cpu is not None:
            text += f"  cpu {self.cpu:,.2f}"
        if self.bound is not None:
            times = f", {self.middle / self.bound:,.1f} of it" if self.bound > 0 and self.middle is not None else ""
            text += f"  | bound {self.bound:,.3f} ({self.bound_is}{times})"
        return head + text + (f"  | {self.note}" if self.note else "")


_ALWAYS = ("notes", "name", "value", "unit")


@dataclass(slots=True)
class Report:
    """The rows so far. They are printed as they come, so that a long run shows how far it is."""

    rows: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> Row:
        self.rows.append(row)
        print(row.line(), flush=True)
        return row

    def plain(self) -> list[dict[str, Any]]:
        """The rows as JSON values, without what says nothing."""
        return [
            {key: value for key, value in asdict(row).items() if key in _ALWAYS or value not in (None, "")}
            for row in self.rows
        ]


def rows_of(table: Mapping[str, Any]) -> list[Row]:
    """The rows of a file that was written by a run."""
    known = Row.__dataclass_fields__.keys()
    return [Row(**{key: value for key, value in row.items() if key in known}) for row in table["rows"]]


def say(text: str) -> None:
    """Tell the person who waits what is being done."""
    print(f"          … {text}", file=sys.stderr, flush=True)
