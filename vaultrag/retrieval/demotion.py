"""What is known of a note apart from the query: that it no longer holds, or not yet.

A factor on the score, listed as a part of its own, so that a hit's parts still sum to its score. That a note stands
below what took its place is a rule, not a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import Evidence, NoteId, NoteValidity
from vaultrag.retrieval.features import Floats
from vaultrag.retrieval.ranked import Adjustment, RankedNote


def demotions(
    ids: NDArray[np.int64],
    scores: Floats,
    aged: Mapping[NoteId, NoteValidity],
    factor: float,
) -> dict[NoteId, Adjustment]:
    """Tell what is taken from the scores of notes that no longer hold.

    Each by the factor, and so much that it stands below whatever took its place and is in the list too; one whose
    time is still to come, below that whose place it will take.

    Args:
        ids: Notes, int64[n], ascending.
        scores: float64[n].
        aged: The notes that do not simply hold.
        factor: On the score of each of them.
    """
    if not aged:
        return {}
    listed: dict[NoteId, float] = dict(zip(map(NoteId, ids.tolist()), scores.tolist(), strict=True))
    outdated = {note_id: aged[note_id] for note_id in listed if note_id in aged}
    lowered: dict[NoteId, float] = {}
    # A note's successors come before it: theirs are fewer. (In a circle nobody is first; there only the factor holds.)
    for note_id in sorted(outdated, key=lambda note_id: (len(outdated[note_id].successors), note_id)):
        above = [
            lowered.get(other, listed[other])
            for other in outdated[note_id].successors
            if other in listed and (other not in outdated or note_id not in outdated[other].successors)
        ]
        lowered[note_id] = min([listed[note_id] * factor, *(value - 1e-6 for value in above)])
    return {
        note_id: Adjustment(outdated[note_id].standing.state, factor, value - listed[note_id])
        for note_id, value in lowered.items()
    }


def demoted(notes: Sequence[RankedNote], aged: Mapping[NoteId, NoteValidity], factor: float) -> list[RankedNote]:
    """Order notes anew, with those demoted that no longer hold."""
    known = sorted(notes, key=lambda note: note.note_id)
    ids, scores = np.array([note.note_id for note in known], np.int64), np.array([note.score for note in known])
    lowered = demotions(ids, scores, aged, factor)
    found = [
        note._replace(
            score=note.score + one.amount, source=(*note.evidence, Evidence(one.name, 1, one.factor, 1.0, one.amount))
        )
        if (one := lowered.get(note.note_id)) is not None
        else note
        for note in known
    ]
    return sorted(found, key=lambda note: (-note.score, note.note_id))
