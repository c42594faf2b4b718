"""From the note list to what a reader sees: rows, the best place in each note, the preview, the citation.

Only for the hits shown. Each is looked up on disk: a note that has gone since is left out, one that has changed
since is marked stale; the preview is made of the text as it is now. ``compact`` hits get the sentences that fit best
instead of a preview, and ``full`` ones the whole note besides.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vaultrag.domain import (
    Clause,
    Content,
    Gone,
    Hit,
    NoteId,
    NotePath,
    NoteRow,
    NoteValidity,
    Place,
    Shape,
    Skipped,
    Span,
    Validity,
)
from vaultrag.domain.dates import DatedEntry
from vaultrag.domain.kinds import is_converted, kind_of, subpath
from vaultrag.markdown import file_text, file_title, parse_note, read_body
from vaultrag.markdown.rendered_text import rendered
from vaultrag.protocols import LexicalRetriever, NoteReader, NoteTable
from vaultrag.retrieval.best_sentences import Lines, best_sentences
from vaultrag.retrieval.dated_entries import only_entries
from vaultrag.retrieval.occurrences import LONGEST_ENDING, occurrences
from vaultrag.retrieval.one_line_summary import RECORD_TOKENS, record
from vaultrag.retrieval.ranked import RankedNote
from vaultrag.retrieval.snippet import (
    PREVIEW_CHARS,
    Preview,
    in_file,
    merged,
    preview,
    words_place,
)  # fmt: skip
from vaultrag.text.normalize import folded
from vaultrag.text.short_cache import cached_if_short
from vaultrag.text.tokenize import unspaced
from vaultrag.vector_protocols import VectorScan

NO_ENTRIES: Mapping[NoteId, Sequence[DatedEntry]] = {}

_body = cached_if_short(read_body)

LINE_TOKENS = (100, 100, 40)
"""What the lines of the first hits may cost; the last figure holds for all that follow."""


class HitMaker:
    """Makes hits. Callable from any thread."""

    def __init__(
        self,
        table: NoteTable,
        words: LexicalRetriever,
        reader: NoteReader,
        standings: Callable[[], Mapping[NoteId, NoteValidity]] = dict,
    ) -> None:
        """Make hits from these notes.

        Args:
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
        entries: Mapping[NoteId, Sequence[DatedEntry]] = NO_ENTRIES,
    ) -> tuple[list[Hit], list[NotePath]]:
        """Return the first ``limit`` hits that still exist, and the paths of those that do not.

        Args:
            ranked: Best first.
            wanted: Folded stems of the query's words, with their weights.
            scan: Where the query was compared with passages.
            limit: Hits at most.
            max_chars: Length of a preview at most; 0 for none.
            shape: ``compact``: the line is filled in and there is no preview; ``full``: line, preview and text.
            line_tokens: What each line may cost; the last figure holds for all that follow.
            measure: Counts a text in the units that columns are wanted in.
            entries: Of some notes the dated sections and lines that are asked for: their best place lies in these.
        """
        how = _Making(wanted, scan, max_chars, shape, measure, self._standings(), entries)
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
                hit = self._hit(note, row, headings.get(note.note_id, ()), tokens, how)
                if hit is None:
                    gone.append(row.path)
                else:
                    hits.append(hit)
        return hits, gone

    def wanted(self, clauses: Iterable[tuple[Clause, float]]) -> dict[str, float]:
        """Return what a preview looks for: stem of each word that tells something, with its weight."""
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
        line_tokens: int,
        how: _Making,
    ) -> Hit | None:
        result = self._reader.read(row.path)
        if isinstance(result, Gone | Skipped):
            return None
        standing = how.aged[note.note_id].standing if note.note_id in how.aged else None
        if not isinstance(result, Content):  # it cannot be read now: what is known of it stands
            return _placed(note, row, standing)
        if _rewritten(note, row, result, how.wanted):
            return None
        if how.max_chars <= 0 and how.shape == "preview":
            return named(_placed(note, row, standing, result), row, how.wanted)
        body, body_line = _body(result.data)
        if not body.strip():
            return _shaped(named(_placed(note, row, standing, result), row, how.wanted), result, how.shape, line_tokens)
        place = how.scan.passage(note.note_id) if how.scan is not None else None
        lines = (place[1], place[2]) if place is not None else None
        searched = body
        if (asked := how.entries.get(note.note_id)) is not None:
            searched, lines = only_entries(body, body_line, asked, lines)
        shown = preview(searched, how.wanted, lines, max_chars=how.max_chars or PREVIEW_CHARS)
        above = bisect_right(headings, (shown.first + body_line, "\U0010ffff"))
        heading = headings[above - 1][1] if above else ""
        places = in_file(shown.places, body, body_line, how.measure)
        hit = named(_placed(note, row, standing, result, shown, body_line, heading, places), row, how.wanted)
        if how.shape == "preview":
            return hit
        best = [(shown.first, shown.last), lines, words_place(searched, how.wanted)]
        kept = [place for place in best if place is not None]
        return _shaped(hit, result, how.shape, line_tokens, how.wanted, kept)


@dataclass(frozen=True, slots=True)
class _Making:
    """The parameters of the hits of one answer; see ``HitMaker.make``.

    Attributes:
        aged: The notes that no longer hold, or not yet.
    """

    wanted: Mapping[str, float]
    scan: VectorScan | None
    max_chars: int
    shape: Shape
    measure: Callable[[str], int]
    aged: Mapping[NoteId, NoteValidity]
    entries: Mapping[NoteId, Sequence[DatedEntry]]


def named(hit: Hit, row: NoteRow, wanted: Mapping[str, float]) -> Hit:
    """Mark what matches in the note's title; add the alias or file name that matches better."""
    if not wanted:
        return hit
    file = file_title(row.path)
    names: list[tuple[str, Literal["", "alias", "file"]]] = [
        (row.title, ""),
        *((alias, "alias") for alias in row.aliases),
    ]
    names += [(file, "file")] if file != row.title else []
    found = occurrences(folded("\n".join(name for name, _ in names)), wanted)  # all of them at once: it is much cheaper
    if not found:
        return hit
    begin, best, most = 0, hit, 0.0
    for name, kind in names:
        here = [one for one in found if begin <= one[0] and one[1] <= begin + len(name)]
        weight = sum(wanted[word] for word in {word for _, _, word in here})
        if weight > most + 1e-9:
            spans = merged([Span(start - begin, end - begin) for start, end, _ in here])
            if not kind:
                hit = best = replace(hit, title_spans=spans)
            else:
                best = replace(hit, name=name, name_kind=kind, name_spans=spans)
            most = weight
        begin += len(name) + 1
    return best


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


def _placed(
    note: RankedNote,
    row: NoteRow,
    standing: Validity | None,
    content: Content | None = None,
    shown: Preview | None = None,
    body_line: int = 1,
    heading: str = "",
    places: tuple[Place, ...] = (),
) -> Hit:
    """Make a hit of what is known of a note; ``stale`` where its file is not as it was indexed, or cannot be read."""
    first = shown.first + body_line if shown else 0
    last = shown.last + body_line if shown else 0
    entry = content.entry if content else None
    return Hit(
        path=row.path,
        title=row.title,
        score=note.score,
        start_line=first,
        end_line=last,
        preview=shown.text if shown else "",
        spans=shown.spans if shown else (),
        places=places,
        heading=heading,
        tags=row.tags,
        mtime_ns=entry.mtime_ns if entry else row.mtime_ns,
        citation=_citation(row.path, heading, first, last) if shown else row.path,
        stale=entry is None or (entry.mtime_ns, entry.size) != (row.mtime_ns, row.size),
        evidence=note.evidence,
        standing=standing,
        tier=note.tier,
        date=row.dates.about if row.dates is not None else None,
        kind=kind_of(row.path) or "note",
    )


def _citation(path: str, heading: str, first: int, last: int) -> str:
    return f"{path}{subpath(path, heading)}" if is_converted(path) else f"{path}#L{first}-L{last}"
