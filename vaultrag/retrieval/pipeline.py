"""One query, from the retrievers to ranked hits: the only place where notes are ordered.

Search, explain, eval and the search within a note all call it. Two steps, because a reader should not wait for a model:
``begin`` asks the retrievers that need none (lexical, titles), and ``rank`` adds the vectors, scores and cuts into
tiers. Nothing done in the first step is done again in the second. Holds no state between queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import repeat

import numpy as np

from vaultrag.domain import (
    REFERENCE,
    Clause,
    DateUse,
    Filters,
    LexicalFeatures,
    Mode,
    NameHit,
    NoteId,
    PropertyFilter,
    Query,
    Tier,
    VectorMatches,
)
from vaultrag.domain.dates import DatedEntry, DatedNote, Period
from vaultrag.protocols import LexicalMatches, LexicalRetriever, NoteTable, TitleRetriever
from vaultrag.retrieval.clauses import clauses_of, row_of
from vaultrag.retrieval.features import NO_FEATURES, Features
from vaultrag.retrieval.params import DEFAULT, Params
from vaultrag.retrieval.query_intent import intents_of
from vaultrag.retrieval.query_parser import cut, parse_query
from vaultrag.retrieval.ranked import RankedNote, Source
from vaultrag.retrieval.scoring import parts
from vaultrag.retrieval.tiers import NAMES, PARTIAL, best_tier, tiers
from vaultrag.retrieval.time_ranking import adjustments as adjustments_of
from vaultrag.retrieval.time_ranking import in_order, nearest_in_time, order_by_date, shares, without_phrase
from vaultrag.retrieval.validity import AllValid, Validities
from vaultrag.text.number_forms import MIN_CODE_DIGITS, compact_date
from vaultrag.text.tokenize import unspaced
from vaultrag.vector_protocols import VectorScan

MIN_SLIP_LETTERS = 5
"""A slip in a shorter word makes another word."""

MIN_LETTERS, MIN_INNER_LETTERS = 3, 5
"""Of a word that may be the beginning of another one, and of one that may be any part of it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A query after its first step: what the lexical and the title retriever brought."""

    query: Query
    mode: Mode
    clauses: tuple[Clause, ...]
    allowed: frozenset[NoteId] | None
    words: LexicalMatches
    names: tuple[NameHit, ...] = ()
    respelled: tuple[tuple[str, str], ...] = ()
    dated: Mapping[NoteId, DatedNote] = field(default_factory=dict)
    """The notes that lie in the time asked for, or hold an entry that does."""

    @property
    def lacks_identifier(self) -> bool:
        """Return whether an identifier is asked for (a date, a long code, letters with digits) that no note holds."""
        return any(
            not count.notes
            and _is_identifier(count.clause)
            and not (self.dated and compact_date("".join(count.clause.tokens)))
            for count in self.words.counts
        )

    @property
    def period(self) -> Period | None:
        """Return the time asked for."""
        return self.query.phrase.period if self.query.phrase is not None else None

    @property
    def entries(self) -> dict[NoteId, tuple[DatedEntry, ...]]:
        """Return the dated sections and lines that lie in the time asked for, by note."""
        return {note_id: note.entries for note_id, note in self.dated.items() if note.entries}


@dataclass(frozen=True, slots=True)
class Ranking:
    """A query after its last step.

    Attributes:
        notes: Every note that a retriever brought, best first, with its tier.
        features: What the score was made of.
        params: The parameters it was made with.
    """

    notes: Sequence[RankedNote] = ()
    features: Features = NO_FEATURES
    params: Params = DEFAULT

    @property
    def found(self) -> list[RankedNote]:
        """The hits that are strong or partial."""
        return [note for note in self.notes if note.tier != "weak"]

    @property
    def weak(self) -> list[RankedNote]:
        """The others: the nearest there is."""
        return [note for note in self.notes if note.tier == "weak"]

    @property
    def tier(self) -> Tier:
        """The answer's: that of its best hit."""
        return best_tier(note.tier for note in self.notes)


class Pipeline:
    """Asks the retrievers and ranks what they bring. Thread-safe."""

    def __init__(
        self,
        words: LexicalRetriever,
        names: TitleRetriever,
        table: NoteTable,
        matching: Callable[[Filters], frozenset[NoteId] | None],
        validity: Validities = AllValid(),  # noqa: B008 - holds nothing
        params: Params = DEFAULT,
        today: Callable[[], date] | None = None,
    ) -> None:
        """Rank with these retrievers.

        Args:
            validity: The notes that hold, today or at another time.
            today: The day, by the owner's calendar; without it nothing is read that is relative to it.
        """
        self._today = today
        self._words = words
        self._names = names
        self._table = table
        self._matching = matching
        self._validity = validity
        self.params = params

    def with_params(self, params: Params) -> Pipeline:
        """Return the same retrievers with other parameters."""
        return Pipeline(self._words, self._names, self._table, self._matching, self._validity, params, self._today)

    def read(self, raw: str) -> Query:
        """Read a query as this vault understands it."""
        return parse_query(raw, self, self._today() if self._today is not None else None)

    def has_property(self, name: str) -> bool:
        """Return True if some note has this property."""
        return bool(self._matching(Filters(properties=(PropertyFilter(name),))))

    def has_name(self, text: str) -> bool:
        """Return True if some note has this name or path, sign for sign."""
        return self._names.has(text)

    def begin(
        self,
        query: Query,
        *,
        mode: Mode = "hybrid",
        typing: bool = False,
        barred: frozenset[NoteId] = frozenset(),
        dates: DateUse = "raise",
    ) -> Draft:
        """Ask the lexical and the title retriever. Notes in ``barred`` are in no list.

        Args:
            query: From ``read``.
            mode: Which retrievers are asked.
            typing: The last word may still go on.
            barred: Notes that are in no list.
            dates: What a phrase of time in the query does.
        """
        dated: dict[NoteId, DatedNote] = {}
        if query.phrase is not None and dates != "ignore":
            dated = {NoteId(note.note_id): note for note in self._table.dated(query.phrase.period)}
        terms = without_phrase(query) if dated else query.terms
        clauses = clauses_of(terms, typing=typing)
        excluded = clauses_of(query.excluded)
        allowed = self._matching(query.filters)
        if query.phrase is not None and dates == "filter":
            allowed = frozenset(dated) if allowed is None else allowed & frozenset(dated)
        if excluded:
            barred |= self._words.holding(excluded)
        if barred:
            allowed = (frozenset(self._table.all_ids()) if allowed is None else allowed) - barred
        if mode == "meaning" and query.terms:
            allowed = self._holding_phrases(query, clauses, allowed)
        if mode == "meaning" or not query.terms:
            return Draft(query, mode, tuple(clauses), allowed, self._words.search([]), dated=dated)
        row = row_of(terms, clauses) if terms == query.terms else []  # not as it was typed
        words = self._words.search(clauses, k=self.params.pool, allowed=allowed, row=row)
        slips = self._read_otherwise(words)
        if slips:
            clauses = [_meant(clause, slips[clause]) if clause in slips else clause for clause in clauses]
            words = self._words.search(clauses, k=self.params.pool, allowed=allowed, row=row)
        as_typed = not (query.filters or query.excluded or query.invalid_dates)
        names = self._names.search(cut(query.raw) if as_typed else query.text, allowed=allowed)
        respelled = tuple((clause.tokens[0], word) for clause, meant in slips.items() for word in meant)
        return Draft(query, mode, tuple(clauses), allowed, words, tuple(names), respelled, dated)

    def _holding_phrases(
        self, query: Query, clauses: Sequence[Clause], allowed: frozenset[NoteId] | None
    ) -> frozenset[NoteId] | None:
        """Leave the notes that hold what is quoted, where any note does: no vector can tell."""
        for clause in clauses:
            if query.terms[clause.term].phrase and (holding := self._words.holding([clause])):
                allowed = holding if allowed is None else allowed & holding
        return allowed

    def rank(
        self, draft: Draft, scan: VectorScan | None, readable: float = 1.0, *, multilingual: bool = False
    ) -> Ranking:
        """Add the vectors, where there are any, and order all notes.

        Args:
            draft: From ``begin``.
            scan: The query against all vectors; None where they cannot be asked.
            readable: How well the model reads the query's language, 0 to 1.
            multilingual: Whether that is the multilingual one, and the query not English.
        """
        query, params = draft.query, self.params
        if query.empty:
            return Ranking(params=params)
        if not query.terms:
            return Ranking(self._filtered(draft), params=params)
        features = self.features(draft, scan if draft.mode != "words" else None, readable, multilingual=multilingual)
        if not len(features.ids):
            return Ranking(features=features, params=params)
        intents = intents_of(query.text)
        contributions = parts(features, params)
        scores = np.sum(list(contributions.values()), axis=0)
        adjustments = adjustments_of(query, features.ids, scores, intents, self._validity, params.outdated)
        for note_id, adjustment in adjustments.items():
            scores[features.row(note_id)] += adjustment.amount
        codes = tiers(
            features, scores, params, identifier_missing=draft.lacks_identifier, every="enumerating" in intents
        )
        order = np.lexsort((features.ids, -scores, -features.precedence))
        if query.sort:
            order = order_by_date(self._table, query.sort, features.ids, order, codes)
        source = Source(features, contributions, adjustments)
        ids: list[NoteId] = features.ids[order].tolist()
        names = map(NAMES.__getitem__, codes[order].tolist())
        return Ranking(
            list(map(RankedNote, ids, scores[order].tolist(), names, repeat(source))),
            features,
            params,
        )

    def features(
        self, draft: Draft, scan: VectorScan | None, readable: float = 1.0, *, multilingual: bool = False
    ) -> Features:
        """Gather what the retrievers know of every note that one of them brings."""
        named = {hit.note_id: hit for hit in reversed(draft.names)}
        dated = nearest_in_time(draft.dated, draft.allowed, self.params.pool)
        brought = np.concatenate([draft.words.ids, np.fromiter(named, np.int64, len(named)), dated])
        if scan is None:
            ids = np.unique(brought)
            nothing = np.full(len(ids), np.nan)
            vectors = VectorMatches(ids, nothing, nothing, np.zeros(len(ids), np.int64))
        else:
            vectors = scan.matches(self.params.pool, draft.allowed, brought)
        ids = vectors.ids
        words = draft.words.features(ids) if draft.mode != "meaning" else _without_words(len(ids))
        name, name_match = np.zeros(len(ids)), np.zeros(len(ids), np.int8)
        for note_id, hit in named.items():
            place = int(np.searchsorted(ids, note_id))
            name[place], name_match[place] = hit.similarity, hit.match
        return Features(
            ids=ids,
            note_cosine=vectors.notes,
            passage_cosine=vectors.passages,
            passage_count=vectors.counts.astype(np.float64),
            words=words.words,
            coverage=words.coverage,
            near=words.near,
            near_titled=words.near_titled,
            name=name,
            name_match=name_match,
            literal=words.literal,
            dated=shares(draft.dated, ids, draft.period, self.params.dated_days),
            vectors=self._worth(draft, readable, multilingual) if scan is not None else 0.0,
            multilingual=multilingual and draft.mode != "meaning",
            scale=scan.scale if scan is not None else REFERENCE,
        )

    def _worth(self, draft: Draft, readable: float, multilingual: bool) -> float:
        """Return what a cosine is worth: all, or little where the model does not read the query's language."""
        if draft.mode == "meaning":
            return 1.0
        if readable >= 1.0:
            return self.params.multilingual_vectors if multilingual else 1.0
        other = _other_script(draft.query.text)
        return self.params.foreign_script_vectors if other else self.params.foreign_vectors

    def _read_otherwise(self, words: LexicalMatches) -> dict[Clause, list[str]]:
        """Return the words that stand in no note, with the words of notes or names that may be meant by them."""
        nowhere = not any(count.notes for count in words.counts if not count.clause.stop)
        return {
            count.clause: meant
            for count in words.counts
            if not count.notes
            and _is_plain(count.clause)
            and (meant := self._meant_by(count.clause.tokens[0], within=nowhere))
        }

    def _meant_by(self, word: str, *, within: bool) -> list[str]:
        """Return the words that this one spells without umlauts, or is a slip of.

        Args:
            within: Or begins, or is a part of. Beside words that stand in notes that says too little: who asks for an
                opera does not mean an operation.
        """
        if within and (longer := self._words.containing(word)):
            begun = [one for one in longer if one.startswith(word)]
            if begun or len(word) >= MIN_INNER_LETTERS:
                return begun or longer
        plain = word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
        if plain != word and plain in self._words.containing(plain):
            return [plain]
        return self._names.spelled(word) if len(word) >= MIN_SLIP_LETTERS else []

    def _filtered(self, draft: Draft) -> list[RankedNote]:
        """Return a query of filters alone: every note that meets them, the most recently changed first."""
        source = Source(NO_FEATURES, {}, {})
        ids = [note_id for note_id in self._table.all_ids() if draft.allowed is None or note_id in draft.allowed]
        if draft.query.sort:
            ids = in_order(self._table, draft.query.sort, ids)
        return [RankedNote(note_id, 1.0, NAMES[PARTIAL], source) for note_id in ids]


def _without_words(count: int) -> LexicalFeatures:
    nothing = np.zeros(count)
    return LexicalFeatures(nothing, nothing, nothing, nothing, np.zeros(count, np.bool_))


def _meant(clause: Clause, words: Sequence[str]) -> Clause:
    """Return the clause with what is meant by it in its place: words that go on, or others."""
    if words[0].startswith(clause.tokens[0]):
        return replace(clause, prefix=True)
    return replace(clause, tokens=(words[0],), variants=tuple((word,) for word in words[1:]), prefix=False)


def _is_plain(clause: Clause) -> bool:
    token = clause.tokens[0]
    return (
        len(clause.tokens) == 1
        and not (clause.exact or clause.part or clause.stop)
        and len(token) >= MIN_LETTERS
        and token.isalpha()
        and not unspaced(token)
    )


def _is_identifier(clause: Clause) -> bool:
    text = "".join(clause.tokens)
    if clause.part or not any(map(str.isdigit, text)):
        return False
    return any(map(str.isalpha, text)) or (clause.exact and len(text) >= MIN_CODE_DIGITS)


def _other_script(text: str) -> bool:
    """Return whether most letters are of another script than Latin."""
    letters = [char for char in text if char.isalpha()]
    return sum(char > "\u024f" for char in letters) * 2 > len(letters)
