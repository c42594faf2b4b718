"""Running judged queries through the real pipeline: files on disk, the index made of them, retrievers, ranking.

Nothing is simulated: the vault is opened as the daemon opens it. Only previews are left out, which rank nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vaultrag.app import VaultContext
from vaultrag.config import Places, Settings
from vaultrag.daemon.vaults import EmbedderPool, open_vault
from vaultrag.domain import Mode, Tier
from vaultrag.errors import DaemonFailed, EmbedError
from vaultrag.evaluate.datasets import Judged
from vaultrag.retrieval.params import Params
from vaultrag.retrieval.pipeline import Ranking
from vaultrag.vector_protocols import VectorScan

LIMIT = 10
"""Hits that a person gets who names no limit."""
DEPTH = 100


@dataclass(slots=True)
class Outcome:
    """The outcome of one query.

    Attributes:
        returned: Paths that count as found, best first, up to the limit: what a person would see.
        confidence: The best score; compared with a threshold to answer or not.
        arm: The arm that ranks the first right hit best; empty without one.
        ranked: Paths in order, whatever their tier: what would be seen if nothing were withheld.
        tier: The answer's, which is that of its best hit.
        times_ms: Per step.
    """

    judged: Judged
    returned: list[str]
    confidence: float
    arm: str = ""
    times_ms: dict[str, float] = field(default_factory=dict)
    ranked: list[str] = field(default_factory=list)
    tier: Tier = "weak"


class Pipeline:
    """A vault, opened and fully indexed, that queries can be run through."""

    def __init__(self, vault: Path, home: Path, settings: Settings, embedders: EmbedderPool | None = None) -> None:
        """Open the vault and wait until it is indexed.

        Args:
            embedders: Chooses the model; unset: as the daemon does.
        """
        self._embedders = embedders if embedders is not None else EmbedderPool(settings)
        self._settings = settings
        self.service = open_vault(vault.resolve(), Places(home / "config.toml", home / "data", home / "run"), settings,
                                   self._embedders)  # fmt: skip
        self.parts: VaultContext = self.service.parts

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self.service.close()
        self._embedders.close()

    def wait(self, progress: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Wait until every note that can have a vector has one.

        Raises:
            DaemonFailed: The index cannot be made, with the reason.
        """
        while True:
            status = self.service.status()
            if status.state in ("broken", "away"):
                raise DaemonFailed(f"the vault cannot be indexed: {status.why}", hint=status.hint)
            settled = self.parts.worker.settled.is_set() and self.parts.embedding.settled.is_set()
            if settled and self.parts.worker.searchable.is_set():
                return
            progress(status.embedded, status.notes)
            self.parts.embedding.settled.wait(0.2)

    def ask(self, judged: Judged, mode: Mode, params: Params | None = None) -> Outcome:
        """Run one query, with other parameters where some are given."""
        engine, view = self.parts.engine, self.parts.meaning.view
        if params is not None:
            engine = engine.with_params(params)
        ids = (self.parts.table.id_of(path) for path in judged.without)
        barred = frozenset(note_id for note_id in ids if note_id is not None)
        times: dict[str, float] = {}
        start = time.perf_counter()
        draft = engine.begin(engine.read(judged.query), mode=mode, barred=barred)
        times["words"] = time.perf_counter() - start
        scan: VectorScan | None = None
        readable, multilingual = 1.0, False
        if mode != "words" and view.vectors is not None and view.embedder is not None and draft.query.terms:
            step = time.perf_counter()
            try:
                embedded = view.embed(draft.query.text)
            except EmbedError as error:
                raise DaemonFailed(f"the query cannot be embedded: {error.message}", hint=error.hint) from error
            times["embed"] = time.perf_counter() - step
            step = time.perf_counter()
            scan, readable, multilingual = view.compare(embedded)
            times["scan"] = time.perf_counter() - step
        step = time.perf_counter()
        ranking = engine.rank(draft, scan, readable, multilingual=multilingual)
        times["rank"] = time.perf_counter() - step
        times["total"] = sum(times.values())
        returned, ranked, arm = self._named(ranking, judged)
        return Outcome(
            judged,
            returned,
            ranking.notes[0].score if ranking.notes else 0.0,
            arm,
            {name: 1000 * value for name, value in times.items()},
            ranked,
            ranking.tier,
        )

    def _named(self, ranking: Ranking, judged: Judged) -> tuple[list[str], list[str], str]:
        """Return what is shown and what is ranked, as paths, and the arm that ranks the first right hit best."""
        hits = ranking.notes[:DEPTH]
        rows = self.parts.table.by_ids(hit.note_id for hit in hits)
        ranked = [(str(rows[hit.note_id].path), hit) for hit in hits if hit.note_id in rows]
        found = [(path, hit) for path, hit in ranked if hit.tier != "weak"][:LIMIT]
        right = next((hit for path, hit in found if judged.relevant.get(path, 0) > 0 and hit.evidence), None)
        arm = min(right.evidence, key=lambda part: (part.rank, -part.contribution)).arm if right else ""
        return [path for path, _ in found], [path for path, _ in ranked], arm


def evaluate(
    pipeline: Pipeline, judged: Sequence[Judged], mode: Mode = "hybrid", params: Params | None = None
) -> list[Outcome]:
    """Run every query."""
    return [pipeline.ask(one, mode, params) for one in judged]
