"""From what the arms found to the lists that are fused, and to what each hit can prove. No SQLite, no model.

Both meaning arms speak of one and the same set of notes: each arm's best, and whatever the other arms brought. (A note
that one arm brings has a value in the other too; to count it as nothing there would be wrong.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vaultrag.model import NameHit, NoteId, WordResult
from vaultrag.ports import VectorScan
from vaultrag.retrieval.evidence import Proofs, coverages
from vaultrag.retrieval.fusion import Arm

COVERAGE_SHARE = 0.7
"""Share of a words score that is scaled by how much of the query the note holds: BM25 alone lets one word repeated
often outdo all of them said once."""

Ids = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Said:
    """What the words say of a query: notes, int64[n], their BM25, and the share of the query's word weight that each
    holds, float64[n]."""

    ids: Ids
    bm25: Values
    covered: Values

    @property
    def best_covered(self) -> float:
        """The largest share that one note holds."""
        return float(self.covered.max(initial=0.0))


NOTHING_SAID = WordResult(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0), np.bool_))
"""Where words were not asked."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the vectors say of a query.

    Attributes:
        ids: Every note that any arm brought, int64[n], ascending.
        notes: Cosine of each note's own vector, float64[n]; NaN for none.
        passages: Cosine of each note's best passage, float64[n]; NaN for none.
        mean, deviation: The vault's own background.
    """

    ids: Ids
    notes: Values
    passages: Values
    mean: float = 0.0
    deviation: float = 0.0

    @property
    def embedded(self) -> Ids:
        """The notes that have any vector."""
        return self.ids[~(np.isnan(self.notes) & np.isnan(self.passages))]

    @property
    def has_notes(self) -> bool:
        return not np.isnan(self.notes).all()

    @property
    def has_passages(self) -> bool:
        return not np.isnan(self.passages).all()


def ask_meaning(scan: VectorScan | None, pool: int, allowed: frozenset[NoteId] | None, candidates: Ids) -> Meaning:
    """The ``pool`` best notes of each meaning arm, and the candidates of the others; no scan has only those."""
    if scan is None:
        ids = np.unique(candidates)
        return Meaning(ids, np.full(len(ids), np.nan), np.full(len(ids), np.nan))
    return Meaning(*scan.together(pool, allowed, candidates), *scan.background())


def said_by(words: WordResult) -> Said:
    """The words arm's hits, with the share of the query's word weight that each holds."""
    weighed = [(count.clause, count.idf) for count in words.counts]
    return Said(words.ids, words.bm25, coverages(weighed, words.held))


def brought(words: WordResult, names: Sequence[NameHit], linking: Sequence[tuple[NoteId, float]]) -> Ids:
    """The notes that words, names and links bring, int64[n]; one that several bring stands there as often."""
    named = [*(hit.note_id for hit in names), *(note_id for note_id, _ in linking)]
    return np.concatenate([words.ids, np.array(named, np.int64)])


def word_arms(said: Said, weight: float, meaning: Meaning) -> list[Arm]:
    """The words arm; a note that has no vector yet is given the benefit of the doubt for half of what it lacks."""
    ids, scores = descending(said.ids, said.bm25 * (1.0 - COVERAGE_SHARE + COVERAGE_SHARE * said.covered))
    embedded = np.isin(ids, meaning.embedded, assume_unique=True)
    if embedded.all() or not len(meaning.embedded):
        return [Arm("words", weight, ids, scores)]
    best = float(scores[0])
    without_weight = weight + (1.0 - weight) / 2 if weight else 0.0
    return [
        Arm("words", weight, ids[embedded], scores[embedded], ceiling=best),
        Arm("words", without_weight, ids[~embedded], scores[~embedded], ceiling=best),
    ]


def cosine_arm(name: str, weight: float, ids: Ids, cosines: Values, pool: int) -> Arm:
    """Cosines are worth what they stand above the list's end: the model's own zero lies far above 0.

    Args:
        ids: Notes, int64[n].
        cosines: float64[n]; a note with NaN is none of this arm's.
    """
    having = ~np.isnan(cosines)
    ids, cosines = descending(ids[having], cosines[having])
    floor = float(cosines[min(len(cosines), pool) - 1]) if len(cosines) > 1 else 0.0
    return Arm(name, weight, ids, cosines, floor=min(floor, float(cosines[0]) - 0.1) if len(cosines) else 0.0)


def proofs(said: Said, names: Sequence[NameHit], meaning: Meaning) -> Proofs:
    """What each note that an arm brought can prove; ``meaning`` knows them all."""
    ids = meaning.ids

    def column(own: Ids, values: Values) -> Values:
        filled = np.zeros(len(ids))
        filled[np.searchsorted(ids, own)] = values
        return filled

    cosines = np.fmax(meaning.notes, meaning.passages)
    if meaning.deviation > 1e-6:
        deviations = np.nan_to_num((cosines - meaning.mean) / meaning.deviation)
    else:
        deviations = np.zeros(len(ids))
    named = np.array([hit.note_id for hit in names], np.int64)
    likeness = np.array([hit.similarity for hit in names], np.float64)
    return Proofs(ids, column(said.ids, said.covered), cosines, deviations, column(named, likeness))


def descending(ids: Ids, scores: Values) -> tuple[Ids, Values]:
    """Best first; ties go to the note known longest."""
    order = np.lexsort((ids, -scores))
    return ids[order], scores[order]
