"""Measures speed and size on this machine, prints a table, and keeps it in a dated file. See tests/bench/README.md."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.bench import subjects
from tests.bench.bounds import Bandwidth
from tests.bench.comparing import compare
from tests.bench.growth import growths, table
from tests.bench.machine import ROOT, describe, load
from tests.bench.rows import Report, Row, say
from tests.bench.stage import SUBJECTS, Stage, Subject
from tests.bench.vaults import build

SIZES = [1_000, 10_000, 100_000]
QUICK = {"notes": [300], "rounds": 8, "idle": 3.0, "budget": 3.0}
RUNS = ROOT / ".bench"


def main() -> int:
    subjects.load()
    arguments = _arguments()
    if arguments.compare:
        try:
            print(compare(*arguments.compare))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            print(f"one of the two is no file that a run has kept: {error!r}", file=sys.stderr)
            return 2
        return 0
    chosen = _chosen(arguments.only)
    signal.signal(signal.SIGTERM, _interrupt)
    target = arguments.json or RUNS / f"{datetime.now().astimezone():%Y-%m-%d-%H%M%S}.json"
    options = {
        name: getattr(arguments, name)
        for name in ("notes", "rounds", "budget", "idle", "dimension", "passages", "only")
    }
    run = Run(target, options)
    run.measure(chosen, arguments.keep)
    if found := table(run.report.rows):
        print(f"\n{found}")
    print(f"\nkept in {target}; compare with another run: python -m tests.bench --compare OLD NEW")
    return 1 if run.failed else 0


class Run:
    """One run. What is measured is kept after every subject, so that one cut short is not for nothing."""

    def __init__(self, target: Path, options: dict[str, Any]) -> None:
        self.report = Report()
        self.failed = False
        self._target = target
        self._options = options
        self._machine = describe([Path(sys.executable).name, "-m", "tests.bench", *sys.argv[1:]])
        self._bandwidth = Bandwidth.measured()
        self._machine["memory_gb_per_s"] = round(self._bandwidth.bytes_per_s / 1e9, 2)

    def measure(self, chosen: list[Subject], keep: Path | None) -> None:
        """Every chosen subject at every size."""
        print(f"{self._machine['processor']}, {self._machine['cores']} cores, "
              f"memory read at {self._machine['memory_gb_per_s']} GB/s, load {load():.2f}")  # fmt: skip
        sizes = sorted(self._options["notes"])
        with tempfile.TemporaryDirectory(prefix="vr-bench-") as scratch:
            for notes in sizes:
                vault = (keep or Path(scratch)) / f"vault-{notes}"
                say(f"writing {notes:,} notes, if they are not there")
                folder = Path(scratch) / str(notes)
                folder.mkdir()
                stage = self._stage(notes, vault, folder, build(vault, notes))
                try:
                    for subject in chosen:
                        if not subject.once or notes == sizes[0]:
                            self._one(subject, stage)
                finally:
                    stage.close()

    def _stage(self, notes: int, vault: Path, folder: Path, paths: list[str]) -> Stage:
        options = self._options
        return Stage(
            notes, vault, folder, self.report, paths, self._bandwidth,
            dimension=options["dimension"], passages=options["passages"],
            rounds=options["rounds"], budget_s=options["budget"], idle_s=options["idle"],
        )  # fmt: skip

    def _one(self, subject: Subject, stage: Stage) -> None:
        begun = time.monotonic()
        try:
            subject.measure(stage)
        except (Exception, SystemExit) as fault:  # the others can still be measured
            self.failed = True
            self.report.add(Row(stage.notes, subject.name, {}, "", cannot=f"failed: {fault!r}"[:2000]))
        say(f"{subject.name}: {time.monotonic() - begun:.0f} s")
        self._keep()

    def _keep(self) -> None:
        self._target.parent.mkdir(parents=True, exist_ok=True)
        kept = {
            "machine": {**self._machine, "load_at_end": round(load(), 2)},
            "options": self._options,
            "rows": self.report.plain(),
            "growth": [
                {"row": growth.name, "fitted": round(growth.fitted, 3), "last": round(growth.last, 3)}
                for growth in growths(self.report.rows)
            ],
        }
        self._target.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _interrupt(*_: object) -> None:
    """Told to stop: as with Ctrl+C, what was started is ended and what was measured is kept."""
    raise KeyboardInterrupt


def _arguments() -> argparse.Namespace:
    listed = "\n".join(f"  {subject.name:<10} {subject.about}" for subject in SUBJECTS.values())
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, epilog=f"subjects:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--notes", type=int, nargs="+", default=SIZES, help="sizes of vault (%(default)s)")
    parser.add_argument("--only", nargs="+", default=[], metavar="SUBJECT", help="these subjects alone")
    parser.add_argument("--quick", action="store_true", help="a small vault and few queries: does everything run?")
    parser.add_argument("--rounds", type=int, default=60, help="queries of each kind, at most (%(default)s)")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for one row's queries (%(default)s)")
    parser.add_argument("--idle", type=float, default=30.0, help="seconds of rest to measure (%(default)s)")
    parser.add_argument("--dimension", type=int, default=384, help="of the vectors (%(default)s)")
    parser.add_argument("--no-passages", dest="passages", action="store_false", help="one vector a note, and no other")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the generated vaults here, and use them again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write here instead of into .bench/")
    parser.add_argument(
        "--compare", type=Path, nargs=2, metavar=("OLD", "NEW"), help="measure nothing: compare two runs"
    )
    arguments = parser.parse_args()
    if arguments.quick:
        for name, value in QUICK.items():
            if getattr(arguments, name) == parser.get_default(name):  # what was asked for by name stands
                setattr(arguments, name, value)
    return arguments


def _chosen(only: list[str]) -> list[Subject]:
    for name in only:
        if name not in SUBJECTS:
            raise SystemExit(f"there is no subject {name}; there are {', '.join(SUBJECTS)}")
    return [subject for name, subject in SUBJECTS.items() if not only or name in only]


if __name__ == "__main__":
    sys.exit(main())
