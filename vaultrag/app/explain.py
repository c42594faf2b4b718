"""Why the answer is what it is: the part of each retriever in each hit, and the reason why a note is missing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vaultrag.app.context import VaultContext
from vaultrag.app.diagnosis import diagnose, sources_of
from vaultrag.app.selection import standing_of
from vaultrag.domain import (
    ClauseCount,
    Diagnosis,
    ExplainedHit,
    ExplainedWord,
    NoteId,
    NotePath,
    Query,
)
from vaultrag.retrieval.pipeline import Draft, Ranking
from vaultrag.retrieval.ranked import RankedNote


def words_of(counts: Sequence[ClauseCount]) -> tuple[ExplainedWord, ...]:
    """Return what the query looks for, clause by clause."""
    return tuple(
        ExplainedWord(
            " ".join(count.clause.tokens) + ("…" if count.clause.prefix else ""),
            count.notes,
            0.0 if count.clause.stop else round(count.idf, 3),
            _role(count),
        )
        for count in counts
    )


def _role(count: ClauseCount) -> str:
    if count.clause.stop:
        return "stop"
    if count.clause.part:
        return "part"
    return "phrase" if len(count.clause.tokens) > 1 else "word"


def filters_of(query: Query) -> tuple[str, ...]:
    """Return the filters in force, as the query language spells them."""
    filters, shown = query.filters, []
    for operator, wanted, unwanted in (
        ("tag", filters.tags, filters.not_tags),
        ("path", filters.paths, filters.not_paths),
        ("file", filters.files, filters.not_files),
        ("is", filters.states, filters.not_states),
        ("kind", filters.kinds, filters.not_kinds),
    ):
        shown += [f"{operator}:{value}" for value in wanted] + [f"-{operator}:{value}" for value in unwanted]
    for sign, properties in (("", filters.properties), ("-", filters.not_properties)):
        shown += [f"{sign}[{p.name}]" if p.value is None else f"{sign}[{p.name}:{p.value}]" for p in properties]
    shown += [f"{'-' if one.negated else ''}{one.written}" for one in filters.dates]
    shown += [f"after:{filters.after}"] if filters.after else []
    shown += [f"before:{filters.before}"] if filters.before else []
    return tuple(shown + [f'-"{term.text}"' for term in query.excluded])


class Explainer:
    """Explains one ranking."""

    def __init__(self, parts: VaultContext, draft: Draft, ranking: Ranking) -> None:
        self._parts = parts
        self._draft = draft
        self._ranking = ranking
        self._aged = parts.standings()
        self._order = ranking.notes

    def hits(self, limit: int) -> tuple[ExplainedHit, ...]:
        """Explain the first notes that the retrievers returned, weak ones too."""
        first = self._order[:limit]
        rows = self._parts.table.by_ids(hit.note_id for hit in first)
        return tuple(
            self._hit(rank, hit, rows[hit.note_id].path, rows[hit.note_id].title)
            for rank, hit in enumerate(first, start=1)
            if hit.note_id in rows
        )

    def note(self, path: str) -> ExplainedHit:
        """Explain one note, also one that is not in the answer or not in the index."""
        diagnosis = diagnose(sources_of(self._parts), path)
        known = self._parts.table.id_of(diagnosis.path)
        row = self._parts.table.by_ids([known]).get(known) if known is not None else None
        if row is None:
            return self._absent(NotePath(diagnosis.path), "", f"not in the index: {diagnosis.why}", diagnosis.hint)
        for rank, hit in enumerate(self._order, start=1):
            if hit.note_id == row.note_id:
                return self._hit(rank, hit, row.path, row.title)
        return self._absent(row.path, row.title, self._why_not_returned(row.note_id, diagnosis), diagnosis.hint)

    def _hit(self, rank: int, hit: RankedNote, path: NotePath, title: str) -> ExplainedHit:
        features, row = self._ranking.features, self._ranking.features.row(hit.note_id)
        found = hit.tier != "weak"
        verdict = f"found, at rank {rank}: {hit.tier}" if found else "weak: only offered as one of the nearest notes"
        if row is None:
            return self._absent(path, title, verdict)
        cosines = (features.note_cosine[row], features.passage_cosine[row])
        known = [float(cosine) for cosine in cosines if not math.isnan(cosine)]
        return ExplainedHit(
            path, title, rank, hit.score, round(float(features.coverage[row]), 4), max(known, default=None),
            round(float(features.near_titled[row]), 4), hit.tier, found, verdict, hit.evidence,
            standing_of(self._aged, hit.note_id),
        )  # fmt: skip

    def _absent(self, path: NotePath, title: str, verdict: str, hint: str = "") -> ExplainedHit:
        return ExplainedHit(path, title, 0, 0.0, 0.0, None, 0.0, "weak", False, verdict, hint=hint)

    def _why_not_returned(self, note_id: NoteId, diagnosis: Diagnosis) -> str:
        if self._draft.allowed is not None and note_id not in self._draft.allowed:
            return "left out by the filters: " + " ".join(filters_of(self._draft.query))
        stale = "" if diagnosis.standing == "indexed" else f"; {diagnosis.why}"
        if diagnosis.meaning:
            return f"it holds none of the words, and {diagnosis.meaning}{stale}"
        return f"no retriever had it among its best {self._ranking.params.pool}{stale}"
