"""Whether anything fits at all: how sure the arms can be, from figures that mean the same in every query.

A fused score cannot say this: something is always on top. Two figures can. *Coverage*: the share of the query's word
weight that the note holds. *Cosine*: of the note's own vector or its best passage. A logistic model over the two gives
the log-odds that a note answers; it was fitted on judged queries with and without an answer (tests/quality says how).
The best hit decides whether there is an answer. If there is, hits with less behind them may follow; if not, the answer
is empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vaultrag.model import Clause, NoteId

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bars:
    """The logistic model of one embedding model, and where its bars lie.

    Log-odds = bias + covered * coverage + cosine * cosine + deviations * (cosine's distance from the vault's mean, in
    standard deviations). ``answer``: what the best hit must reach. ``follow``: what the others must.
    ``latin_only``: the model reads little beyond the Latin script; for other queries words have the say.
    """

    bias: float
    covered: float
    cosine: float = 0.0
    deviations: float = 0.0
    answer: float = -2.4
    follow: float = -3.2
    latin_only: bool = False


WORDS_ONLY = Bars(bias=-3.11, covered=6.09)
"""For a note without a vector, or a query asked of words alone."""

UNKNOWN = Bars(bias=-3.83, covered=5.5, deviations=0.18)
"""A model whose cosines were not measured: where they stand among the vault's own is all that can be said."""

# By model: for a query asked of all arms, and for one asked of meaning alone, where no word can vouch for anything.
_BARS = {
    "all-MiniLM-L6-v2-int8": (
        Bars(bias=-5.13, covered=4.2, cosine=5.6, latin_only=True),
        Bars(bias=-4.66, covered=0.0, cosine=8.98),
    ),
    # Its cosines across languages lie lower; moved by the difference, not fitted anew.
    "all-MiniLM-L6-v2-int8+use-multilingual-v3": (
        Bars(bias=-4.8, covered=4.2, cosine=5.6),
        Bars(bias=-4.15, covered=0.0, cosine=8.98),
    ),
}
_UNKNOWN = (UNKNOWN, Bars(bias=-3.0, covered=0.0, deviations=0.6))

NAME_BAR = 0.7
"""A name this like the query is an answer by itself."""

NAMED = 1.0
"""Log-odds of a note that the query names."""


def bars_for(model: str, *, meaning_only: bool = False) -> Bars:
    """The bars of an embedding model, by its name in the index identity; empty for none."""
    return _BARS.get(model, _UNKNOWN)[meaning_only] if model else WORDS_ONLY


@dataclass(frozen=True, slots=True)
class Proof:
    """What the arms say of one hit.

    Attributes:
        covered: Share of the query's word weight the note holds, 0 to 1.
        cosine: Best of the note's own and its best passage's; None without a vector.
        deviations: How far that stands above the vault's mean, in standard deviations.
        name: Likeness of a name, 0 to 1.
    """

    covered: float = 0.0
    cosine: float | None = None
    deviations: float = 0.0
    name: float = 0.0


class Proofs:
    """What the arms say of all hits of a query. Numbers, until one hit is asked about.

    Args:
        ids: Notes, int64[n], ascending.
        covered, cosines, deviations, names: As in ``Proof``, float[len(ids)]; NaN for a cosine that is not there.
    """

    def __init__(
        self, ids: NDArray[np.int64], covered: Floats, cosines: Floats, deviations: Floats, names: Floats
    ) -> None:
        self._ids = ids
        self._covered, self._cosines, self._deviations, self._names = covered, cosines, deviations, names

    def __getitem__(self, note_id: NoteId) -> Proof:
        """Of a note that no arm brought: a proof of nothing."""
        place = int(np.searchsorted(self._ids, note_id))
        if place == len(self._ids) or self._ids[place] != note_id:
            return Proof()
        cosine = float(self._cosines[place])
        return Proof(
            float(self._covered[place]),
            None if math.isnan(cosine) else cosine,
            float(self._deviations[place]),
            float(self._names[place]),
        )

    @property
    def best_covered(self) -> float:
        """The largest share of the query's word weight that one note holds."""
        return float(self._covered.max(initial=0.0))

    def log_odds(self, ids: Sequence[NoteId], bars: Bars) -> Floats:
        """``log_odds`` of each of these notes, all of which an arm brought, float64[len(ids)]."""
        places = np.searchsorted(self._ids, np.asarray(ids, np.int64))
        covered, cosines = self._covered[places], self._cosines[places]
        odds = bars.bias + bars.covered * covered + bars.cosine * cosines + bars.deviations * self._deviations[places]
        odds = np.where(np.isnan(cosines), WORDS_ONLY.bias + WORDS_ONLY.covered * covered, odds)
        return np.where(self._names[places] >= NAME_BAR, np.maximum(odds, NAMED), odds)


_NONE = np.zeros(0)
NOTHING_PROVEN = Proofs(np.zeros(0, np.int64), _NONE, _NONE, _NONE, _NONE)


def log_odds(proof: Proof, bars: Bars) -> float:
    """How sure it is that the note answers; 0 is even."""
    cosine = math.nan if proof.cosine is None else proof.cosine
    values = (proof.covered, cosine, proof.deviations, proof.name)
    return float(Proofs(np.zeros(1, np.int64), *(np.array([value]) for value in values)).log_odds([NoteId(0)], bars)[0])


def coverages(clauses: Sequence[tuple[Clause, float]], held: NDArray[np.bool_]) -> Floats:
    """Share of the query's word weight that each note holds, 0 to 1: float64[n].

    Each query term weighs as its heaviest clause; a term of which only parts are held counts by their share, and at
    most half. A word in no note keeps its weight: that it is missing is evidence too.

    Args:
        clauses: (clause, idf).
        held: Which of them stand in each note, bool[n, len(clauses)].
    """
    indices: dict[int, list[int]] = {}
    for index, (clause, _) in enumerate(clauses):
        if not clause.stop:
            indices.setdefault(clause.term, []).append(index)
    terms = [_Term.of(own, clauses) for own in indices.values()]
    total = sum(term.weight for term in terms)
    if total <= 0:
        return np.zeros(len(held))
    gained = np.zeros(len(held))
    for term in terms:
        gained += term.gained(held)
    return gained / total


@dataclass(frozen=True, slots=True)
class _Term:
    """A query term: what it weighs, and the clauses that stand for it as a whole or in part, with the parts' idf."""

    weight: float
    whole: tuple[int, ...]
    parts: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, indices: Sequence[int], clauses: Sequence[tuple[Clause, float]]) -> _Term:
        return cls(
            max(clauses[i][1] for i in indices),
            tuple(i for i in indices if not clauses[i][0].part),
            tuple((i, clauses[i][1]) for i in indices if clauses[i][0].part),
        )

    def gained(self, held: NDArray[np.bool_]) -> Floats:
        """What each note gets of the term's weight, float64[n]."""
        whole = held[:, self.whole[0]] if len(self.whole) == 1 else held[:, self.whole].any(axis=1)
        if not self.parts:
            return np.multiply(whole, self.weight, dtype=np.float64)
        idf = np.array([idf for _, idf in self.parts])
        share = held[:, [i for i, _ in self.parts]] @ idf / (float(idf.sum()) or 1.0)
        if self.whole and len(self.parts) <= 4:
            share /= 2.0
        gained: Floats = np.where(whole, self.weight, self.weight * share)
        return gained
