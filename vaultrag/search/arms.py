"""From what the arms found to the lists that are fused, and to what each hit can prove. No SQLite, no model.

Both meaning arms speak of one and the same set of notes: each arm's best, and whatever the other arms brought. (A note
that one arm brings has a value in the other too; to count it as nothing there would be wrong.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vaultrag.model import NameHit, NoteId, WordResult
from vaultrag.ports import VectorScan
from vaultrag.ranking.evidence import Proofs, coverages
from vaultrag.ranking.fusion import Arm

COVERAGE_SHARE = 0.7
"""Share of a words score that is scaled by how much of the query the note holds: BM25 alone lets one word repeated
often outdo all of them said once."""

Scored = list[tuple[NoteId, float]]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the vectors say of a query: both arms' lists, best first, and the vault's own background."""

    notes: Scored
    passages: Scored
    mean: float = 0.0
    deviation: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.notes)


NO_MEANING = Meaning([], [])


def ask_meaning(
    scan: VectorScan, pool: int, allowed: frozenset[NoteId] | None, candidates: Sequence[NoteId]
) -> Meaning:
    """The ``pool`` best notes of each meaning arm, and the candidates of the others."""
    by_note = dict(scan.notes(pool, allowed))
    by_passage = dict(scan.passages(pool, allowed))
    own, best = scan.cosines(list({*by_note, *by_passage, *candidates}))
    own.update(by_note)  # the best of them are exact
    best.update(by_passage)
    return Meaning(descending(own), descending(best), *scan.background())


def covered_by(words: WordResult) -> dict[NoteId, float]:
    """Share of the query's word weight that each hit of the words arm holds."""
    weighed = [(count.clause, count.idf) for count in words.counts]
    return dict(zip([hit.note_id for hit in words.hits], coverages(weighed, [h.held for h in words.hits]), strict=True))


def word_arms(words: WordResult, covered: Mapping[NoteId, float], weight: float, meaning: Meaning) -> list[Arm]:
    """The words arm; a note that has no vector yet is given the benefit of the doubt for half of what it lacks."""
    scored = descending(
        {hit.note_id: hit.bm25 * (1.0 - COVERAGE_SHARE + COVERAGE_SHARE * covered[hit.note_id]) for hit in words.hits}
    )
    best = scored[0][1] if scored else None
    embedded = {note_id for note_id, _ in (*meaning.notes, *meaning.passages)}
    without = [pair for pair in scored if pair[0] not in embedded] if embedded else []
    if not without:
        return [Arm("words", weight, scored)]
    having = [pair for pair in scored if pair[0] in embedded]
    return [
        Arm("words", weight, having, ceiling=best),
        Arm("words", weight + (1.0 - weight) / 2 if weight else 0.0, without, ceiling=best),
    ]


def cosine_arm(name: str, weight: float, ranked: Scored, pool: int) -> Arm:
    """Cosines are worth what they stand above the list's end: the model's own zero lies far above 0."""
    floor = ranked[min(len(ranked), pool) - 1][1] if len(ranked) > 1 else 0.0
    return Arm(name, weight, ranked, floor=min(floor, ranked[0][1] - 0.1) if ranked else 0.0)


def proofs(
    covered: Mapping[NoteId, float], names: Sequence[NameHit], linking: Sequence[tuple[NoteId, float]], meaning: Meaning
) -> Proofs:
    """What each note that an arm brought can prove."""
    likeness = {hit.note_id: hit.similarity for hit in names}
    notes, passages = dict(meaning.notes), dict(meaning.passages)
    ids = list({*covered, *likeness, *notes, *passages, *dict(linking)})

    def column(values: Mapping[NoteId, float], missing: float) -> NDArray[np.float64]:
        return np.fromiter((values.get(note_id, missing) for note_id in ids), np.float64, len(ids))

    cosines = np.fmax(column(notes, np.nan), column(passages, np.nan))
    if meaning.deviation > 1e-6:
        deviations = np.nan_to_num((cosines - meaning.mean) / meaning.deviation)
    else:
        deviations = np.zeros(len(ids))
    return Proofs(ids, column(covered, 0.0), cosines, deviations, column(likeness, 0.0))


def descending(scores: Mapping[NoteId, float]) -> Scored:
    """Best first; ties go to the note known longest."""
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
