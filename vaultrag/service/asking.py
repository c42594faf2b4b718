"""Searching one vault: the engine's ranking made into an answer that says what kind of answer it is, and why."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from vaultrag.config import SearchSettings
from vaultrag.errors import EmbedError
from vaultrag.indexing.view import describe
from vaultrag.model import Answer, Explanation, Hit, InNote, Mode, NotePath, Query, Reason, State
from vaultrag.ports import Reranker, VectorScan
from vaultrag.ranking.evidence import Bars, bars_for
from vaultrag.ranking.priors import demote
from vaultrag.ranking.query import MAX_QUERY_CHARS, parse_query
from vaultrag.ranking.reranking import RERANKED, reranked
from vaultrag.ranking.snippet import PREVIEW_CHARS
from vaultrag.ranking.terms import only_signs
from vaultrag.search.engine import Draft, Ranking, pool_for
from vaultrag.search.related import related
from vaultrag.service.delivering import Delivery, delivered
from vaultrag.service.explaining import Explainer, filters_of, words_of
from vaultrag.service.faring import AWAY
from vaultrag.service.inside import in_note
from vaultrag.service.parts import MAX_LIMIT, VaultParts
from vaultrag.service.reading import find
from vaultrag.service.selecting import in_folder

log = logging.getLogger(__name__)


class Asking:
    """Answers to searches in one vault."""

    def __init__(self, parts: VaultParts, settings: SearchSettings) -> None:
        self._parts = parts
        self._settings = settings

    def search(
        self,
        text: str,
        *,
        mode: Mode,
        typing: bool,
        preview_chars: int | None,
        partial: Callable[[Answer], None] | None,
        wish: Delivery,
    ) -> Answer:
        """See ``VaultService.search``."""
        started = time.perf_counter()
        limit = self._limit(wish.limit)
        chars = PREVIEW_CHARS if preview_chars is None else max(0, min(preview_chars, PREVIEW_CHARS))
        query = parse_query(text)
        # The vectors are looked through while the words are looked up: neither needs the other.
        looked = self._look(query, mode, limit)
        turns, ticket = self._parts.turns, self._parts.turns.ticket()
        with turns.turn(ticket):
            draft = self._parts.engine.begin(query, mode=mode, limit=limit, typing=typing)
            wanted = self._parts.hits.wanted([(count.clause, count.idf) for count in draft.words.counts])

        def answer(
            ranking: Ranking, scan: VectorScan | None, reasons: list[Reason], final: Reranker | None = None
        ) -> Answer:
            shown = limit if final is None else max(limit, RERANKED)
            shared = min(chars, wish.preview_chars(min(limit, len(ranking.found))))
            with turns.turn(ticket):
                hits, gone = self._parts.hits.make(
                    ranking.found, wanted, scan, limit=shown, max_chars=shared, shape=wish.made
                )
            self._look_at(hits, gone)
            if final is not None:
                hits = self._reranked(final, query.text, hits)[:limit]
            reasons = [*reasons, *_reasons_of(text, draft, ranking)]
            total = len(ranking.found) - (len(gone) if self._parts.for_agents else 0)
            found = Answer(text, _worst(reasons), tuple(hits), tuple(reasons), mode, total)
            return replace(delivered(found, wish), elapsed_ms=_since(started))

        if partial is not None and mode == "hybrid" and query.terms:
            with turns.turn(ticket):
                early = self._parts.engine.finish(draft, None, bars_for(""))
            partial(answer(early, None, [Reason(State.PARTIAL, "words only so far; meaning follows")]))
        scan, reasons = looked()
        reasons += self._index_reasons(scan)
        with turns.turn(ticket):
            ranking = self._parts.engine.finish(draft, scan, self._bars(scan, mode))
        return answer(ranking, scan, reasons, self._parts.reranker if query.terms else None)

    def explain(self, text: str, *, path: str, limit: int | None, mode: Mode) -> Explanation:
        """See ``VaultService.explain``."""
        draft = self._parts.engine.begin(parse_query(text), mode=mode, limit=self._limit(limit))
        scan, reasons = self._scan(draft.query, mode)
        ranking = self._parts.engine.finish(draft, scan, self._bars(scan, mode))
        reasons += [*self._index_reasons(scan), *_reasons_of(text, draft, ranking)]
        explainer = Explainer(self._parts, draft, ranking)
        return Explanation(
            query=text,
            state=_worst(reasons),
            reasons=tuple(reasons),
            words=words_of(draft.words.counts),
            filters=filters_of(draft.query),
            confidence=ranking.confidence if math.isfinite(ranking.confidence) else None,
            needed=ranking.bars.answer,
            hits=explainer.hits(self._limit(limit)),
            asked=explainer.note(path) if path else None,
        )

    def in_note(
        self, path: str, text: str, *, limit: int | None, mode: Mode, measure: Callable[[str], int] = len
    ) -> InNote:
        """See ``VaultService.in_note``."""
        started = time.perf_counter()
        find(self._parts.table, path)  # before a model is asked
        draft = self._parts.engine.begin(parse_query(text), mode=mode, limit=1, typing=True)
        scan, reasons = self._scan(draft.query, mode)
        return in_note(
            self._parts, path, draft, scan, reasons, limit=limit, mode=mode, measure=measure, started=started
        )

    def related(self, path: str, *, limit: int | None, linked: bool, folder: str = "") -> Answer:
        """See ``VaultService.related``."""
        started = time.perf_counter()
        note_id, _ = find(self._parts.table, path)
        allowed = in_folder(self._parts.table, folder) if folder else None
        view = self._parts.meaning.view
        scan: VectorScan | None = None
        if view.state in ("ready", "waiting") and view.vectors is not None:
            vector = view.vectors.vector(note_id)
            scan = self._parts.narrowed(view.vectors.scan(vector)) if vector is not None else None
        ranked = related(note_id, self._parts.table, scan, linked=linked, allowed=allowed)
        ranked = demote(ranked, self._parts.standings())
        hits, gone = self._parts.hits.make(ranked, {}, scan, limit=self._limit(limit))
        self._look_at(hits, gone)
        reasons = self._index_reasons(scan)
        if scan is None and not reasons:
            reasons = [Reason(State.INDEXING, "this note has no vector yet; links only")]
        total = len(ranked) - (len(gone) if self._parts.for_agents else 0)
        return Answer(path, _worst(reasons), tuple(hits), tuple(reasons), "meaning", total, _since(started))

    # -- details -------------------------------------------------------------------------------------------------

    def _reranked(self, reranker: Reranker, query: str, hits: list[Hit]) -> list[Hit]:
        best, rest = hits[:RERANKED], hits[RERANKED:]
        try:
            return [*reranked(best, reranker.scores(query, [f"{hit.title}\n{hit.preview}" for hit in best])), *rest]
        except EmbedError as error:
            log.info("not reranked: %s", error.message)
            return hits

    def _look_at(self, hits: Sequence[Hit], gone: Sequence[NotePath]) -> None:
        """Have the index look at what turned out to be gone, changed or unreadable."""
        paths = [*gone, *(hit.path for hit in hits if hit.stale)]
        if paths:
            self._parts.worker.notice(paths)

    def _limit(self, limit: int | None) -> int:
        return max(1, min(limit or self._settings.limit, MAX_LIMIT))

    def _bars(self, scan: VectorScan | None, mode: Mode) -> Bars:
        vectors = self._parts.meaning.view.vectors
        model = vectors.identity.model if vectors is not None and scan is not None else ""
        return bars_for(model, meaning_only=mode == "meaning")

    def _look(self, query: Query, mode: Mode, limit: int) -> Callable[[], tuple[VectorScan | None, list[Reason]]]:
        """Begin ``_scan`` in another thread; what is returned waits for it, or does it where the threads have enough to
        do already: to hand it over would only be more work then.
        """
        if self._parts.turns.all_taken:
            return lambda: self._scan(query, mode, limit)
        try:
            return self._parts.looking.submit(self._scan, query, mode, limit).result
        except RuntimeError:  # the vault is being closed, or opened anew: this answer is the last of the old one
            return lambda: self._scan(query, mode, limit)

    def _scan(self, query: Query, mode: Mode, limit: int = 0) -> tuple[VectorScan | None, list[Reason]]:
        """The query against the vectors, or why not. ``limit``: hits that will be asked for, where that is known."""
        if mode == "words" or not query.terms:
            return None, []
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
            ahead = pool_for(limit) if limit and among_all else 0
            return self._parts.narrowed(view.vectors.scan(view.embedder.embed_query(query.text), ahead)), []
        except EmbedError as error:
            log.info("query without meaning: %s (%s)", error.message, describe(error))
            return None, [Reason(State.KEYWORD_ONLY, error.message, error.hint)]

    def _index_reasons(self, scan: VectorScan | None) -> list[Reason]:
        parts = self._parts
        progress = parts.worker.progress
        reasons = []
        if progress.phase in ("starting", "reading") and not parts.worker.searchable.is_set():
            how_far = "" if parts.for_agents else f" ({progress.done} of {progress.total})"
            reasons.append(Reason(State.INDEXING, f"notes are still being read{how_far}"))
        elif progress.phase == "away":
            told = Reason(State.PARTIAL, progress.why, progress.hint)
            reasons.append(Reason(State.PARTIAL, AWAY) if parts.for_agents else told)
        elif (large := parts.worker.large_waiting) and not parts.for_agents:  # it may be one that they must not see
            what = "a large note is" if large == 1 else f"{large} large notes are"
            reasons.append(Reason(State.INDEXING, f"{what} still being read"))
        if scan is not None and (lacking := parts.lacking()):
            reasons.append(Reason(State.INDEXING, f"{lacking} notes have no vector yet"))
        return reasons


_WORST = (
    State.MODEL_MISMATCH,
    State.KEYWORD_ONLY,
    State.INDEXING,
    State.PARTIAL,
    State.RELAXED,
    State.FULL,
)


def _worst(reasons: Sequence[Reason]) -> State:
    return min((reason.state for reason in reasons), key=_WORST.index, default=State.FULL)


def _since(started: float) -> float:
    """Milliseconds."""
    return round((time.perf_counter() - started) * 1000, 3)


def _reasons_of(text: str, draft: Draft, ranking: Ranking) -> list[Reason]:
    """What the query itself gives reason to say."""
    reasons: list[Reason] = []
    query = draft.query
    if len(text) > MAX_QUERY_CHARS:
        reasons.append(Reason(State.PARTIAL, f"the query was cut after {MAX_QUERY_CHARS} characters"))
    if query.empty:
        reasons.append(Reason(State.FULL, "the query is empty", 'vaultrag search "some words"'))
    elif query.terms and only_signs(query.text):
        reasons.append(Reason(State.FULL, "nothing in the query is a word that notes could be searched for"))
    reasons += [
        Reason(State.RELAXED, f"no note holds the word {asked}; it was read as {meant}")
        for asked, meant in draft.respelled
    ]
    telling = {count.clause.term for count in draft.words.counts if not count.clause.stop}
    asked_of_words = len(telling) > 1 and draft.mode != "meaning"
    if asked_of_words and ranking.found and ranking.proofs.best_covered < 0.999:
        reasons.append(Reason(State.RELAXED, "no note holds all of the words"))
    return reasons
