"""A timeline: what the vault says about a thing, or in a folder, in order of time, one line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vaultrag.app.context import MAX_LIMIT, VaultContext
from vaultrag.app.freshness import index_reasons, worst
from vaultrag.app.search import SearchService
from vaultrag.app.selection import selected, standing_of
from vaultrag.app.time_answers import time_reading, time_reason
from vaultrag.domain import Content, Note, NoteId, NoteRow, Validity
from vaultrag.domain.dates import DatedEntry, NoteDate
from vaultrag.domain.requests import TimelineParams
from vaultrag.domain.timeline import Timeline, TimelineEntry
from vaultrag.markdown import parse_note
from vaultrag.retrieval.occurrences import occurrences
from vaultrag.retrieval.one_line_summary import record
from vaultrag.retrieval.pipeline import Draft
from vaultrag.text.normalize import folded
from vaultrag.text.token_estimate import estimate, fit

LISTED = 50
"""Entries when the caller does not say."""

ENTRY_TOKENS = 40
"""What the line of a section costs at most."""


class Timelines:
    """Makes timelines of one vault. Callable from any thread."""

    def __init__(self, parts: VaultContext, search: SearchService) -> None:
        self._parts = parts
        self._search = search

    def timeline(self, request: TimelineParams) -> Timeline:
        """See ``VaultService.timeline``."""
        text, max_tokens = request.query, request.max_tokens
        wanted = selected(self._parts.table, request.folder, request.tag)
        reasons = list(index_reasons(self._parts))
        words: Mapping[str, float] = {}
        draft: Draft | None = None
        if text.strip():
            draft, ranking, more = self._search.ranking(text, dates="filter")
            reasons += more
            ids = [note.note_id for note in ranking.found]
            words = self._parts.hits.wanted([(count.clause, count.idf) for count in draft.words.counts])
        else:
            ids = list(self._parts.table.all_ids())
        ids = [note_id for note_id in ids if wanted is None or note_id in wanted]
        most = max(1, min(request.limit or LISTED, MAX_LIMIT))
        entries: list[TimelineEntry] = []
        tokens = total = 0
        for entry in self._entries(ids, words, draft):
            total += 1
            cost = estimate(entry.line) + estimate(entry.citation)
            if len(entries) < most and not (max_tokens and tokens + cost > max_tokens):
                tokens += cost
                entries.append(entry)
        reading = time_reading(draft, "filter") if draft is not None else None
        if reading is not None:
            reasons.append(time_reason(reading))
        entries.sort(key=lambda one: (one.date.first, one.date.last, one.citation))
        return Timeline(
            text, tuple(entries), total, tokens, total - len(entries), worst(reasons), tuple(reasons), reading
        )

    def _entries(
        self, ids: Sequence[NoteId], words: Mapping[str, float], draft: Draft | None
    ) -> Iterator[TimelineEntry]:
        """Yield the entries in the order of the notes: the dated sections of each, or else the note itself."""
        aged = self._parts.standings()
        for start in range(0, len(ids), MAX_LIMIT):
            some = ids[start : start + MAX_LIMIT]
            sections = self._parts.table.entries(some)
            for note_id, row in self._parts.table.by_ids(some).items():
                result = self._parts.reader.read(row.path)
                if isinstance(result, Content) and row.dates is not None:
                    note = parse_note(row.path, result.data)
                    asked = sections.get(note_id, [])
                    if draft is not None and draft.dated:
                        asked = list(draft.entries.get(note_id, ()))
                    standing = standing_of(aged, note_id)
                    found = list(_of_sections(row, note, asked, words, standing))
                    yield from found or [
                        TimelineEntry(row.dates.about, row.path, row.title, record(note, standing), row.path, standing)
                    ]


def _of_sections(
    row: NoteRow, note: Note, entries: Sequence[DatedEntry], words: Mapping[str, float], standing: Validity | None
) -> Iterator[TimelineEntry]:
    """Yield the dated sections that hold one of the words; all of them where there are none."""
    lines = note.body.split("\n")
    for entry in entries:
        first = entry.line - note.body_line
        last = min((entry.last_line or note.body_line + len(lines) - 1) - note.body_line, len(lines) - 1)
        while last > first and not lines[last].strip():
            last -= 1
        section = "\n".join(lines[first : last + 1]) if 0 <= first <= last else ""
        if section.strip() and (not words or occurrences(folded(section), words)):
            cited = f"{row.path}#L{entry.line}-L{last + note.body_line}"
            line = fit(" ".join(section.replace("#", " ").split()), ENTRY_TOKENS)
            yield TimelineEntry(NoteDate(entry.day, entry.day, "heading" if last > first else "line"), row.path,
                                row.title, line, cited, standing)  # fmt: skip
