"""Search one vault: turn a ranking into an answer that says what kind of answer it is, and why."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import asdict, replace

from vaultrag.app.context import MAX_LIMIT, VaultContext
from vaultrag.app.explain import Explainer, filters_of, words_of
from vaultrag.app.freshness import index_info, index_reasons, worst
from vaultrag.app.in_note import in_note
from vaultrag.app.read import find
from vaultrag.app.selection import in_folder
from vaultrag.app.stopwatch import lap
from vaultrag.app.time_answers import not_a_date, time_reading, time_reason
from vaultrag.app.token_budget import delivered, delivery_of
from vaultrag.config import SearchSettings
from vaultrag.domain import (
    Answer,
    DateUse,
    Explanation,
    Filters,
    Hit,
    InNote,
    Mode,
    NoteId,
    NotePath,
    Query,
    Reason,
    State,
)
from vaultrag.domain.requests import Explain, InNoteParams, Related, Search
from vaultrag.errors import EmbedError
from vaultrag.indexing.vector_state import Compared, describe
from vaultrag.retrieval.clauses import only_signs
from vaultrag.retrieval.demotion import demoted
from vaultrag.retrieval.hit_maker import LINE_TOKENS
from vaultrag.retrieval.missing_words import missing_words
from vaultrag.retrieval.pipeline import Draft, Ranking
from vaultrag.retrieval.query_parser import MAX_QUERY_CHARS, words_alone
from vaultrag.retrieval.related import related
from vaultrag.retrieval.snippet import PREVIEW_CHARS
from vaultrag.retrieval.tiers import best_tier
from vaultrag.vector_protocols import VectorScan

log = logging.getLogger(__name__)

NEAREST = 3
"""Weak hits that are offered beside what was found."""

Scanned = tuple[Compared | None, list[Reason]]
"""The query compared with the vectors, or the reasons why not."""

Looked = Callable[[], Scanned]
Matching = Callable[[Filters], frozenset[NoteId] | None]


class SearchService:
    """Answers to searches in one vault."""

    def __init__(self, parts: VaultContext, settings: SearchSettings) -> None:
        self._parts = parts
        self._settings = settings

    def search(
        self,
        request: Search,
        *,
        partial: Callable[[Answer], None] | None,
        measure: Callable[[str], int],
    ) -> Answer:
        """See ``VaultService.search``."""
        started = time.perf_counter()
        index = index_info(self._parts)
        mode, typing = request.mode, request.typing
        options = delivery_of(request, measure)
        limit = self._limit(options.limit)
        chars = max(0, min(request.preview_chars, PREVIEW_CHARS))
        query = self._parts.engine.read(request.query)
        deadline_s = self._deadline(request, partial is not None)
        # The vectors are compared while the words are looked up: neither needs the other.
        looked = self._look(query, mode, deadline_s)
        turns, ticket = self._parts.turns, self._parts.turns.ticket()
        with turns.turn(ticket):
            draft = self._parts.engine.begin(query, mode=mode, typing=typing, dates=request.dates)
            wanted = self._parts.hits.wanted([(count.clause, count.idf) for count in draft.words.counts])

        def answer(ranking: Ranking, scan: VectorScan | None, reasons: list[Reason]) -> Answer:
            notes = ranking.notes if request.include_weak else ranking.found
            count = min(limit, len(notes))
            shared, lines = min(chars, options.preview_chars(count)), options.line_tokens(count)
            with turns.turn(ticket), lap("previews"):
                hits, gone = self._parts.hits.make(
                    notes, wanted, scan, limit=limit, max_chars=shared, shape=options.made, line_tokens=lines,
                    measure=measure, entries=draft.entries,
                )  # fmt: skip
                nearest = (
                    self._nearest(ranking, wanted, scan, measure)
                    if len(hits) < limit and not request.include_weak
                    else []
                )
            self._look_at([*hits, *nearest], gone)
            reasons = [*reasons, *_reasons_of(request.query, draft, ranking, self._parts.table.matching)]
            reading = time_reading(draft, request.dates)
            reasons += [time_reason(reading)] if reading is not None else []
            total = len(notes) - len(gone)
            changed = not self._parts.for_agents and (gone or any(hit.stale for hit in hits))
            known = replace(index, current=False) if changed else index
            found = Answer(
                request.query,
                worst(reasons),
                tuple(hits),
                tuple(reasons),
                mode,
                total,
                tier=best_tier(hit.tier for hit in hits),
                nearest=tuple(nearest),
                index=known,
                time=reading,
            )
            return replace(delivered(found, options), elapsed_ms=_since(started))

        if partial is not None and mode == "hybrid" and query.terms:
            with turns.turn(ticket), lap("rank"):
                early = self._parts.engine.rank(draft, None)
            partial(answer(early, None, [Reason(State.PARTIAL, "words only so far; meaning follows")]))
        compared, reasons = looked()
        reasons += self._index_reasons(compared)
        scan = compared.scan if compared is not None else None
        with turns.turn(ticket), lap("rank"):
            ranking = self._ranked(draft, compared)
        if (relaxed := self._relaxed(draft, ranking, mode, typing, deadline_s)) is not None:
            draft, scan, ranking, more = relaxed
            reasons += more
            wanted = self._parts.hits.wanted([(count.clause, count.idf) for count in draft.words.counts])
        return answer(ranking, scan, reasons)

    def ranking(self, text: str, *, dates: DateUse = "raise") -> tuple[Draft, Ranking, list[Reason]]:
        """Rank all notes for a query, and say what kept the ranking from being full."""
        draft = self._parts.engine.begin(self._parts.engine.read(text), dates=dates)
        compared, reasons = self._look(draft.query, "hybrid", self._settings.deadline_s)()
        with lap("rank"):
            return draft, self._ranked(draft, compared), reasons

    def explain(self, request: Explain) -> Explanation:
        """See ``VaultService.explain``."""
        text, mode = request.query, request.mode
        index = index_info(self._parts)
        draft = self._parts.engine.begin(self._parts.engine.read(text), mode=mode)
        compared, reasons = self._look(draft.query, mode, self._settings.deadline_s)()
        with lap("rank"):
            ranking = self._ranked(draft, compared)
        if (relaxed := self._relaxed(draft, ranking, mode, False, self._settings.deadline_s)) is not None:
            draft, _, ranking, more = relaxed
            reasons += more
        reasons += [*self._index_reasons(compared), *_reasons_of(text, draft, ranking, self._parts.table.matching)]
        explainer = Explainer(self._parts, draft, ranking)
        return Explanation(
            query=text,
            state=worst(reasons),
            reasons=tuple(reasons),
            words=words_of(draft.words.counts),
            filters=filters_of(draft.query),
            tier=ranking.tier,
            params=asdict(ranking.params),
            hits=explainer.hits(self._limit(request.limit)),
            asked=explainer.note(request.path) if request.path else None,
            index=index,
        )

    def in_note(self, request: InNoteParams, measure: Callable[[str], int]) -> InNote:
        """See ``VaultService.in_note``."""
        started = time.perf_counter()
        find(self._parts.table, request.path)  # before a model is asked
        draft = self._parts.engine.begin(self._parts.engine.read(request.query), mode=request.mode, typing=True)
        compared, reasons = self._look(draft.query, request.mode, self._settings.deadline_s)()
        reasons += index_reasons(self._parts)
        scan = compared.scan if compared is not None else None
        return in_note(self._parts, request, draft, scan, reasons, measure=measure, started=started)

    def related(self, request: Related) -> Answer:
        """See ``VaultService.related``."""
        started = time.perf_counter()
        index = index_info(self._parts)
        note_id, known = find(self._parts.table, request.path)
        allowed = in_folder(self._parts.table, request.folder) if request.folder else None
        view = self._parts.meaning.view
        scan: VectorScan | None = None
        if view.state in ("ready", "waiting") and view.vectors is not None:
            scan = view.neighbours(note_id)
            scan = self._parts.narrowed(scan) if scan is not None else None
        ranked = related(note_id, self._parts.table, scan, linked=request.linked, allowed=allowed, source=(known,))
        ranked = demoted(ranked, self._parts.standings(), self._parts.engine.params.outdated)
        hits, gone = self._parts.hits.make(ranked, {}, scan, limit=self._limit(request.limit))
        self._look_at(hits, gone)
        reasons = self._index_reasons(Compared(scan) if scan is not None else None)
        if scan is None and not reasons:
            reasons = [Reason(State.INDEXING, "this note has no vector yet; links only")]
        return Answer(
            request.path,
            worst(reasons),
            tuple(hits),
            tuple(reasons),
            "meaning",
            len(ranked) - len(gone),
            _since(started),
            tier=best_tier(hit.tier for hit in hits),
            index=index,
        )

    # -- details -------------------------------------------------------------------------------------------------

    def _relaxed(
        self, draft: Draft, ranking: Ranking, mode: Mode, typing: bool, deadline_s: float | None
    ) -> tuple[Draft, VectorScan | None, Ranking, list[Reason]] | None:
        """Ask the words alone where nothing was found that meets the conditions; None where that finds nothing more."""
        alone = None if ranking.found else words_alone(draft.query)
        if alone is None:
            return None
        engine, turns, ticket = self._parts.engine, self._parts.turns, self._parts.turns.ticket()
        looked = self._look(alone, mode, deadline_s)
        with turns.turn(ticket):
            again = engine.begin(alone, mode=mode, typing=typing)
        compared, _ = looked()
        with turns.turn(ticket), lap("rank"):
            wider = self._ranked(again, compared)
        if not wider.found:
            return None
        conditions = " ".join(filters_of(draft.query))
        reasons = [Reason(State.FULL, why) for why in unmet(draft.query.filters, self._parts.table.matching)]
        why = f"nothing fits that meets {conditions}; these notes are found by the words alone"
        scan = compared.scan if compared is not None else None
        return again, scan, wider, [*reasons, Reason(State.RELAXED, why)]

    def _look_at(self, hits: Sequence[Hit], gone: Sequence[NotePath]) -> None:
        """Have the index look at what turned out to be gone, changed or unreadable."""
        paths = [*gone, *(hit.path for hit in hits if hit.stale)]
        if paths:
            self._parts.worker.notice(paths)

    def _limit(self, limit: int) -> int:
        return max(1, min(limit or self._settings.limit, MAX_LIMIT))

    def _deadline(self, request: Search, partial: bool) -> float | None:
        if request.deadline_ms is not None:
            return request.deadline_ms / 1000
        return None if partial else self._settings.deadline_s  # a client that has the words can wait for the rest

    def _nearest(
        self, ranking: Ranking, wanted: Mapping[str, float], scan: VectorScan | None, measure: Callable[[str], int]
    ) -> list[Hit]:
        """Make the weak hits that are offered apart from what was found, each with its one sentence."""
        return self._parts.hits.make(
            ranking.weak[:NEAREST], wanted, scan, limit=NEAREST, shape="compact", line_tokens=LINE_TOKENS[-1:],
            measure=measure,
        )[0]  # fmt: skip

    def _ranked(self, draft: Draft, compared: Compared | None) -> Ranking:
        if compared is None:
            return self._parts.engine.rank(draft, None)
        return self._parts.engine.rank(draft, compared.scan, compared.readable, multilingual=compared.multilingual)

    def _look(self, query: Query, mode: Mode, deadline_s: float | None) -> Looked:
        """Start ``_scan`` in another thread, and return a function that waits for it until the deadline.

        Where all threads are busy it starts only when it is waited for: sooner, it would only add work.

        Args:
            query: The query as it was read.
            mode: Nothing is compared for ``words``.
            deadline_s: How long from now the model is waited for; None and 0 for as long as it takes.
        """
        until = time.perf_counter() + deadline_s if deadline_s else None
        context = copy_context()  # the stopwatch goes along

        def begin() -> Future[Scanned]:
            return self._parts.looking.submit(context.run, self._scan, query)

        def wait(begun: Future[Scanned] | None) -> Scanned:
            try:
                future = begun if begun is not None else begin()
            except RuntimeError:  # the vault is being closed, or opened anew: this answer is the last of the old one
                return self._scan(query)
            try:
                return future.result(None if until is None else max(0.0, until - time.perf_counter()))
            except TimeoutError:
                if future.done():
                    raise
                future.cancel()
                late = f"the model has not answered within {deadline_s:g} s; words only"
                return None, [Reason(State.PARTIAL, late, "the same again in a moment: the model is being loaded")]

        if mode == "words" or not query.terms:
            return lambda: (None, [])
        if self._parts.turns.all_taken:
            return lambda: wait(None)
        try:
            begun = begin()
        except RuntimeError:
            return lambda: self._scan(query)
        return lambda: wait(begun)

    def _scan(self, query: Query) -> Scanned:
        """Compare the query with the vectors, or tell why not."""
        view = self._parts.meaning.view
        if view.state == "off":
            return None, [Reason(State.KEYWORD_ONLY, view.why, view.hint)]
        if view.state == "mismatch":
            return None, [Reason(State.MODEL_MISMATCH, view.why, view.hint)]
        if view.vectors is None or view.embedder is None:
            if view.state == "waiting":
                return None, [Reason(State.KEYWORD_ONLY, view.why, view.hint)]
            return None, [Reason(State.INDEXING, "the vectors are not loaded yet; words only")]
        try:
            if view.embedder.identity() != view.vectors.identity:
                self._parts.embedding.compare()  # it finds the same, and makes them again
                return None, [Reason(State.MODEL_MISMATCH, "the model was replaced; the vectors are made again")]
            among_all = not (query.filters or query.excluded or self._parts.for_agents)
            ahead = self._parts.engine.params.pool if among_all else 0
            with lap("embed"):
                embedded = view.embed(query.text)
            with lap("meaning"):
                compared = view.compare(embedded, ahead)
            return compared._replace(scan=self._parts.narrowed(compared.scan)), []
        except EmbedError as error:
            log.info("query without meaning: %s (%s)", error.message, describe(error))
            return None, [Reason(State.KEYWORD_ONLY, error.message, error.hint)]

    def _index_reasons(self, compared: Compared | None) -> list[Reason]:
        reasons = index_reasons(self._parts)
        if compared is not None and (lacking := self._parts.lacking(compared.multilingual)):
            reasons.append(Reason(State.INDEXING, f"{lacking} notes have no vector yet"))
        return reasons


def _since(started: float) -> float:
    """Milliseconds."""
    return round((time.perf_counter() - started) * 1000, 3)


def unmet(filters: Filters, matching: Matching) -> list[str]:
    """Name each filter that no note meets by itself; where each is met, say that no note meets all of them."""
    alone = [
        *((f"tag:{tag}", Filters(tags=(tag,))) for tag in filters.tags),
        *((f"path:{path}", Filters(paths=(path,))) for path in filters.paths),
        *((f"file:{name}", Filters(files=(name,))) for name in filters.files),
        *((f"[{one.name}]" if one.value is None else f"[{one.name}:{one.value}]", Filters(properties=(one,)))
          for one in filters.properties),
        *((f"is:{state}", Filters(states=(state,))) for state in filters.states),
        *((f"kind:{kinds}", Filters(kinds=(kinds,))) for kinds in filters.kinds),
        *((one.written, Filters(dates=(one,))) for one in filters.dates if not one.negated),
        *([(f"after:{filters.after}", Filters(after=filters.after))] if filters.after else []),
        *([(f"before:{filters.before}", Filters(before=filters.before))] if filters.before else []),
    ]  # fmt: skip
    missed = [f"no note meets {written}" for written, one in alone if matching(one) == frozenset()]
    return missed or ["no note meets all of the filters" if filters else "every note is left out"]


_NAMED = 3
"""Words that a reason names."""


def _grouped(respelled: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for asked, meant in respelled:
        grouped.setdefault(asked, []).append(meant)
    return grouped


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(words[:_NAMED]) + more


def _reasons_of(text: str, draft: Draft, ranking: Ranking, matching: Matching) -> list[Reason]:
    """Return the reasons that lie in the query itself."""
    reasons: list[Reason] = []
    query = draft.query
    if len(text) > MAX_QUERY_CHARS:
        reasons.append(Reason(State.PARTIAL, f"the query was cut after {MAX_QUERY_CHARS} characters"))
    if query.empty:
        reasons.append(Reason(State.FULL, "the query is empty", 'vaultrag search "some words"'))
    elif query.terms and only_signs(query.text):
        reasons.append(Reason(State.FULL, "nothing in the query is a word that notes could be searched for"))
    reasons += [
        Reason(State.RELAXED, not_a_date(written, query.text), "after:2026-03-31") for written in query.invalid_dates
    ]
    if draft.allowed is not None and not draft.allowed:
        reasons += [Reason(State.FULL, why) for why in unmet(query.filters, matching)]
    reasons += [
        Reason(State.RELAXED, f"no note holds the word {asked}; it was read as {_listed(meant)}")
        for asked, meant in _grouped(draft.respelled).items()
    ]
    if missing := missing_words(draft, ranking):
        reasons.append(Reason(State.RELAXED, missing))
    return reasons
