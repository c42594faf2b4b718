"""From outcomes to figures: means by kind, who found what, how honest empty answers are, what differs by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from vaultrag import __version__
from vaultrag.build import build_id
from vaultrag.domain import Mode
from vaultrag.evaluate.metrics import PER_QUERY, auroc, hit, ndcg, paired_interval, percentile
from vaultrag.evaluate.run import LIMIT, Outcome, Pipeline
from vaultrag.retrieval.params import Params
from vaultrag.retrieval.tiers import NAMES


def report(outcomes: Sequence[Outcome], pipeline: Pipeline, mode: Mode, params: Params) -> dict[str, Any]:
    """Figures of a run, ready for JSON."""
    view = pipeline.parts.meaning.view
    kinds = sorted({outcome.judged.kind for outcome in outcomes if outcome.judged.answerable})
    notes = pipeline.parts.index.count()
    return {
        "version": __version__,
        "build": build_id(),
        "identity": view.vectors.identity.key if view.vectors is not None else "",
        "mode": mode,
        "model": view.vectors.identity.model if view.vectors is not None and mode != "words" else "",
        "params": asdict(params),
        "limit": LIMIT,
        "notes": notes,
        "queries": len(outcomes),
        "all": means(outcomes),
        "ranked": means(outcomes, ranked=True),
        "tiers": by_tier(outcomes),
        "kinds": {kind: means([o for o in outcomes if o.judged.kind == kind]) for kind in kinds},
        "first_right_hit_by": _attribution(outcomes),
        "abstention": abstention(outcomes),
        "returned_share": sum(len(o.returned) for o in outcomes) / max(1, len(outcomes) * notes),
        "ms": {
            step: {
                "p50": round(percentile([o.times_ms[step] for o in outcomes if step in o.times_ms], 0.5), 3),
                "p95": round(percentile([o.times_ms[step] for o in outcomes if step in o.times_ms], 0.95), 3),
            }
            for step in ("words", "embed", "scan", "rank", "total")
            if any(step in o.times_ms for o in outcomes)
        },
        "embedded_for_this_run": pipeline.parts.meaning.texts_embedded,
    }


def means(outcomes: Sequence[Outcome], *, ranked: bool = False) -> dict[str, float]:
    """Return the mean of each figure over the answerable queries, and their number.

    Args:
        ranked: Of all notes in order, also the weak ones that are not shown as found.
    """
    answerable = [outcome for outcome in outcomes if outcome.judged.answerable and outcome.judged.relevant]
    figures = {
        name: round(
            sum(figure(o.ranked if ranked else o.returned, o.judged.relevant) for o in answerable) / len(answerable), 4
        )
        for name, figure in PER_QUERY.items()
        if answerable
    }
    return {"queries": len(answerable), **figures}


def by_tier(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Any]]:
    """Return for each tier how many answers have it, to answerable queries and to others, and how many begin rightly.

    Precision counts the answers of the tier to all queries: a strong one to an unanswerable query is wrong.
    """
    table: dict[str, dict[str, Any]] = {}
    for tier in NAMES[::-1]:
        chosen = [o for o in outcomes if o.tier == tier]
        answerable = [o for o in chosen if o.judged.answerable]
        right = sum(hit(o.ranked, o.judged.relevant, 1) for o in answerable)
        table[tier] = {
            "answerable": len(answerable),
            "unanswerable": len(chosen) - len(answerable),
            "precision": round(right / len(chosen), 4) if chosen else float("nan"),
        }
    return table


def abstention(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return how well "nothing found" is said: precision and recall of empty answers, and AUROC of the confidence.

    AUROC is also given for each kind of unanswerable query against all answerable ones.
    """
    silent = [o for o in outcomes if not o.returned]
    unanswerable = [o for o in outcomes if not o.judged.answerable]
    right = sum(not o.judged.answerable for o in silent)
    sure = [o.confidence for o in outcomes if o.judged.answerable]
    kinds = sorted({o.judged.kind for o in unanswerable})
    return {
        "empty": len(silent),
        "unanswerable": len(unanswerable),
        "precision": round(right / len(silent), 4) if silent else float("nan"),
        "recall": round(right / len(unanswerable), 4) if unanswerable else float("nan"),
        "auroc": round(auroc(sure, [o.confidence for o in unanswerable]), 4),
        "auroc_by_kind": {
            kind: round(auroc(sure, [o.confidence for o in unanswerable if o.judged.kind == kind]), 4) for kind in kinds
        },
    }


def _attribution(outcomes: Sequence[Outcome]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.judged.answerable:
            counts[outcome.arm or "none"] = counts.get(outcome.arm or "none", 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))


@dataclass(frozen=True, slots=True)
class Variant:
    """The same queries on the same index, asked in another way."""

    name: str
    mode: Mode
    params: Params


def ablations(mode: Mode, params: Params) -> list[Variant]:
    """Leave out one part of a hybrid search at a time."""
    variants = [
        Variant("words alone", "words", params),
        Variant("meaning alone", "meaning", params),
        Variant(
            "without nearness",
            "hybrid",
            replace(params, words=params.words + params.words_near, words_near=0.0, near=0.0),
        ),
        Variant("note vectors only", "hybrid", replace(params, note_share=1.0, note_scale=1e9)),
        Variant("passages only", "hybrid", replace(params, note_share=0.0)),
    ]
    return [variant for variant in variants if (variant.mode, variant.params) != (mode, params)]


def per_query(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """nDCG@10 of each answerable query, by its id."""
    return {
        o.judged.id: round(ndcg(o.returned, o.judged.relevant, 10), 4)
        for o in outcomes
        if o.judged.answerable and o.judged.relevant
    }


def difference(new: Mapping[str, float], old: Mapping[str, float]) -> dict[str, Any]:
    """Return the mean of ``old`` and of what ``new`` adds to it over the queries both have, with its 95 % interval.

    Where the interval holds 0, the difference may be noise.
    """
    both = sorted(new.keys() & old.keys())
    differences = [new[name] - old[name] for name in both]
    low, high = paired_interval(differences)
    size = max(1, len(both))
    return {
        "queries": len(both),
        "ndcg@10": round(sum(old[name] for name in both) / size, 4),
        "gain": round(sum(differences) / size, 4),
        "interval": [round(low, 4), round(high, 4)],
    }
