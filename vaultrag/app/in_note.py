"""Where in one note a query stands: the lines that hold its words, and the passage nearest in meaning."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from vaultrag.app.context import MAX_LIMIT, VaultContext
from vaultrag.app.freshness import index_info, worst
from vaultrag.app.read import content_of
from vaultrag.app.selection import standing_of
from vaultrag.domain import Heading, InNote, Match, Reason
from vaultrag.domain.requests import InNoteParams
from vaultrag.markdown import parse_note
from vaultrag.retrieval.note_matches import places
from vaultrag.retrieval.pipeline import Draft
from vaultrag.retrieval.snippet import in_file
from vaultrag.vector_protocols import VectorScan

LINES = 50
"""Lines when the caller does not say."""


def in_note(
    parts: VaultContext,
    request: InNoteParams,
    draft: Draft,
    scan: VectorScan | None,
    reasons: Sequence[Reason],
    *,
    measure: Callable[[str], int],
    started: float,
) -> InNote:
    """See ``VaultService.in_note``."""
    note_id, known, result = content_of(parts, request.path)
    note = parse_note(known, result.data)
    wanted = (
        {} if request.mode == "meaning" else parts.hits.wanted([(one.clause, one.idf) for one in draft.words.counts])
    )
    found, total = places(note.body, wanted, limit=max(1, min(request.limit or LINES, MAX_LIMIT)))
    passage = scan.passage(note_id) if scan is not None else None
    matches = tuple(
        Match(one.line + note.body_line, measure(one.lead), one.text, one.spans,
              _heading_above(note.headings, one.line + note.body_line), one.weight,
              in_file(one.places, note.body, note.body_line, measure))
        for one in found
    )  # fmt: skip
    last = note.body.count("\n")
    lines = (0, 0) if passage is None else (min(passage[1], last), min(passage[2], last))
    return InNote(
        path=known,
        title=note.title,
        query=draft.query.raw,
        state=worst(reasons),
        matches=matches,
        total=total,
        start_line=lines[0] + note.body_line if passage is not None else 0,
        end_line=lines[1] + note.body_line if passage is not None else 0,
        reasons=tuple(reasons),
        elapsed_ms=round((time.perf_counter() - started) * 1000, 3),
        standing=standing_of(parts.standings(), note_id),
        index=index_info(parts),
    )


def _heading_above(headings: Sequence[Heading], line: int) -> str:
    return next((heading.text for heading in reversed(headings) if heading.line <= line), "")
