"""One query, from the arms to the fused list. Knows the ports only; holds no state between queries.

Two steps, because a reader should not wait for a model: ``begin`` asks the arms that need none (words, names), and
``finish`` adds meaning and fuses. Nothing done in the first step is done again in the second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import compress

from vaultrag.config import SearchSettings
from vaultrag.model import Aged, Clause, Filters, Mode, NameHit, NoteId, Query, WordResult
from vaultrag.notes.words import unspaced
from vaultrag.ports import NameArm, NoteTable, VectorScan, WordArm
from vaultrag.retrieval.arms import (
    NOTHING_SAID,
    Meaning,
    Said,
    ask_meaning,
    brought,
    cosine_arm,
    proofs,
    said_by,
    word_arms,
)
from vaultrag.retrieval.clauses import clauses_of
from vaultrag.retrieval.evidence import NOTHING_PROVEN, WORDS_ONLY, Bars, Proofs
from vaultrag.retrieval.fusion import Arm, Fused, fuse
from vaultrag.retrieval.priors import demote
from vaultrag.retrieval.query_intent import period_of, shapes_of

POOL = 100
"""Notes an arm brings at least; more when more hits are asked for."""

ALL_WANTED = 0.7
"""Log-odds that a hit may lack behind the best one when all that fits is asked for."""

NO_SUCH_IDENTIFIER = 1.0
"""Added to the bars where an identifier is asked for that no note holds: its neighbours are no answer."""

NAME_WEIGHT = 0.35
"""Weight of a name that is nearly the query."""

EXACT_NAME = 1.0
"""Added for a note named exactly so: more than all arms together, so that it comes first by rule."""


FOREIGN_SHARE = 1.7
"""The words' weight is scaled by this for a query in a script that the model can hardly read."""

MIN_SLIP_LETTERS = 5
"""A slip in a shorter word makes another word."""

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
    linking: tuple[tuple[NoteId, float], ...] = ()
    respelled: tuple[tuple[str, str], ...] = ()

    @property
    def lacks_identifier(self) -> bool:
        """Whether an identifier is asked for (letters with digits, ``ERR-4471``) that stands in no note."""
        return any(not count.notes and _is_identifier(count.clause) for count in self.words.counts)


@dataclass(frozen=True, slots=True)
class Ranking:
    """A query after its last step, best first: what counts as found, and what stood below the bar.

    ``confidence``: log-odds that anything fits, from the best hit's evidence; ``-inf`` where no arm brought anything.
    ``bars``: what had to be reached.
    """

    found: list[Fused]
    below: list[Fused]
    proofs: Proofs = NOTHING_PROVEN
    confidence: float = -math.inf
    bars: Bars = WORDS_ONLY


class Engine:
    """Asks the arms and fuses what they bring. Callable from any thread."""

    def __init__(
        self,
        words: WordArm,
        names: NameArm,
        table: NoteTable,
        matching: Callable[[Filters], frozenset[NoteId] | None],
        settings: SearchSettings,
        standings: Callable[[], Mapping[NoteId, Aged]] = dict,
    ) -> None:
        """Args:
        standings: The notes that no longer hold, or not yet.
        """
        self._words = words
        self._names = names
        self._table = table
        self._matching = matching
        self._settings = settings
        self._standings = standings

    def with_settings(self, settings: SearchSettings) -> Engine:
        """The same arms, weighed in another way."""
        return Engine(self._words, self._names, self._table, self._matching, settings, self._standings)

    def begin(
        self,
        query: Query,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        typing: bool = False,
        barred: frozenset[NoteId] = frozenset(),
    ) -> Draft:
        """Ask words and names. Notes in ``barred`` are in no arm's list."""
        pool = pool_for(limit)
        clauses = tuple(clauses_of(query.terms, typing=typing))
        excluded = clauses_of(query.excluded)
        allowed = self._matching(query.filters)
        if excluded:
            barred |= self._words.holding(excluded)
        if barred:
            allowed = (frozenset(self._table.all_ids()) if allowed is None else allowed) - barred
        if mode == "meaning" or not query.terms:
            return Draft(query, mode, pool, clauses, allowed, NOTHING_SAID, ())
        words = self._words.search(clauses, k=pool, allowed=allowed)
        slips = self._slips(words)
        if slips:
            clauses += tuple(Clause((meant,), clause.term) for clause, all_meant in slips for meant in all_meant)
            words = self._words.search(clauses, k=pool, allowed=allowed)
        names = self._names.search(query.text, allowed=allowed)
        linking = self._names.linking(query.text, allowed=allowed) if self._settings.links_weight else []
        respelled = tuple((clause.tokens[0], meant) for clause, all_meant in slips for meant in all_meant)
        return Draft(query, mode, pool, clauses, allowed, words, tuple(names), tuple(linking), respelled)

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
        candidates = brought(draft.words, draft.names, draft.linking)
        meaning = ask_meaning(scan if draft.mode != "words" else None, draft.pool, draft.allowed, candidates)
        said = said_by(draft.words)
        arms = self._arms(draft, said, meaning, bars)
        exact = {hit.note_id: EXACT_NAME for hit in draft.names if hit.exact}
        fused = fuse(arms, meaning.ids, method=self._settings.fusion, boosts=exact)
        shapes = shapes_of(draft.query.text)
        if "past" not in shapes:
            fused = demote(fused, self._standings(), period_of(draft.query.text))
        proven = proofs(said, draft.names, meaning)
        odds = proven.log_odds([hit.note_id for hit in fused], bars)
        confidence = float(odds.max(initial=-math.inf))
        if draft.lacks_identifier:
            bars = replace(bars, answer=bars.answer + NO_SUCH_IDENTIFIER, follow=bars.follow + NO_SUCH_IDENTIFIER)
        follow = bars.follow - ALL_WANTED if "enumerating" in shapes else bars.follow
        bar = follow if confidence >= bars.answer else math.inf
        clears = (odds >= bar).tolist()
        found = list(compress(fused, clears))
        below = [hit for hit, clear in zip(fused, clears, strict=True) if not clear]
        return Ranking(found, below, proven, confidence, bars)

    def _slips(self, words: WordResult) -> list[tuple[Clause, list[str]]]:
        """Words that stand in no note, and the words of names that they may be slips of."""
        return [
            (count.clause, meant)
            for count in words.counts
            if not count.notes and _may_be_slip(count.clause) and (meant := self._names.spelled(count.clause.tokens[0]))
        ]

    def _arms(self, draft: Draft, said: Said, meaning: Meaning, bars: Bars) -> list[Arm]:
        words_weight = self._words_weight(draft, said, bars) if meaning.has_notes else 1.0
        passages_weight = self._settings.passages_weight if meaning.has_passages else 0.0
        of_notes, of_passages = (1.0 - words_weight) * (1.0 - passages_weight), (1.0 - words_weight) * passages_weight
        names = [(hit.note_id, hit.similarity) for hit in draft.names if not hit.exact]
        return [
            *word_arms(said, words_weight, meaning),
            cosine_arm("meaning", of_notes, meaning.ids, meaning.notes, draft.pool),
            cosine_arm("passages", of_passages, meaning.ids, meaning.passages, draft.pool),
            Arm.of("names", NAME_WEIGHT, names, floor=0.5, ceiling=1.0),
            Arm.of("links", self._settings.links_weight, draft.linking, ceiling=1.0),
        ]

    def _words_weight(self, draft: Draft, said: Said, bars: Bars) -> float:
        """Words weigh as much as the best note holds of them: where no note holds the query's words, they mislead."""
        if draft.mode == "meaning":
            return 0.0
        share = UNCOVERED_SHARE + said.best_covered
        if bars.latin_only and len(said.ids) and _foreign(draft.query.text):
            share = FOREIGN_SHARE
        return min(1.0, self._settings.words_weight * share)

    def _filtered(self, draft: Draft) -> list[Fused]:
        """A query of filters alone: every note that meets them, the most recently changed first."""
        return [
            Fused(note_id, 1.0)
            for note_id in self._table.all_ids()
            if draft.allowed is None or note_id in draft.allowed
        ]


def pool_for(limit: int) -> int:
    """How many notes each arm brings for so many hits."""
    return max(POOL, 3 * limit)


def _may_be_slip(clause: Clause) -> bool:
    token = clause.tokens[0]
    return (
        len(clause.tokens) == 1
        and not (clause.prefix or clause.part or clause.stop)
        and len(token) >= MIN_SLIP_LETTERS
        and token.isalpha()
        and not unspaced(token)
    )


def _is_identifier(clause: Clause) -> bool:
    text = "".join(clause.tokens)
    return not clause.part and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _foreign(text: str) -> bool:
    """Whether most letters are of another script than Latin."""
    letters = [char for char in text if char.isalpha()]
    return sum(char > "\u024f" for char in letters) * 2 > len(letters)
