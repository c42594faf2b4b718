"""One query, from the arms to the fused list. Knows the ports only; holds no state between queries.

Two steps, because a reader should not wait for a model: ``begin`` asks the arms that need none (words, names), and
``finish`` adds meaning and fuses. Nothing done in the first step is done again in the second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultrag.config import SearchSettings
from vaultrag.model import Clause, Filters, Mode, NameHit, NoteId, Query, WordResult
from vaultrag.ports import NameArm, NoteTable, VectorScan, WordArm
from vaultrag.ranking.evidence import Bars, Proof, coverage, log_odds
from vaultrag.ranking.fusion import Arm, Fused, fuse
from vaultrag.ranking.priors import demote_superseded
from vaultrag.ranking.terms import clauses_of

if TYPE_CHECKING:
    pass

POOL = 100
"""Notes an arm brings at least; more when more hits are asked for."""

NAME_WEIGHT = 0.35
"""Weight of a name that is nearly the query."""

EXACT_NAME = 1.0
"""Added for a note named exactly so: more than all arms together, so that it comes first by rule."""


COVERAGE_SHARE = 0.7
"""Share of a words score that is scaled by how much of the query the note holds: BM25 alone lets one word repeated
often outdo all of them said once."""


FOREIGN_SHARE = 1.7
"""The words' weight is scaled by this for a query in a script that the model can hardly read."""

UNCOVERED_SHARE = 0.4
"""Share of the words' weight that stands whatever they cover; the rest grows with the best coverage."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A query after its first step: what words and names found."""

    query: Query
    mode: Mode
    pool: int
    clauses: tuple[Clause, ...]
    allowed: frozenset[NoteId] | None
    words: WordResult
    names: tuple[NameHit, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A query after its last step, best first: what counts as found, and what stood below the bar.

    ``confidence``: log-odds that anything fits, from the best hit's evidence; ``-inf`` where no arm brought anything.
    """

    found: list[Fused]
    below: list[Fused]
    proofs: dict[NoteId, Proof] = field(default_factory=dict)
    confidence: float = -math.inf


class Engine:
    """Asks the arms and fuses what they bring. Callable from any thread."""

    def __init__(
        self,
        words: WordArm,
        names: NameArm,
        table: NoteTable,
        matching: Callable[[Filters], frozenset[NoteId] | None],
        settings: SearchSettings,
        successors: Callable[[], Mapping[NoteId, frozenset[NoteId]]] = dict,
    ) -> None:
        """Args:
        successors: For each superseded note, the notes that took its place.
        """
        self._words = words
        self._names = names
        self._table = table
        self._matching = matching
        self._settings = settings
        self._successors = successors

    def begin(self, query: Query, *, mode: Mode = "hybrid", limit: int = 10, typing: bool = False) -> Draft:
        """Ask words and names."""
        pool = max(POOL, 3 * limit)
        clauses = tuple(clauses_of(query.terms, typing=typing))
        excluded = clauses_of(query.excluded)
        allowed = self._matching(query.filters)
        if excluded:
            barred = self._words.holding(excluded)
            allowed = (frozenset(self._table.all_ids()) if allowed is None else allowed) - barred
        if mode == "meaning" or not query.terms:
            return Draft(query, mode, pool, clauses, allowed, WordResult(), ())
        words = self._words.search(clauses, k=pool, allowed=allowed)
        names = self._names.search(query.text, allowed=allowed)
        return Draft(query, mode, pool, clauses, allowed, words, tuple(names))

    def finish(self, draft: Draft, scan: VectorScan | None, bars: Bars) -> Ranking:
        """Add meaning, where there is any, and fuse.

        Args:
            draft: From ``begin``.
            scan: The query against all vectors; None where meaning cannot be asked.
            bars: What the model's cosines must reach.
        """
        if draft.query.empty:
            return Ranking([], [])
        if not draft.query.terms:
            return Ranking(self._filtered(draft), [])
        candidates = [hit.note_id for hit in draft.words.hits] + [hit.note_id for hit in draft.names]
        meaning, passages = _meaning_lists(scan, draft, candidates)
        covered = _covered(draft)
        arms = self._arms(draft, covered, meaning, passages, bars)
        exact = {hit.note_id: EXACT_NAME for hit in draft.names if hit.exact}
        fused = fuse(arms, method=self._settings.fusion, boosts=exact)
        fused = demote_superseded(fused, self._successors())
        proofs = _proofs(draft, covered, meaning, passages, scan)
        odds = {hit.note_id: log_odds(proofs[hit.note_id], bars) for hit in fused}
        confidence = max(odds.values(), default=-math.inf)
        bar = bars.follow if confidence >= bars.answer else math.inf
        found = [hit for hit in fused if odds[hit.note_id] >= bar]
        below = [hit for hit in fused if odds[hit.note_id] < bar]
        return Ranking(found, below, proofs, confidence)

    def _arms(
        self,
        draft: Draft,
        covered: Mapping[NoteId, float],
        meaning: list[tuple[NoteId, float]],
        passages: list[tuple[NoteId, float]],
        bars: Bars,
    ) -> list[Arm]:
        words_weight = self._words_weight(draft, covered, bars) if meaning else 1.0
        passages_weight = self._settings.passages_weight if passages else 0.0
        meaning_weight = 1.0 - words_weight
        words = _descending(
            {
                hit.note_id: hit.bm25 * (1.0 - COVERAGE_SHARE + COVERAGE_SHARE * covered[hit.note_id])
                for hit in draft.words.hits
            }
        )
        names = [(hit.note_id, hit.similarity) for hit in draft.names if not hit.exact]
        return [
            *_word_arms(words, words_weight, {note_id for note_id, _ in (*meaning, *passages)}),
            _cosine_arm("meaning", meaning_weight * (1.0 - passages_weight), meaning, draft.pool),
            _cosine_arm("passages", meaning_weight * passages_weight, passages, draft.pool),
            Arm("names", NAME_WEIGHT, names, floor=0.5, ceiling=1.0),
        ]

    def _words_weight(self, draft: Draft, covered: Mapping[NoteId, float], bars: Bars) -> float:
        """Words weigh as much as the best note holds of them: where no note holds the query's words, they mislead."""
        if draft.mode == "meaning":
            return 0.0
        share = UNCOVERED_SHARE + max(covered.values(), default=0.0)
        if bars.latin_only and covered and _foreign(draft.query.text):
            share = FOREIGN_SHARE
        return min(1.0, self._settings.words_weight * share)

    def _filtered(self, draft: Draft) -> list[Fused]:
        """A query of filters alone: every note that meets them, the most recently changed first."""
        return [
            Fused(note_id, 1.0)
            for note_id in self._table.all_ids()
            if draft.allowed is None or note_id in draft.allowed
        ]


def _meaning_lists(
    scan: VectorScan | None, draft: Draft, candidates: Sequence[NoteId]
) -> tuple[list[tuple[NoteId, float]], list[tuple[NoteId, float]]]:
    """Both meaning arms' lists, over one and the same set of notes: each arm's best, and what the others brought.

    (A note that one arm brings has a value in the other too; to count it as nothing there would be wrong.)
    """
    if scan is None or draft.mode == "words":
        return [], []
    by_note = dict(scan.notes(draft.pool, draft.allowed))
    by_passage = dict(scan.passages(draft.pool, draft.allowed))
    for note_id in {*by_note, *by_passage, *candidates}:
        if note_id not in by_note and (score := scan.note(note_id)) is not None:
            by_note[note_id] = score
        if note_id not in by_passage and (found := scan.passage(note_id)) is not None:
            by_passage[note_id] = found[0]
    return _descending(by_note), _descending(by_passage)


def _word_arms(words: list[tuple[NoteId, float]], weight: float, embedded: set[NoteId]) -> list[Arm]:
    """The words arm; a note that has no vector yet is given the benefit of the doubt for half of what it lacks."""
    best = words[0][1] if words else None
    without = [pair for pair in words if pair[0] not in embedded] if embedded else []
    if not without:
        return [Arm("words", weight, words)]
    having = [pair for pair in words if pair[0] in embedded]
    return [
        Arm("words", weight, having, ceiling=best),
        Arm("words", weight + (1.0 - weight) / 2 if weight else 0.0, without, ceiling=best),
    ]


def _descending(scores: dict[NoteId, float]) -> list[tuple[NoteId, float]]:
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def _cosine_arm(name: str, weight: float, ranked: list[tuple[NoteId, float]], pool: int) -> Arm:
    """Cosines are worth what they stand above the list's end: the model's own zero lies far above 0."""
    floor = ranked[min(len(ranked), pool) - 1][1] if len(ranked) > 1 else 0.0
    return Arm(name, weight, ranked, floor=min(floor, ranked[0][1] - 0.1) if ranked else 0.0)


def _foreign(text: str) -> bool:
    """Whether most letters are of another script than Latin."""
    letters = [char for char in text if char.isalpha()]
    return sum(char > "\u024f" for char in letters) * 2 > len(letters)


def _covered(draft: Draft) -> dict[NoteId, float]:
    """Share of the query's word weight that each hit of the words arm holds."""
    weighed = [(count.clause, count.idf) for count in draft.words.counts]
    return {hit.note_id: coverage(weighed, hit.held) for hit in draft.words.hits}


def _proofs(
    draft: Draft,
    covered: Mapping[NoteId, float],
    meaning: list[tuple[NoteId, float]],
    passages: list[tuple[NoteId, float]],
    scan: VectorScan | None,
) -> dict[NoteId, Proof]:
    names = {hit.note_id: hit.similarity for hit in draft.names}
    cosines = dict(meaning)
    for note_id, score in passages:
        cosines[note_id] = max(score, cosines.get(note_id, -1.0))
    mean, deviation = scan.background() if scan is not None and cosines else (0.0, 0.0)
    return {
        note_id: Proof(
            covered.get(note_id, 0.0),
            cosine := cosines.get(note_id),
            (cosine - mean) / deviation if cosine is not None and deviation > 1e-6 else 0.0,
            names.get(note_id, 0.0),
        )
        for note_id in {*covered, *names, *cosines}
    }
