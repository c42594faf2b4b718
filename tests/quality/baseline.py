"""Measuring the judged sets that are committed, and the file with the figures that may not fall."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.quality.lab.sets import load
from vaultrag.evaluate.report import report
from vaultrag.evaluate.run import Pipeline, evaluate
from vaultrag.retrieval.params import DEFAULT

HERE = Path(__file__).parent
BASELINE = HERE / "baseline.json"
VAULT = HERE.parents[1] / "sample-vault"

SETS = ("own", "natural")
"""Small enough for every change: 162 notes, embedded and asked within a minute."""
SLACK = 0.015
"""What processors of different kinds may differ by: int8 kernels round differently."""
UNSTABLE = ("ms", "embedded_for_this_run", "version", "build")


def figures(name: str, home: Path) -> dict[str, Any]:
    """Index the vault of a committed set with the builtin model and run its queries."""
    one = load(name, None, home)
    with Pipeline(one.vault, one.home, one.settings) as pipeline:
        pipeline.wait()
        return report(evaluate(pipeline, one.judged), pipeline, "hybrid", DEFAULT)


def write() -> None:
    """Measure the committed sets and write the baseline anew."""
    table = {}
    for name in SETS:
        with tempfile.TemporaryDirectory() as home:
            measured = figures(name, Path(home))
        table[name] = {key: value for key, value in measured.items() if key not in UNSTABLE}
        print(name, json.dumps({"all": table[name]["all"], "abstention": table[name]["abstention"]}, indent=1))
    BASELINE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", "utf-8")
