"""How sure a hit is: strong, partial or weak, by its score and by a few rules where a score cannot tell.

A score that means the same in every query can rank and abstain at once. What is strong or partial is *found*; what is
weak is offered apart from it, as the nearest there is, and never mixed in. *Strong* says that the note is close to the
question, not that it answers it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import Tier
from vaultrag.retrieval.features import Features, Floats
from vaultrag.retrieval.params import Params

Codes = NDArray[np.int8]

WEAK, PARTIAL, STRONG = 0, 1, 2
NAMES: Final[tuple[Tier, Tier, Tier]] = ("weak", "partial", "strong")

ALL = 0.999
"""A share of the query from which a note holds all of it."""


def best_tier(found: Iterable[Tier]) -> Tier:
    """Return the highest of these tiers; weak where there is none."""
    return max(found, key=NAMES.index, default="weak")


def tiers(features: Features, scores: Floats, params: Params, *, identifier_missing: bool, every: bool) -> Codes:
    """Tell each hit's tier: int8[n], of ``WEAK``, ``PARTIAL`` and ``STRONG``.

    Args:
        features: Of the notes.
        scores: Of the notes, in the same order.
        params: The thresholds.
        identifier_missing: Whether an identifier is asked for that stands in no note: its neighbours are no answer.
        every: Whether all that fits is asked for, so that nothing is a mere tail.
    """
    strong, partial = params.strong, params.partial
    if features.multilingual:
        strong, partial = params.multilingual_strong, params.multilingual_partial
    elif features.by_words:
        strong, partial = params.alone_strong, params.alone_partial
    reached = scores - params.identifier if identifier_missing else scores
    codes = np.where(reached >= strong, STRONG, np.where(reached >= partial, PARTIAL, WEAK)).astype(np.int8)
    if not every:
        codes[scores < scores.max(initial=0.0) - params.tail] = WEAK
    if not identifier_missing:
        codes[(features.coverage >= ALL) & (codes == WEAK)] = PARTIAL
    codes[(features.name >= params.fuzzy_name) & (codes == WEAK)] = PARTIAL
    codes[features.exact] = STRONG
    return codes
