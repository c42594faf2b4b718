"""One score for every note, from its features alone: the same figure whatever else stands in the list.

Nothing is normalised by the query or by the pool, so a score means the same in every answer, and the tiers of
``retrieval.tiers`` can be cut from it.
"""

from __future__ import annotations

import numpy as np

from vaultrag.domain import REFERENCE, Scale
from vaultrag.retrieval.features import Features, Floats
from vaultrag.retrieval.params import Params

Parts = dict[str, Floats]


def score(features: Features, params: Params) -> Floats:
    """Score each note, float64[n]; higher is better."""
    total: Floats = np.sum(list(parts(features, params).values()), axis=0)
    return total


def parts(features: Features, params: Params) -> Parts:
    """Return what each retriever adds to the score, float64[n] each; they sum to it.

    The formula is in ``Params``. A note without a passage of its own is judged by its own vector, and one that has no
    vector yet by the mean of those that have: to count it as nothing would put it behind all of them.
    """
    likeness = np.clip((features.name - params.names_floor) / (1.0 - params.names_floor), 0.0, 1.0)
    titles = np.where(features.exact, 1.0, likeness) * params.names
    worth = features.vectors
    share = np.maximum(features.words, params.window * features.near)
    if not features.by_words:
        words = params.words * share
        nearness = params.words_near * share * features.near_titled + params.near * features.near
    else:
        words = params.alone_words * share
        nearness = params.alone_near * features.near
    note, passage = _cosines(features, params)
    dates = {"dates": params.dated * features.dated} if len(features.dated) else {}
    return {
        "words": words,
        "nearness": nearness,
        "meaning": worth * note,
        "passages": worth * passage,
        "names": titles,
        **dates,
    }


def _cosines(features: Features, params: Params) -> tuple[Floats, Floats]:
    """Return what a note's own vector and its best passage add."""
    own, best = features.note_cosine, features.passage_cosine
    own = np.where(np.isnan(own), best, own)
    best = np.where(np.isnan(best), own, best)
    known = ~np.isnan(own)
    if not known.any() or not features.vectors:
        return np.zeros(len(own)), np.zeros(len(own))
    own, best = _calibrated(own, features.scale), _calibrated(best, features.scale)
    share = params.note_share / (1.0 + np.maximum(features.passage_count, 1.0) / params.note_scale)
    own = np.where(known, own, own[known].mean())
    best = np.where(known, best, best[known].mean())
    return share * own, (1.0 - share) * best


def _calibrated(cosines: Floats, scale: Scale) -> Floats:
    """Bring the cosines of any model, float64[n], to the scale of the reference; 1 at most."""
    stretch = (REFERENCE.near - REFERENCE.far) / (scale.near - scale.far)
    return np.minimum(1.0, REFERENCE.far + stretch * (cosines - scale.far))
