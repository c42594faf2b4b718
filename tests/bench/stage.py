"""Subjects, and what they work with.

A *subject* is a function that measures a few rows that belong together; ``@subject`` enters it in the list that a run
goes through, in the order in which the modules of ``tests.bench.subjects`` are loaded. One that cannot run says why by
``Stage.cannot``; one that fails is listed as failed, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.bounds import Bandwidth
from tests.bench.plain import Plain
from tests.bench.rows import Report, Row, say
from tests.bench.serving import Served, serving, write_settings
from tests.bench.statistics import quantiles


@dataclass(slots=True)
class Stage:
    """What a subject works with, at one size of vault.

    Attributes:
        vault: Where the notes are. A subject that changes them takes the vault's mark away meanwhile.
        folder: Scratch, for what a subject makes.
        paths: The notes, relative to the vault.
        bandwidth: How fast memory is read, measured in this run.
        dimension: Of the vectors.
        passages: Whether the daemon keeps a vector a passage, beside that of the note.
        rounds: Queries of each kind, at most.
        budget_s: So long may one row's queries take; a slow one has fewer of them.
        idle_s: How long rest is measured.
        indexed: The index on ``home`` is whole.
    """

    notes: int
    vault: Path
    folder: Path
    report: Report
    paths: Sequence[str]
    bandwidth: Bandwidth
    dimension: int = 384
    passages: bool = True
    rounds: int = 60
    budget_s: float = 10.0
    idle_s: float = 30.0
    indexed: bool = False
    _plain: list[Plain] = field(default_factory=list)

    def row(
        self, name: str, values: float | Sequence[float], unit: str, *, notes: int | None = None, **more: Any
    ) -> Row:
        """Add a row: one figure, or the percentiles of many. ``more``: see ``Row``."""
        size = self.notes if notes is None else notes
        if isinstance(values, int | float):
            return self.report.add(Row(size, name, {"value": float(values)}, unit, **more))
        return self.report.add(Row(size, name, quantiles(values), unit, count=len(values), **more))

    def cannot(self, name: str, why: str) -> None:
        """Say why there is no such row."""
        self.report.add(Row(self.notes, name, {}, "", cannot=" ".join(why.split())))

    @property
    def home(self) -> Path:
        """``VAULTRAG_HOME`` of the vault's daemon."""
        return self.folder / "home"

    @property
    def vectors_mb(self) -> float:
        """Memory of one int8 vector a note."""
        return self.notes * self.dimension / 1_048_576

    @contextmanager
    def starting(self) -> Iterator[Served]:
        """A daemon on ``home``, as soon as it answers; the index is whatever there is."""
        write_settings(self.home, {"search": {"passages": self.passages}})
        with serving(self.home, self.vault, dimension=self.dimension) as served:
            yield served

    @contextmanager
    def serving(self) -> Iterator[Served]:
        """A daemon on ``home`` that has started on a whole index, and is ready."""
        if not self.indexed:
            say(f"indexing {self.notes:,} notes")
            with self.starting() as served:
                served.wait_ready(self.notes)
            self.indexed = True
        with self.starting() as served:
            served.wait_ready(self.notes)
            yield served

    def plain(self) -> Plain:
        """The same notes in plain tables, made at the first call."""
        if not self._plain:
            say(f"putting {self.notes:,} notes into plain tables")
            self._plain.append(Plain(self.vault, self.paths, self.folder / "plain.db", self.dimension))
        return self._plain[0]

    def close(self) -> None:
        for plain in self._plain:
            plain.close()


Measure = Callable[[Stage], None]


@dataclass(frozen=True, slots=True)
class Subject:
    """``once``: it has nothing to do with the size of the vault, and is measured at the smallest only."""

    name: str
    measure: Measure
    about: str
    once: bool = False


SUBJECTS: dict[str, Subject] = {}
"""By name, in the order of the run."""


def subject(name: str, *, once: bool = False) -> Callable[[Measure], Measure]:
    """Enter a function in the list of subjects. The first line of its docstring says what it is about."""

    def enter(measure: Measure) -> Measure:
        if name in SUBJECTS:
            raise ValueError(f"there are two subjects called {name}")
        about = (measure.__doc__ or "").strip().split("\n")[0]
        SUBJECTS[name] = Subject(name, measure, about, once)
        return measure

    return enter
