"""From the note list to what a reader sees: rows, the best place in each note, the preview, the citation.

Only for the hits shown. Each is looked up on disk: a note that has gone since is left out, one that has changed
since is marked stale; the preview is made of the text as it is now. ``compact`` hits get the sentences that fit best
instead of a preview, and ``full`` ones the whole note besides.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from vaultrag.model import Aged, Clause, Content, Gone, Hit, NoteId, NotePath, NoteRow, Shape, Skipped, Span, Standing
from vaultrag.notes import file_text, file_title, parse_note, read_body
from vaultrag.notes.rendering import rendered
from vaultrag.notes.words import unspaced
from vaultrag.ports import LexicalRetriever, NoteReader, NoteTable
from vaultrag.retrieval.best_sentences import Lines, best_sentences
from vaultrag.retrieval.normalize import folded
from vaultrag.retrieval.one_line_summary import RECORD_TOKENS, record
from vaultrag.retrieval.ranked import RankedNote
from vaultrag.retrieval.snippet import (
    LONGEST_ENDING,
    PREVIEW_CHARS,
    Preview,
    in_file,
    merged,
    occurrences,
    preview,
    words_place,
)  # fmt: skip
from vaultrag.vector_ports import VectorScan

LINE_TOKENS = (100, 100, 40)
"""What the lines of the first hits may cost; the last figure holds for all that follow."""


class HitMaker:
    """Makes hits. Callable from any thread."""

    def __init__(
        self,
        table: NoteTable,
        words: LexicalRetriever,
        reader: NoteReader,
        standings: Callable[[], Mapping[NoteId, Aged]] = dict,
    ) -> None:
        """Args:
        standings: The notes that no longer hold, or not yet.
        """
        self._table = table
        self._words = words
        self._reader = reader
        self._standings = standings

    def make(
        self,
        ranked: Sequence[RankedNote],
        wanted: Mapping[str, float],
        scan: VectorScan | None = None,
        *,
        limit: int,
        max_chars: int = PREVIEW_CHARS,
        shape: Shape = "preview",
        line_tokens: Sequence[int] = LINE_TOKENS,
        measure: Callable[[str], int] = len,
    ) -> tuple[list[Hit], list[NotePath]]:
        """The first ``limit`` hits that still exist, and the paths of those that do not.

        Args:
            ranked: Best first.
            wanted: Folded stems of the query's words, with their weights.
            scan: Where the query was compared with passages.
            limit: Hits at most.
            max_chars: Length of a preview at most; 0 for none.
            shape: ``compact``: the line is filled in and there is no preview; ``full``: line, preview and text.
            line_tokens: What each line may cost; the last figure holds for all that follow.
            measure: Counts a text in the units that columns are wanted in.
        """
        aged = self._standings()
        hits: list[Hit] = []
        gone: list[NotePath] = []
        position = 0
        while len(hits) < limit and position < len(ranked):
            batch = ranked[position : position + limit - len(hits)]
            position += len(batch)
            rows = self._table.by_ids(hit.note_id for hit in batch)
            headings = self._table.headings(rows) if max_chars > 0 else {}
            for note in batch:
                row = rows.get(note.note_id)
                if row is None:
                    continue
                tokens = line_tokens[min(len(hits), len(line_tokens) - 1)]
                hit = self._hit(
                    note, row, headings.get(note.note_id, ()), wanted, scan, max_chars, shape, tokens, aged, measure
                )
                if hit is None:
                    gone.append(row.path)
                else:
                    hits.append(hit)
        return hits, gone

    def wanted(self, clauses: Iterable[tuple[Clause, float]]) -> dict[str, float]:
        """What a preview looks for: stem of each word that tells something, with its weight."""
        weights: dict[str, float] = {}
        for clause, weight in clauses:
            if clause.stop:
                continue
            if _is_row(clause):
                for tokens in clause.spellings:
                    row = " ".join(tokens)
                    weights[row] = max(weights.get(row, 0.0), weight, 0.01)
                continue
            spelled = [token for tokens in clause.spellings for token in tokens]
            for token, stem in zip(spelled, self._words.stems(spelled), strict=True):
                word = stem.removesuffix("i") if len(stem) > 4 and stem != token else stem
                for form in (word, token) if len(token) - len(word) > LONGEST_ENDING else (word,):
                    weights[form] = max(weights.get(form, 0.0), weight / len(clause.tokens), 0.01)
        return weights

    def _hit(
        self,
        note: RankedNote,
        row: NoteRow,
        headings: Sequence[tuple[int, str]],
        wanted: Mapping[str, float],
        scan: VectorScan | None,
        max_chars: int,
        shape: Shape,
        line_tokens: int,
        aged: Mapping[NoteId, Aged],
        measure: Callable[[str], int],
    ) -> Hit | None:
        result = self._reader.read(row.path)
        if isinstance(result, Gone | Skipped):
            return None
        standing = aged[note.note_id].standing if note.note_id in aged else None
        if not isinstance(result, Content):  # it cannot be read now: what is known of it stands
            return Hit(
                row.path,
                row.title,
                note.score,
                tags=row.tags,
                mtime_ns=row.mtime_ns,
                citation=row.path,
                stale=True,
                evidence=note.evidence,
                standing=standing,
                tier=note.tier,
            )
        if _rewritten(note, row, result, wanted):
            return None
        if max_chars <= 0 and shape == "preview":
            return named(_with_place(note, row, standing, result, 1, None, ""), row, wanted)
        body, body_line = read_body(result.data)
        if not body.strip():
            hit = named(_with_place(note, row, standing, result, body_line, None, ""), row, wanted)
            return _shaped(hit, result, shape, line_tokens)
        place = scan.passage(note.note_id) if scan is not None else None
        lines = (place[1], place[2]) if place is not None else None
        shown = preview(body, wanted, lines, max_chars=max_chars or PREVIEW_CHARS)
        above = bisect_right(headings, (shown.first + body_line, "\U0010ffff"))
        heading = headings[above - 1][1] if above else ""
        hit = _with_place(note, row, standing, result, body_line, shown, heading)
        hit = named(replace(hit, places=in_file(shown.places, body, body_line, measure)), row, wanted)
        if shape == "preview":
            return hit
        places = [(shown.first, shown.last), lines, words_place(body, wanted)]
        return _shaped(hit, result, shape, line_tokens, wanted, [place for place in places if place is not None])


def named(hit: Hit, row: NoteRow, wanted: Mapping[str, float]) -> Hit:
    """Mark what matches in the note's title; add the alias or file name that matches better."""
    if not wanted:
        return hit
    spans, most = _in_name(row.title, wanted)
    best: tuple[str, Literal["", "alias", "file"], tuple[Span, ...]] = ("", "", ())
    file = file_title(row.path)
    others: list[tuple[str, Literal["alias", "file"]]] = [(alias, "alias") for alias in row.aliases]
    others += [(file, "file")] if file != row.title else []
    for name, kind in others:
        name_spans, weight = _in_name(name, wanted)
        if weight > most + 1e-9:
            best, most = (name, kind, name_spans), weight
    if not spans and not best[0]:
        return hit
    return replace(hit, title_spans=spans, name=best[0], name_kind=best[1], name_spans=best[2])


def _in_name(name: str, wanted: Mapping[str, float]) -> tuple[tuple[Span, ...], float]:
    found = occurrences(folded(name), wanted)
    return merged([Span(start, end) for start, end, _ in found]), sum(wanted[w] for w in {word for _, _, word in found})


def _is_row(clause: Clause) -> bool:
    """Return whether a clause is marked as a whole: quoted, or of pieces that mean nothing by themselves."""
    tokens = clause.tokens
    if any(map(unspaced, tokens)):
        return False
    return len(tokens) > 1 and (clause.exact or any(len(token) < 3 or token.isdigit() for token in tokens))


def _rewritten(note: RankedNote, row: NoteRow, content: Content, wanted: Mapping[str, float]) -> bool:
    """Return whether the note was found by words that its file holds no longer."""
    if (content.entry.mtime_ns, content.entry.size) == (row.mtime_ns, row.size) or not wanted:
        return False
    if not any(part.arm == "words" for part in note.evidence):
        return False
    text = f"{row.path}\n{file_text(content.data)}"
    return not occurrences(folded(text), wanted) and not occurrences(folded(rendered(text).text), wanted)


def _shaped(
    hit: Hit,
    content: Content,
    shape: Shape,
    line_tokens: int,
    wanted: Mapping[str, float] | None = None,
    places: Sequence[Lines] = (),
) -> Hit:
    if shape == "preview":
        return hit
    note = parse_note(hit.path, content.data)
    line = best_sentences(note.text.text, wanted or {}, places, line_tokens)
    line = line or record(note, hit.standing, tokens=min(line_tokens, RECORD_TOKENS))
    if shape == "compact":
        return replace(hit, line=line, preview="", spans=(), places=hit.places[:1])
    return replace(hit, line=line, text=file_text(content.data))


def _with_place(
    note: RankedNote,
    row: NoteRow,
    standing: Standing | None,
    content: Content,
    body_line: int,
    shown: Preview | None,
    heading: str,
) -> Hit:
    first = shown.first + body_line if shown else 0
    last = shown.last + body_line if shown else 0
    return Hit(
        path=row.path,
        title=row.title,
        score=note.score,
        start_line=first,
        end_line=last,
        preview=shown.text if shown else "",
        spans=shown.spans if shown else (),
        heading=heading,
        tags=row.tags,
        mtime_ns=content.entry.mtime_ns,
        citation=f"{row.path}#L{first}-L{last}" if shown else row.path,
        stale=(content.entry.mtime_ns, content.entry.size) != (row.mtime_ns, row.size),
        evidence=note.evidence,
        standing=standing,
        tier=note.tier,
    )
