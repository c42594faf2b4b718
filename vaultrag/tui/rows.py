"""A hit as three lines of a given width: title, place, passage. Pure.

Nothing is said by colour alone: the selected hit has a bar, a marked one a star, a match is bold and underlined.
Joiners and variation selectors are left out: terminals do not agree how wide the signs are that they make.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from vaultrag.domain import Hit, Span
from vaultrag.text.sentences import sentence_spans
from vaultrag.wording import arms, duration, named, one_line, where

LINES = 3
"""Of every hit."""

MARGIN = 3
"""Columns for the bar and the star."""

MATCH = "bold underline"

_UNSTEADY = frozenset("\u200d\ufe0e\ufe0f")


def steady(text: str, spans: Sequence[Span] = ()) -> tuple[str, tuple[Span, ...]]:
    """Return the text without characters of disputed width, and its spans in the new text."""
    if not any(char in _UNSTEADY for char in text):
        return text, tuple(spans)
    left_out = [0]
    for char in text:
        left_out.append(left_out[-1] + (char in _UNSTEADY))
    moved = tuple(Span(span.start - left_out[span.start], span.end - left_out[span.end]) for span in spans)
    return "".join(char for char in text if char not in _UNSTEADY), moved


def plain(text: str) -> str:
    """Foreign text for one line of the screen."""
    return steady(one_line(text))[0]


def hit_rows(hit: Hit, width: int, *, now_ns: int, selected: bool, marked: bool) -> list[Text]:
    """Return the lines of a hit, each at most ``width`` columns."""
    bar = "▌" if selected else " "
    room = max(width - MARGIN, 8)
    rows = [_title(hit, room), _place(hit, room, now_ns), _passage(hit, room)]
    star = "*" if marked else " "
    return [
        Text().append(f"{bar}{star if line == 0 else ' '} ", style="bold cyan").append_text(row)
        for line, row in enumerate(rows)
    ]


def age(mtime_ns: int, now_ns: int) -> str:
    """Return how long ago a note was changed; empty where that is not known."""
    return duration(max(0, now_ns - mtime_ns) / 1e9) if mtime_ns else ""


def when(hit: Hit, now_ns: int) -> str:
    """Return the day that a note says it is about; of one that says none, how long ago it was changed."""
    return str(hit.date) if hit.date is not None and hit.date.own else age(hit.mtime_ns, now_ns)


def clipped(text: str, width: int, *, front: bool = False) -> str:
    """At most so many columns of the text; dots where something is missing."""
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    if front:
        cut = 1
        while cut < len(text) and cell_len(text[cut:]) > width - 1:
            cut += 1
        return f"…{text[cut:]}"
    kept = Text(text)
    kept.truncate(width - 1)
    return f"{kept.plain}…"


def _title(hit: Hit, room: int) -> Text:
    right = f"{hit.tier} {hit.score:.2f} {arms(hit.evidence)}".strip()
    if cell_len(right) > room // 2:
        right = f"{hit.score:.2f}"
    text, spans = steady(one_line(hit.title), hit.title_spans)
    title = clipped(text or plain(hit.path), room - cell_len(right) - 1)
    line = Text().append(title, style="bold cyan")
    for span in spans:
        line.stylize("underline", span.start, min(span.end, len(title)))
    line.append(" " * max(1, room - cell_len(title) - cell_len(right)))
    return line.append(right, style="dim")


def _place(hit: Hit, room: int, now_ns: int) -> Text:
    place = plain(where(hit))
    old = when(hit, now_ns)
    line = Text().append(clipped(place, room - (len(old) + 3 if old else 0), front=True), style="green")
    rest = [
        (plain(named(hit)), "bold"),
        (old, ""),
        ("changed since it was indexed" if hit.stale else "", "yellow"),
        (" ".join(f"#{plain(tag)}" for tag in hit.tags), "magenta"),
        (plain(hit.heading), "italic"),
    ]
    for part, style in rest:
        if part and line.cell_len + cell_len(part) + 3 <= room:
            line.append(" · ", style="dim").append(part, style=style)
    return line


def _passage(hit: Hit, room: int) -> Text:
    text, spans = steady(one_line(hit.preview or hit.line), hit.spans if hit.preview else ())
    if not text.strip():
        return Text("(empty)", style="dim")
    begin = _best_start(text, spans, room)
    line = Text(text)
    for span in spans:
        line.stylize(MATCH, span.start, span.end)
    line = line[begin:] if begin else line
    if begin:
        line = Text("… ").append_text(line)
    line.truncate(room, overflow="ellipsis")
    return line


def _best_start(text: str, spans: Sequence[Span], room: int) -> int:
    """Return where a row begins that holds the most different matches: at their sentence, as far as there is room."""
    room -= 4  # the dots
    if cell_len(text) <= room + 4 or not spans:
        return 0
    words = [text[span.start : span.end].casefold() for span in spans]
    best, most, last = spans[0], 0, spans[0]
    for first, span in enumerate(spans):
        held: set[str] = set()
        end = span
        for word, other in zip(words[first:], spans[first:], strict=True):
            if cell_len(text[span.start : other.end]) > room:
                break
            held.add(word)
            end = other
        if len(held) > most:
            best, most, last = span, len(held), end
    if cell_len(text[: last.end]) <= room:
        return 0
    for sentence, behind in sentence_spans(text):
        if sentence <= best.start < behind and cell_len(text[sentence : last.end]) <= room:
            return sentence
    begin = best.start  # words before them in a fourth of the row
    while (
        begin and cell_len(text[begin - 1 : best.start]) <= room // 4 and cell_len(text[begin - 1 : last.end]) <= room
    ):
        begin -= 1
    blank = text.find(" ", begin, best.start)
    return blank + 1 if begin and blank >= 0 else begin
