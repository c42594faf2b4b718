"""What is known of a note apart from the query: that it no longer holds.

A factor on the score, told as a part of its own, so that a hit's parts still sum to its score. Every factor is 1 unless
judged queries show a gain; that what no longer holds stands below is a rule, not a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from vaultrag.model import Aged, Evidence, NoteId
from vaultrag.retrieval.fusion import Fused

NO_LONGER = 0.6
"""Factor on the score of a note that is superseded, expired or invalidated."""

Period = tuple[date, date]


def demote(fused: Sequence[Fused], aged: Mapping[NoteId, Aged], asked: Period | None = None) -> list[Fused]:
    """Put down what no longer holds: by a factor, and always below what took its place and is in the list too.

    Args:
        fused: Best first.
        aged: The notes that do not simply hold.
        asked: The time the query is about; what was valid then is not put down.
    """
    if not aged:
        return list(fused)
    fallen = {hit.note_id: aged[hit.note_id] for hit in fused if _fallen(aged.get(hit.note_id), asked)}
    if not fallen:
        return list(fused)
    scores = {hit.note_id: hit.score for hit in fused}
    lowered: dict[NoteId, float] = {}
    # A note's successors come before it: theirs are fewer. (In a circle nobody is first; there only the factor holds.)
    for note_id in sorted(fallen, key=lambda note_id: (len(fallen[note_id].successors), note_id)):
        above = [
            lowered.get(other, scores[other])
            for other in fallen[note_id].successors
            if other in scores and (other not in fallen or note_id not in fallen[other].successors)
        ]
        lowered[note_id] = min([scores[note_id] * NO_LONGER, *(score - 1e-6 for score in above)])
    changed = [_put_down(hit, fallen[hit.note_id], lowered[hit.note_id]) if hit.note_id in fallen else hit
               for hit in fused]  # fmt: skip
    return sorted(changed, key=lambda hit: (-hit.score, hit.note_id))


def _fallen(one: Aged | None, asked: Period | None) -> bool:
    if one is None or one.standing.state == "upcoming":
        return False
    # Without an end nobody knows whether it held then; and what is invalid never held.
    if asked is None or one.last is None or one.standing.state == "invalidated":
        return True
    return not (one.last >= asked[0] and (one.first is None or one.first <= asked[1]))


def _put_down(hit: Fused, one: Aged, score: float) -> Fused:
    part = Evidence(one.standing.state, 1, NO_LONGER, 1.0, score - hit.score)
    return hit._replace(score=score, source=(*hit.evidence, part))
