"""What is known of a note apart from the query: today only that another note has taken its place.

A factor on the score, told as a part of its own, so that a hit's parts still sum to its score. Every factor is 1 unless
judged queries show a gain; that a superseded note stands below is a rule, not a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vaultrag.model import Evidence, NoteId
from vaultrag.ranking.fusion import Fused

SUPERSEDED = 0.6
"""Factor on the score of a note that says, or of which another says, that it is superseded."""


def demote_superseded(fused: Sequence[Fused], successors: Mapping[NoteId, frozenset[NoteId]]) -> list[Fused]:
    """Put superseded notes down: by a factor, and always below a successor that is in the list too.

    Args:
        fused: Best first.
        successors: For each superseded note, the notes that took its place (empty where they are not known).
    """
    old = {hit.note_id for hit in fused} & successors.keys()
    if not old:
        return list(fused)
    scores = {hit.note_id: hit.score for hit in fused}
    changed = []
    for hit in fused:
        if hit.note_id in old:
            wanted = hit.score * SUPERSEDED
            ahead = [scores[other] for other in successors[hit.note_id] if other in scores and other not in old]
            if ahead:
                wanted = min(wanted, min(ahead) - 1e-6)
            part = Evidence("superseded", 1, SUPERSEDED, 1.0, wanted - hit.score)
            hit = hit._replace(score=wanted, source=(*hit.evidence, part))
        changed.append(hit)
    return sorted(changed, key=lambda hit: (-hit.score, hit.note_id))
