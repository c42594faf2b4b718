"""Where in a note the answer stands: the best run of lines for the query's words, and a preview with what matches.

Works on the note's own text, as it is on disk now. Words are looked for in a folded copy (``retrieval.normalize``); all
positions are of the text itself.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice, takewhile

from vaultrag.model import Span
from vaultrag.notes.words import unspaced
from vaultrag.retrieval.normalize import Folded, fold_letters, folded, whole

__all__ = ["PREVIEW_CHARS", "Preview", "fold_letters", "preview", "words_place"]

PREVIEW_CHARS = 700
"""No preview is longer."""

_WINDOW_CHARS = 420
_MAX_OCCURRENCES = 400
_ENDING = 4  # a word may be so much longer than its stem and still be a form of it
_MARKS = 64  # more marks on one letter are not writing


@dataclass(frozen=True, slots=True)
class Preview:
    """Lines ``first`` to ``last`` (0-based, inclusive, of the text given) and the part of them that is shown."""

    first: int
    last: int
    text: str
    spans: tuple[Span, ...]
    weight: float


def preview(
    text: str, wanted: Mapping[str, float], passage: tuple[int, int] | None = None, *, max_chars: int = PREVIEW_CHARS
) -> Preview:
    """The best place in ``text``, shown.

    Args:
        text: The note's body.
        wanted: Stem or literal of each query word, folded, with its weight. Weights matter to each other only.
        passage: Lines that the meaning arm points at; they win unless the words agree on a better place.
        max_chars: The preview's length at most.
    """
    starts = line_starts(text)
    found = occurrences(folded(text), wanted)
    total = sum(wanted.values()) or 1.0
    place, weight = _best_window(found, wanted)
    if passage is not None:
        first, last = (min(line, len(starts) - 1) for line in passage)
        span = (starts[first], _end_of(starts, last, len(text)))
        inside = {word for _, _, word in found[bisect_left(found, (span[0],)) : bisect_left(found, (span[1],))]}
        in_passage = sum(wanted[word] for word in inside)
        if place is None or weight - in_passage < 0.5 * total:
            place, weight = (span[0], span[1]), in_passage
    if place is None:
        place = _first_text(text)
    first = bisect_right(starts, place[0]) - 1
    last = max(first, bisect_right(starts, max(place[0], place[1] - 1)) - 1)
    return _shown(text, starts, first, last, place, found, weight / total, max_chars)


def words_place(text: str, wanted: Mapping[str, float]) -> tuple[int, int] | None:
    """Return the lines of the window that holds most of the query's words; None where it holds none."""
    place, _ = _best_window(occurrences(folded(text), wanted), wanted)
    if place is None:
        return None
    starts = line_starts(text)
    first = bisect_right(starts, place[0]) - 1
    return first, max(first, bisect_right(starts, max(place[0], place[1] - 1)) - 1)


def occurrences(copy: Folded, wanted: Mapping[str, float]) -> list[tuple[int, int, str]]:
    """(start, end, word) of every form of a wanted word, in order."""
    found: list[tuple[int, int, str]] = []
    text, size = copy.text, len(copy.text)
    plain = text.isascii() and not copy.joints
    for word in wanted:
        if not word:
            continue
        written = _written(word)
        if plain and written.isascii() and written.isalnum():
            found += [(start, end, word) for start, end in _plain_forms(text, written)]
            continue
        free = unspaced(word) or not word[0].isalnum()
        position, count = text.find(written), 0
        while position >= 0 and count < _MAX_OCCURRENCES:
            stop = end = position + len(written)
            if free or position == 0 or not _inside(text[position - 1]):
                while not free and stop < size and _inside(text[stop]):
                    stop += 1
                if stop - end <= _ENDING:
                    found.append((copy.start(position), copy.end(stop), word))
                    count += 1
            position = text.find(written, stop)
    found.sort()
    return found


def _plain_forms(text: str, word: str) -> list[tuple[int, int]]:
    """The same for an ASCII word in an ASCII text, which is most of them: no marks, no joints, and so much faster."""
    found: list[tuple[int, int]] = []
    find, longest = text.find, len(word) + _ENDING
    position = find(word)
    while position >= 0:
        stop = position + len(word)
        if not position or not text[position - 1].isalnum():
            while text[stop : stop + 1].isalnum():
                stop += 1
            if stop - position <= longest:
                found.append((position, stop))
                if len(found) == _MAX_OCCURRENCES:
                    break
        position = find(word, stop)
    return found


def _inside(char: str) -> bool:
    """Whether a word goes on with this: letters, digits, and the marks that some scripts write their vowels with."""
    return char.isalnum() or (not char.isascii() and unicodedata.category(char)[0] == "M")


_SIGNED = re.compile(r"^([a-z])(plusplus?|sharp)$")


@lru_cache(256)  # the same few words in every note that is shown
def _written(word: str) -> str:
    """``C++`` and ``C#`` again, which the index spells out."""
    match = _SIGNED.match(word)
    return word if match is None else match[1] + ("#" if match[2] == "sharp" else "++")


def _best_window(
    found: Sequence[tuple[int, int, str]], wanted: Mapping[str, float]
) -> tuple[tuple[int, int] | None, float]:
    """The stretch of at most ``_WINDOW_CHARS`` that holds the most weight of different words, the tightest first."""
    best: tuple[int, int] | None = None
    best_weight = 0.0
    counts: dict[str, int] = {}
    weight, left = 0.0, 0
    for start, end, word in found:
        counts[word] = counts.get(word, 0) + 1
        if counts[word] == 1:
            weight += wanted[word]
        while end - found[left][0] > _WINDOW_CHARS or (counts[found[left][2]] > 1 and found[left][0] < start):
            gone = found[left][2]
            counts[gone] -= 1
            if counts[gone] == 0:
                weight -= wanted[gone]
            left += 1
        if weight > best_weight + 1e-9:
            best, best_weight = (found[left][0], end), weight
    return best, best_weight


def _shown(
    text: str,
    starts: Sequence[int],
    first: int,
    last: int,
    place: tuple[int, int],
    found: Sequence[tuple[int, int, str]],
    weight: float,
    max_chars: int,
) -> Preview:
    begin, end = starts[first], _end_of(starts, last, len(text))
    # Room left over goes to the lines that follow, for a preview that reads as a piece of the note.
    line = last + 1
    while line < len(starts) and _end_of(starts, line, len(text)) - begin <= max_chars // 2:
        end = _end_of(starts, line, len(text))
        line += 1
    if end - begin > max_chars:
        lead = max(0, min(place[0] - begin - max_chars // 4, end - begin - max_chars))
        begin = _word_start(text, begin + lead) if lead else begin
        end = begin + max_chars
        while end > begin + 1 and not whole(text, end) and begin + max_chars - end < _MARKS:
            end -= 1
    shown = text[begin:end]
    lead = len(shown) - len(shown.lstrip())
    shown, begin = shown.strip(), begin + lead
    end = begin + len(shown)
    here = islice(found, bisect_left(found, (begin,)), None)
    spans = [
        Span(start - begin, stop - begin)
        for start, stop, _ in takewhile(lambda place: place[0] <= end, here)
        if stop <= end
    ]
    return Preview(first, last, shown, _merged(spans), weight)


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for span in spans:
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)


def _first_text(text: str) -> tuple[int, int]:
    start = len(text) - len(text.lstrip())
    if start == len(text):
        return 0, 0
    end = text.find("\n", start)
    return start, len(text) if end < 0 else end


def line_starts(text: str) -> list[int]:
    lines = text.split("\n")
    lines.pop()
    return list(accumulate([len(line) + 1 for line in lines], initial=0))


def _end_of(starts: Sequence[int], line: int, size: int) -> int:
    return starts[line + 1] - 1 if line + 1 < len(starts) else size


def _word_start(text: str, position: int) -> int:
    """The next place after a blank, if one is near; never inside a sign that is several characters."""
    for index in range(position, min(position + 30, len(text))):
        if text[index - 1].isspace() and whole(text, index):
            return index
    for index in range(position, min(position + _MARKS, len(text))):
        if whole(text, index):
            return index
    return position
