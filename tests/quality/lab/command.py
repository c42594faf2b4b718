"""``python -m tests.quality``: every judged set through the ranking, from cached features where there are some."""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tests.quality.lab import features, runs
from tests.quality.lab.batch import Batch
from tests.quality.lab.choice import grid, leave_one_out
from tests.quality.lab.measure import Row, measure
from tests.quality.lab.sets import LOADERS, JudgedSet, available, load
from tests.quality.lab.tables import changed, choice_table, differences_table, kinds_table, systems_table
from vaultrag.errors import VaultragError
from vaultrag.retrieval.params import DEFAULT, Params, read_params

DATA = "VAULTRAG_JUDGED_DATA"
LANDED = "landed"


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m tests.quality", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get(DATA), help=f"public sets; else ${DATA}")
    parser.add_argument("--cache", type=Path, default=Path(".quality"), help="vaults, indexes, features and runs")
    parser.add_argument(
        "--sets",
        nargs="+",
        metavar="SET",
        help=f"of {', '.join(LOADERS)}; +e: the English model alone; @MODEL: another one",
    )
    parser.add_argument("--cached", action="store_true", help="only sets whose features are there")
    parser.add_argument("--fresh", action="store_true", help="ask the retrievers again; vectors are kept")
    parser.add_argument("--params", type=Path, action="append", default=[], help="a further system, in TOML")
    parser.add_argument("--grid", nargs="+", default=[], metavar="NAME=V1,V2", help="leave one set out over these")
    parser.add_argument("--kinds", action="store_true", help="also by kind of query")
    parser.add_argument("--landed", type=Path, nargs="?", const=Path(), metavar="CHECKOUT",
                        help="compare with stored runs; with a checkout, make those that are missing")  # fmt: skip
    parser.add_argument("--baseline", action="store_true", help="write baseline.json anew and stop")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; 2 for a wrong word."""
    given = arguments(words)
    try:
        if given.baseline:
            from tests.quality.baseline import write

            write()
        else:
            _compare(given)
    except VaultragError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return 2
    return 0


def _compare(given: argparse.Namespace) -> None:
    cache = given.cache.absolute()
    data = Path(given.data) if given.data else None
    names = _names(given, data, cache)
    systems: dict[str, Params] = {"now": DEFAULT}
    for path in given.params:
        systems[path.stem] = read_params(path.read_text("utf-8"), str(path))
    results: dict[str, dict[str, list[Row]]] = defaultdict(dict)
    batches: dict[str, Batch] = {}
    for name in names:
        one = load(name, data, cache)
        asked = _asked(one, cache, fresh=given.fresh)
        if given.landed is not None and (landed := _landed(one, cache, given.landed)):
            results[name][LANDED] = landed
        for system, params in systems.items():
            results[name][system] = measure(asked, params)
        if given.grid:
            batches[name] = Batch(asked)
    _print(given, results, systems)
    if given.grid:
        axes = {name: [float(value) for value in values.split(",")]
                for name, _, values in (word.partition("=") for word in given.grid)}  # fmt: skip
        choice = leave_one_out(batches, grid(DEFAULT, axes))
        print(f"\n## Leave one set out: nDCG@10 over {choice.points} points\n\n{choice_table(choice)}")


def _names(given: argparse.Namespace, data: Path | None, cache: Path) -> list[str]:
    names: list[str] = given.sets or [name for name in LOADERS if available(name, data)]
    missing = [name for name in LOADERS if not available(name, data)]
    if missing and not given.sets:
        print(f"left out, no data: {', '.join(missing)}", file=sys.stderr)
    return [name for name in names if features.cached(name, cache)] if given.cached else names


def _landed(one: JudgedSet, cache: Path, checkout: Path) -> list[Row]:
    if checkout != Path() and not runs.stored(one.name, cache, LANDED):
        runs.run_checkout(one, checkout.resolve(), cache, LANDED)
    return runs.read_run(one, cache, LANDED) if runs.stored(one.name, cache, LANDED) else []


def _print(given: argparse.Namespace, results: dict[str, dict[str, list[Row]]], systems: dict[str, Params]) -> None:
    for system, params in systems.items():
        print(f"{system}: {changed(params)}")
    print("\n## Sets x systems (the parameters in use were chosen on these sets: in sample)\n")
    print(systems_table(results))
    pairs = [("now", LANDED)] if given.landed is not None else []
    for new, old in [*pairs, *((system, "now") for system in systems if system != "now")]:
        print(f"\n## {new} against {old}, paired bootstrap over queries, 95 % (in sample)\n")
        print(differences_table(results, new, old))
    for name in results if given.kinds else ():
        print(f"\n{kinds_table(results, name)}")


def _asked(one: JudgedSet, cache: Path, *, fresh: bool) -> list[features.Asked]:
    if features.cached(one.name, cache) and not fresh:
        return features.read(one.name, cache)

    def progress(done: int, total: int) -> None:
        print(f"\r{one.name}: vectors of {done} of {total} notes", end="", file=sys.stderr, flush=True)

    asked = features.gather(one, cache, progress)
    print(f"\r{one.name}: {len(asked)} queries asked", file=sys.stderr)
    return asked
