"""Running judged queries through the real pipeline: files on disk, the index made of them, the arms, fusion, evidence.

Nothing is simulated: the vault is opened as the daemon opens it. Only previews are left out, which rank nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vaultrag import __version__
from vaultrag.config import Places, SearchSettings, Settings
from vaultrag.daemon.vaults import Embedders, open_vault
from vaultrag.errors import DaemonFailed, EmbedError
from vaultrag.evaluate.datasets import Judged
from vaultrag.evaluate.metrics import PER_QUERY, auroc, percentile
from vaultrag.model import Mode
from vaultrag.ranking.evidence import bars_for
from vaultrag.ranking.query import parse_query
from vaultrag.search.engine import Ranking
from vaultrag.service import VaultParts

DEPTH = 100


@dataclass(slots=True)
class Outcome:
    """What one query brought.

    Attributes:
        returned: Paths that count as found, best first: what a person would see.
        confidence: How sure the pipeline is that anything fits; compared with a threshold to answer or not.
        arm: The arm that ranks the first right hit best; empty without one.
        times_ms: Per step.
    """

    judged: Judged
    returned: list[str]
    confidence: float
    arm: str = ""
    times_ms: dict[str, float] = field(default_factory=dict)


class Pipeline:
    """A vault, opened and fully indexed, that queries can be run through."""

    def __init__(self, vault: Path, home: Path, settings: Settings) -> None:
        self._embedders = Embedders(settings)
        self._settings = settings
        self._service = open_vault(vault.resolve(), Places(home / "config.toml", home / "data", home / "run"), settings,
                                   self._embedders)  # fmt: skip
        self.parts: VaultParts = self._service.parts

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self._service.close()
        self._embedders.close()

    def wait(self, progress: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Wait until every note that can have a vector has one.

        Raises:
            DaemonFailed: The index cannot be made, with the reason.
        """
        while True:
            status = self._service.status()
            if status.state in ("broken", "away"):
                raise DaemonFailed(f"the vault cannot be indexed: {status.why}", hint=status.hint)
            settled = self.parts.worker.settled.is_set() and self.parts.embedding.settled.is_set()
            if settled and self.parts.worker.searchable.is_set():
                return
            progress(status.embedded, status.notes)
            self.parts.embedding.settled.wait(0.2)

    def ask(self, judged: Judged, mode: Mode) -> Outcome:
        """Run one query."""
        times: dict[str, float] = {}
        start = time.perf_counter()
        engine, view = self.parts.engine, self.parts.meaning.view
        draft = engine.begin(parse_query(judged.query), mode=mode, limit=DEPTH)
        times["words"] = time.perf_counter() - start
        scan, model = None, ""
        if mode != "words" and view.vectors is not None and view.embedder is not None and draft.query.terms:
            step = time.perf_counter()
            try:
                vector = view.embedder.embed_query(draft.query.text)
            except EmbedError as error:
                raise DaemonFailed(f"the query cannot be embedded: {error.message}", hint=error.hint) from error
            times["embed"] = time.perf_counter() - step
            step = time.perf_counter()
            scan, model = view.vectors.scan(vector), view.vectors.identity.model
            times["scan"] = time.perf_counter() - step
        step = time.perf_counter()
        ranking = engine.finish(draft, scan, bars_for(model, meaning_only=mode == "meaning"))
        times["fuse"] = time.perf_counter() - step
        times["total"] = sum(times.values())
        returned, arm = self._named(ranking, judged)
        return Outcome(judged, returned, ranking.confidence, arm, {name: 1000 * value for name, value in times.items()})

    def _named(self, ranking: Ranking, judged: Judged) -> tuple[list[str], str]:
        found = ranking.found[:DEPTH]
        rows = self.parts.table.by_ids(hit.note_id for hit in found)
        paths, arm = [], ""
        for hit in found:
            row = rows.get(hit.note_id)
            if row is None:
                continue
            paths.append(str(row.path))
            if not arm and judged.relevant.get(row.path, 0) > 0 and hit.evidence:
                arm = min(hit.evidence, key=lambda part: (part.rank, -part.contribution)).arm
        return paths, arm


def evaluate(pipeline: Pipeline, judged: Sequence[Judged], mode: Mode = "hybrid") -> list[Outcome]:
    """Run every query."""
    return [pipeline.ask(one, mode) for one in judged]


def report(outcomes: Sequence[Outcome], pipeline: Pipeline, mode: Mode, search: SearchSettings) -> dict[str, Any]:
    """Figures of a run, ready for JSON."""
    view = pipeline.parts.meaning.view
    kinds = sorted({outcome.judged.kind for outcome in outcomes if outcome.judged.answerable})
    notes = pipeline.parts.index.count()
    return {
        "version": __version__,
        "mode": mode,
        "model": view.vectors.identity.model if view.vectors is not None and mode != "words" else "",
        "settings": {name: getattr(search, name) for name in search.__slots__},
        "notes": notes,
        "queries": len(outcomes),
        "all": means(outcomes),
        "kinds": {kind: means([o for o in outcomes if o.judged.kind == kind]) for kind in kinds},
        "first_right_hit_by": _attribution(outcomes),
        "abstention": abstention(outcomes),
        "returned_share": sum(len(o.returned) for o in outcomes) / max(1, len(outcomes) * notes),
        "ms": {
            step: {
                "p50": round(percentile([o.times_ms[step] for o in outcomes if step in o.times_ms], 0.5), 3),
                "p95": round(percentile([o.times_ms[step] for o in outcomes if step in o.times_ms], 0.95), 3),
            }
            for step in ("words", "embed", "scan", "fuse", "total")
            if any(step in o.times_ms for o in outcomes)
        },
        "embedded_for_this_run": pipeline.parts.meaning.texts_embedded,
    }


def means(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The mean of each figure over the answerable queries, and their number."""
    answerable = [outcome for outcome in outcomes if outcome.judged.answerable and outcome.judged.relevant]
    figures = {
        name: round(sum(figure(o.returned, o.judged.relevant) for o in answerable) / len(answerable), 4)
        for name, figure in PER_QUERY.items()
        if answerable
    }
    return {"queries": len(answerable), **figures}


def abstention(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """How well "nothing found" is said: precision and recall of empty answers, and AUROC of the confidence."""
    silent = [o for o in outcomes if not o.returned]
    unanswerable = [o for o in outcomes if not o.judged.answerable]
    right = sum(not o.judged.answerable for o in silent)
    return {
        "empty": len(silent),
        "unanswerable": len(unanswerable),
        "precision": round(right / len(silent), 4) if silent else float("nan"),
        "recall": round(right / len(unanswerable), 4) if unanswerable else float("nan"),
        "auroc": round(
            auroc(
                [o.confidence for o in outcomes if o.judged.answerable],
                [o.confidence for o in unanswerable],
            ),
            4,
        ),
    }


def _attribution(outcomes: Sequence[Outcome]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.judged.answerable:
            counts[outcome.arm or "none"] = counts.get(outcome.arm or "none", 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))
