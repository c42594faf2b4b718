"""Stored runs of another checkout, to compare with: each query's ranked paths and its best score."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from tests.quality.lab.measure import Row, row
from tests.quality.lab.sets import JudgedSet, export
from vaultrag.errors import ConfigError
from vaultrag.evaluate.datasets import twins

SCRIPT = Path(__file__).with_name("landed.py")


def run_checkout(one: JudgedSet, checkout: Path, cache: Path, system: str) -> None:
    """Run a set's queries through the ranking of another checkout, on a copy of the index.

    The vectors in the copy are reused where that version reads the same form; else it makes its own.

    Args:
        checkout: A checkout with an environment in ``.venv``.
        system: The run's name.

    Raises:
        ConfigError: It failed; with the end of what it wrote.
    """
    home = cache / "indexes" / system / one.home.name
    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(one.home, home)
    queries = cache / "runs" / "queries" / f"{one.name}.jsonl"
    export(one, twins(one.judged), queries)
    command = [checkout / ".venv" / "bin" / "python", SCRIPT, one.vault.resolve(), home.resolve(), one.model, queries,
               _file(one.name, cache, system)]  # fmt: skip
    done = subprocess.run(list(map(str, command)), cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigError(f"{checkout} cannot rank {one.name}: {done.stderr.strip()[-500:]}")


def stored(name: str, cache: Path, system: str) -> bool:
    """Whether there is such a run."""
    return _file(name, cache, system).exists()


def read_run(one: JudgedSet, cache: Path, system: str) -> list[Row]:
    """Read a run and judge it."""
    judged = {query.id: query for query in (*one.judged, *one.foreign, *twins(one.judged))}
    rows = []
    for line in _file(one.name, cache, system).read_text("utf-8").splitlines():
        raw = json.loads(line)
        query = judged.get(raw["id"])
        if query is not None:
            rows.append(
                row(query.id, query.kind, query.answerable, raw["ranked"], raw["ranked"][: raw["shown"]],
                    {path: float(grade) for path, grade in query.relevant.items()}, raw["best"])
            )  # fmt: skip
    return rows


def _file(name: str, cache: Path, system: str) -> Path:
    return (cache / "runs" / system / f"{name}.jsonl").resolve()
