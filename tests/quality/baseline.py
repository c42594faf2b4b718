"""Measuring the judged set of the sample vault, and the file with the figures that may not fall."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vaultrag.config import EmbedderSettings, Settings
from vaultrag.evaluate.datasets import read_queries
from vaultrag.evaluate.report import report
from vaultrag.evaluate.run import Pipeline, evaluate
from vaultrag.retrieval.params import DEFAULT

HERE = Path(__file__).parent
BASELINE = HERE / "baseline.json"
VAULT = HERE.parents[1] / "sample-vault"

SLACK = 0.015
"""What processors of different kinds may differ by: int8 kernels round differently."""


def figures(home: Path) -> dict[str, Any]:
    """Index the sample vault with the builtin model and run the judged queries."""
    settings = Settings(embedder=EmbedderSettings(provider="builtin", builtin="english"))
    with Pipeline(VAULT, home, settings) as pipeline:
        pipeline.wait()
        outcomes = evaluate(pipeline, read_queries(HERE / "sample-vault.jsonl"))
        return report(outcomes, pipeline, "hybrid", DEFAULT)
