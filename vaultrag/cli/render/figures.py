"""Figures of an evaluation as tables. Pure."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

_SHOWN = {
    "ndcg@10": "ndcg@10",
    "hit@1": "hit@1",
    "p@5": "p@5",
    "recall@5": "r@5",
    "recall@20": "r@20",
    "recall@100": "r@100",
    "mrr": "mrr",
}
"""What fits into 80 columns; --json has all."""


def figure_tables(figures: dict[str, Any]) -> list[Table | Text]:
    """Return a table by kind, and lines about empty answers, retrievers and time."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("kind", no_wrap=True)
    table.add_column("n", justify="right")
    for title in _SHOWN.values():
        table.add_column(title, justify="right", no_wrap=True)
    for kind, means in [*figures["kinds"].items(), ("all", figures["all"]), ("as ranked", figures["ranked"])]:
        table.add_row(kind, str(means["queries"]), *(f"{means.get(name, 0.0):.3f}" for name in _SHOWN))
    silence = figures["abstention"]
    arms = ", ".join(f"{name} {count}" for name, count in figures["first_right_hit_by"].items())
    times = ", ".join(f"{step} {part['p50']:.1f}/{part['p95']:.1f}" for step, part in figures["ms"].items())
    model = figures["model"] or "none"
    kinds = silence["auroc_by_kind"]
    by_kind = f" ({', '.join(f'{kind} {value:.3f}' for kind, value in kinds.items())})" if len(kinds) > 1 else ""
    return [
        Text(f"{figures['set']}: {figures['notes']} notes, mode {figures['mode']}, model {model}"),
        table,
        Text(
            f"empty answers {silence['empty']}, unanswerable {silence['unanswerable']}: "
            f"precision {silence['precision']:.3f}, recall {silence['recall']:.3f}, "
            f"AUROC {silence['auroc']:.3f}{by_kind}"
        ),
        Text(
            "answers: "
            + ", ".join(
                f"{tier} {part['answerable']}+{part['unanswerable']}, right {part['precision']:.3f}"
                for tier, part in figures["tiers"].items()
            )
            + " (answerable+unanswerable)"
        ),
        Text(f"share of the vault returned {figures['returned_share']:.4f}; first right hit by: {arms}"),
        Text(f"ms p50/p95: {times}; notes embedded for this run: {figures['embedded_for_this_run']}"),
        *([_differences(figures["compared"])] if figures.get("compared") else []),
    ]


def _differences(compared: dict[str, Any]) -> Table:
    """Return the differences to other runs. An interval that holds 0 may be noise."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("against", overflow="fold")
    for title in ("its ndcg@10", "this adds", "95 % interval"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, found in compared.items():
        low, high = found["interval"]
        table.add_row(name, f"{found['ndcg@10']:.3f}", f"{found['gain']:+.3f}", f"{low:+.3f} … {high:+.3f}")
    return table
