"""Which words of a query an answer lacks, said only where that helps: where the best hit has few of them.

Said wherever a word stands in no note, it would stand under every eighth right answer: people ask in words of their
own, and the note is found by its meaning. Said so, it stands under 3 right answers in 100 and 18 wrong ones.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vaultrag.domain import ClauseCount
from vaultrag.retrieval.pipeline import Draft, Ranking

FEW = 0.25
"""A best hit that holds less of the query's weight than this lacks most of it."""

_SIGNS = ".,;:!?()\"'"

NAMED = 3
"""Words named at most, of those that are missing and of those that are there."""


def missing_words(draft: Draft, ranking: Ranking) -> str:
    """Say which words stand in no note, else that the best hit lacks the rarest; empty where there is nothing to say.

    Args:
        draft: The query with the notes that hold each word.
        ranking: What became of it.
    """
    counts = [count for count in draft.words.counts if _tells(count)]
    if not counts or not ranking.found or ranking.tier == "strong":
        return ""
    best = ranking.found[0].note_id
    row = ranking.features.row(best)
    if row is None or ranking.features.coverage[row] >= FEW:
        return ""
    held = draft.words.holding(np.array([best], np.int64))[0].tolist()
    present = [count for count, holds in zip(draft.words.counts, held, strict=True) if holds and _tells(count)]
    absent = [count for count in counts if not count.notes]
    if absent:
        about = f"showing notes about {_named(draft, present, 'and')}" if present else "showing what is nearest"
        return f"no note has {_named(draft, absent, 'or')}; {about}"
    rarest = max(counts, key=lambda count: count.idf)
    if rarest in present:
        return ""
    has = f"has {_named(draft, present, 'and')}, but " if present else ""
    return f"the best note {has}lacks {_named(draft, [rarest], 'or')}"


def _tells(count: ClauseCount) -> bool:
    clause = count.clause
    return not (clause.stop or clause.part or clause.prefix)


def _named(draft: Draft, counts: Iterable[ClauseCount], conjunction: str) -> str:
    """Name words as they were typed, the rarest first."""
    rarest = sorted(counts, key=lambda count: -count.idf)
    terms = list(dict.fromkeys(draft.query.terms[count.clause.term].text.strip(_SIGNS) for count in rarest))[:NAMED]
    words = [f'"{term}"' for term in terms]
    return f" {conjunction} ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
