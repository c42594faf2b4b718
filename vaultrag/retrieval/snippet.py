"""Where in a note the answer stands: the best run of lines for the query's words, and a preview with what matches.

Works on the note's own text, as it is on disk now, rendered as a reader sees it (``markdown.rendered_text``). Words are
looked for in a folded copy of that (``text.normalize``). What is shown is the rendered text; each match knows its
place in the file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, takewhile

from vaultrag.domain import Place, Span
from vaultrag.markdown.excerpt import around
from vaultrag.markdown.rendered_text import rendered
from vaultrag.retrieval.occurrences import occurrences
from vaultrag.text.normalize import fold_letters, folded, whole
from vaultrag.text.sentences import sentence_spans
from vaultrag.text.short_cache import cached_if_short

__all__ = ["PREVIEW_CHARS", "Preview", "fold_letters", "preview", "words_place"]

PREVIEW_CHARS = 700
"""No preview is longer."""

_WINDOW_CHARS = 420
_WHOLE = 1_500  # a longer note is rendered only around the place that is shown
_TRIES = 4  # places that turn out to be hidden, before all of it is rendered
_WORD = 30  # a word that is cut at the end of a preview is left out, if it is no longer
_MARKS = 64  # more marks on one letter are not writing


@dataclass(frozen=True, slots=True)
class Preview:
    """The part of a note that is shown, and where it stands.

    Attributes:
        first: First line of the place, 0-based, of the text given.
        last: Its last line, inclusive.
        text: The rendered text shown.
        spans: What matches, in ``text``.
        weight: Share of the query's weight that the place holds.
        places: Where each of ``spans`` stands in the text given. Where nothing that is shown matches, but something
            behind it does (a link's address), that.
    """

    first: int
    last: int
    text: str
    spans: tuple[Span, ...]
    weight: float
    places: tuple[Place, ...] = ()


def preview(
    text: str, wanted: Mapping[str, float], passage: tuple[int, int] | None = None, *, max_chars: int = PREVIEW_CHARS
) -> Preview:
    """Show the best place of a note, as a reader sees it.

    Args:
        text: The note's body.
        wanted: Stem or literal of each query word, folded, with its weight; of several words, what stands in a row. The
            form of a date or a code (``text.number_forms``) is each way of writing it. Only their proportion matters.
        passage: Lines that the meaning arm points at; they win unless the words agree on a better place.
        max_chars: The preview's length at most.
    """
    span = None if passage is None else _lines_span(text, *passage)
    if len(text) <= _WHOLE:
        part = _part(text)
        return _in_part(part, occurrences(_folded(part.copy.text), wanted), None, wanted, span, max_chars)
    found = everywhere = occurrences(_folded(text), wanted)
    for _ in range(_TRIES if found or span else 0):
        place, weight = _choose(found, wanted, span, max_chars)
        begin, end = around(text, *(place or (0, 0)))
        part = _part(text, begin, end)
        here = found[bisect_left(found, (begin,)) : bisect_left(found, (end,))]
        # What the source does not hold, the rendered text does not hold either.
        held = {word: wanted[word] for _, _, word in here}
        shown_matches = occurrences(_folded(part.copy.text), held) if held else []
        shown = _in_part(part, shown_matches, here, wanted, span, max_chars)
        if shown.text and shown.weight > weight - 1e-6 and (shown.spans or not weight):
            return shown
        kept = [one for one in found if not begin <= one[0] < end or part.shows(one[0], one[1])]
        if len(kept) in (0, len(found)):
            break
        found = kept
    part = _part(text)
    return _in_part(part, occurrences(folded(part.copy.text), wanted), everywhere, wanted, span, max_chars)


class Part:
    """A part of a body, rendered, and the way back to the body's lines."""

    def __init__(self, body: str, begin: int = 0, end: int | None = None) -> None:
        """Take a part of a body.

        Args:
            body: What it is a part of.
            begin: Where it begins in the body.
            end: Where it ends; None where it is the rest.
        """
        self.text = body[begin:end]
        self.offset = begin
        self.copy = rendered(self.text, body)
        self._first_line = body.count("\n", 0, begin)
        self._starts = line_starts(self.text)
        self._starts[0] = body.rfind("\n", 0, begin) + 1 - begin  # it may begin within a line

    def line(self, position: int) -> int:
        """Return the body's line of what is rendered at ``position``."""
        return self._first_line + bisect_right(self._starts, self.copy.start(position)) - 1

    def place(self, start: int, end: int) -> Place:
        """Return where a stretch of the rendered text, which is on one line, stands in the body."""
        first, behind = self.copy.start(start), self.copy.end(end)
        line = bisect_right(self._starts, first) - 1
        if line + 1 < len(self._starts):
            behind = min(behind, self._starts[line + 1] - 1)
        begins = self._starts[line]
        return Place(self._first_line + line, first - begins, max(first, behind) - begins)

    def lead(self, line: int, position: int) -> str:
        """Return the source of a line before what is rendered at ``position``."""
        begins = max(0, self._starts[line - self._first_line])
        return self.text[begins : max(begins, self.copy.start(position))]

    def position(self, source: int) -> int:
        """Return where what stands at ``source`` in the body is rendered."""
        return min(len(self.copy.text), self.copy.position(max(0, source - self.offset)))

    def rendered_places(self, found: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        """Return where what stands in the body is rendered."""
        return [(self.position(start), self.position(end), word) for start, end, word in found]

    def shows(self, start: int, end: int) -> bool:
        """Return whether anything of this stretch of the body is rendered."""
        return self.position(start) < self.position(end)


_part = cached_if_short(Part)
_folded = cached_if_short(folded)


def _choose(
    found: Sequence[tuple[int, int, str]],
    wanted: Mapping[str, float],
    span: tuple[int, int] | None,
    max_chars: int,
) -> tuple[tuple[int, int] | None, float]:
    """Choose the place to show, with the share of the query's weight in it: the passage, or where the words agree."""
    total = sum(wanted.values()) or 1.0
    width = min(_WINDOW_CHARS, max_chars * 2 // 3)
    place, weight = _best_window(found, wanted, width)
    if span is not None:
        inside = found[bisect_left(found, (span[0],)) : bisect_left(found, (span[1],))]
        in_passage = sum(wanted[word] for word in {word for _, _, word in inside})
        if place is None or weight - in_passage < 0.5 * total:
            if span[1] - span[0] <= max_chars:
                return span, in_passage / total
            # More than can be shown: the part of it that matches.
            place, weight = _best_window(inside, wanted, width)
            place = place or (span[0], span[0])
    return place, weight / total


def _in_part(
    part: Part,
    found: Sequence[tuple[int, int, str]],
    in_source: Sequence[tuple[int, int, str]] | None,
    wanted: Mapping[str, float],
    span: tuple[int, int] | None,
    max_chars: int,
) -> Preview:
    """Show a part.

    Args:
        found: What matches in the rendered text.
        in_source: What matches in the body, as far as it is in the part; None where that is not known yet.
    """
    hidden: Sequence[tuple[int, int, str]] = ()
    if not found and part.copy.joints:
        hidden = hidden_occurrences(part, wanted) if in_source is None else part.rendered_places(in_source)
    shown_span = None if span is None else (part.position(span[0]), part.position(span[1]))
    place, weight = _choose(found or hidden, wanted, shown_span, max_chars)
    return _shown(part, place or _first_text(part.copy.text), found, hidden, weight, max_chars)


def hidden_occurrences(part: Part, wanted: Mapping[str, float]) -> list[tuple[int, int, str]]:
    """Find what matches in the source only, by the rendered places where it would stand."""
    found = occurrences(folded(part.text), wanted)
    return part.rendered_places((start + part.offset, end + part.offset, word) for start, end, word in found)


def words_place(text: str, wanted: Mapping[str, float]) -> tuple[int, int] | None:
    """Return the lines of the window that holds most of the query's words; None where it holds none."""
    place, _ = _best_window(occurrences(folded(text), wanted), wanted, _WINDOW_CHARS)
    if place is None:
        return None
    starts = line_starts(text)
    first = bisect_right(starts, place[0]) - 1
    return first, max(first, bisect_right(starts, max(place[0], place[1] - 1)) - 1)


def _best_window(
    found: Sequence[tuple[int, int, str]], wanted: Mapping[str, float], width: int
) -> tuple[tuple[int, int] | None, float]:
    """Return the window of at most ``width`` characters with the most weight of different words, the tightest first."""
    best: tuple[int, int] | None = None
    best_weight = 0.0
    counts: dict[str, int] = {}
    weight, left = 0.0, 0
    for start, end, word in found:
        counts[word] = counts.get(word, 0) + 1
        if counts[word] == 1:
            weight += wanted[word]
        while found[left][0] < start and (end - found[left][0] > width or counts[found[left][2]] > 1):
            gone = found[left][2]
            counts[gone] -= 1
            if counts[gone] == 0:
                weight -= wanted[gone]
            left += 1
        if weight > best_weight + 1e-9:
            best, best_weight = (found[left][0], end), weight
    return best, best_weight


def _shown(
    part: Part,
    place: tuple[int, int],
    found: Sequence[tuple[int, int, str]],
    hidden: Sequence[tuple[int, int, str]],
    weight: float,
    max_chars: int,
) -> Preview:
    text = part.copy.text
    first, last = part.line(place[0]), part.line(max(place[0], place[1] - 1))
    begin, end = _stretch(text, place, max_chars)
    shown = text[begin:end]
    lead = len(shown) - len(shown.lstrip())
    shown, begin = shown.strip(), begin + lead
    end = begin + len(shown)
    here = islice(found, bisect_left(found, (begin,)), None)
    spans = merged(
        [
            Span(start - begin, stop - begin)
            for start, stop, _ in takewhile(lambda place: place[0] <= end, here)
            if stop <= end
        ]
    )
    places = tuple(part.place(begin + span.start, begin + span.end) for span in spans)
    if hidden and not places:
        at = next((start for start, _, _ in hidden if start >= place[0]), hidden[0][0])
        places = (part.place(at, at),)
    return Preview(first, max(first, last), shown, spans, weight, places)


def _stretch(text: str, place: tuple[int, int], max_chars: int) -> tuple[int, int]:
    """Choose what is shown: the lines of the place, else the sentences around it, and what follows."""
    begin = text.rfind("\n", 0, place[0]) + 1
    end = _line_end(text, max(place[0], place[1] - 1))
    if end - begin <= max_chars:
        # Room left over goes to the lines that follow, for a preview that reads as a piece of the note.
        while end < len(text) and (further := _line_end(text, end + 1)) - begin <= max(max_chars // 2, end - begin):
            end = further
        return begin, end
    if place[0] - begin > max_chars // 4:
        reach = max(0, min(max_chars // 2, max_chars - (place[1] - place[0])))
        sentence = _sentence_start(text, begin, place[0], reach)
        begin = _word_start(text, place[0] - min(reach, max_chars // 4)) if sentence is None else sentence
    line_end, end = end, min(begin + max_chars, len(text))
    if end < line_end and (blank := text.rfind(" ", max(place[1], end - _WORD), end)) > 0:
        end = blank
    while end > begin + 1 and not whole(text, end) and begin + max_chars - end < _MARKS:
        end -= 1
    return begin, end


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _sentence_start(text: str, line: int, position: int, reach: int) -> int | None:
    """Return where the sentence at ``position`` begins on its line; None where that is more than ``reach`` before."""
    earliest = max(line, position - reach)
    begins = [earliest + start for start, _ in sentence_spans(text[earliest : position + 1])]
    inside = [begin for begin in begins if begin > earliest or earliest == line]
    return inside[-1] if inside else None


def merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for span in spans:
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)


def in_file(
    places: Sequence[Place], body: str, body_line: int, measure: Callable[[str], int] = len
) -> tuple[Place, ...]:
    """Return places of a body as places of its file.

    Args:
        places: Lines from 0.
        body: What they are places of.
        body_line: File line of the body's first line.
        measure: Counts a text in the units that columns are wanted in.
    """
    if measure is len or body.isascii():
        return tuple(Place(place.line + body_line, place.start, place.end) for place in places)
    lines = body.split("\n") if places else []
    return tuple(
        Place(one.line + body_line, measure(lines[one.line][: one.start]), measure(lines[one.line][: one.end]))
        for one in places
    )


def _first_text(text: str) -> tuple[int, int]:
    start = len(text) - len(text.lstrip())
    if start == len(text):
        return 0, 0
    end = text.find("\n", start)
    return start, len(text) if end < 0 else end


def line_starts(text: str) -> list[int]:
    lines = text.split("\n")
    lines.pop()
    return list(accumulate(map((1).__add__, map(len, lines)), initial=0))


def _lines_span(text: str, first: int, last: int) -> tuple[int, int]:
    """Return where these lines begin and end; the last line for those that there are not."""
    lines = text.split("\n", last + 1)[: last + 1]
    first = min(first, len(lines) - 1)
    begin = sum(map(len, lines[:first])) + first
    return begin, begin + len("\n".join(lines[first:]))


def _word_start(text: str, position: int) -> int:
    """Return the next place after a blank, if one is near; never inside a sign that is several characters."""
    for index in range(position, min(position + 30, len(text))):
        if text[index - 1].isspace() and whole(text, index):
            return index
    for index in range(position, min(position + _MARKS, len(text))):
        if whole(text, index):
            return index
    return position
