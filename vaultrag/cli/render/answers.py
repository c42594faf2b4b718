"""A search's answer, drawn: a hit takes its title line, its place, and at most three lines of the note."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import StringIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from vaultrag.domain import Answer, Hit, Span, State
from vaultrag.wording import NOTHING_CLOSE, NOTHING_ELSE, STATES, arms, because, named, one_line, validity, where

PREVIEW_LINES = 3
MAX_WIDTH = 110
"""Longer lines are hard to read, however wide the window."""


_INDENT = 3

_FILTER = re.compile(r"(?:^|\s)-\S|(?:^|\s)-?(?:tag|path|file|after|before|is):\S|(?:^|\s)\[[^\]]+\]", re.IGNORECASE)


def answer_lines(answer: Answer, width: int, advice: str | None = None) -> Iterator[Text]:
    """Return the whole answer, best hit first.

    Args:
        answer: As the daemon gave it.
        width: Columns there are.
        advice: What to try where nothing was found; None for what fits the query.
    """
    width = min(width, MAX_WIDTH)
    for rank, hit in enumerate(answer.hits, start=1):
        yield from hit_lines(rank, hit, width)
        yield Text()
    if not answer.hits:
        yield Text(f"nothing found for {one_line(answer.query)}")
    yield from nearest_lines(answer, width)
    if not answer.hits and (advice := unfinished(answer) or (widening(answer) if advice is None else advice)):
        yield Text(f"  try: {advice}", style="dim")
    if (line := state_line(answer)) is not None:
        yield line


def nearest_lines(answer: Answer, width: int) -> Iterator[Text]:
    """Draw the weak hits that are offered beside what was found, three lines each."""
    if not answer.nearest:
        return
    yield Text(NOTHING_ELSE if answer.hits else NOTHING_CLOSE, style="dim")
    for hit in answer.nearest:
        title = Text(" " * _INDENT + (one_line(hit.title) or hit.path), style="cyan", overflow="ellipsis", no_wrap=True)
        title.truncate(width, overflow="ellipsis")
        yield title
        yield _place_line(hit, width)
        for line in preview_lines(hit.line, (), width - _INDENT, lines=1):
            yield Text(" " * _INDENT).append_text(line)


def hit_lines(rank: int, hit: Hit, width: int) -> Iterator[Text]:
    """Draw one hit. Its tier, its score and what found it stand at the right of its title."""
    right = f"{hit.tier}  {hit.score:.2f}  {arms(hit.evidence)}"
    room = width - _INDENT - cell_len(right) - 2
    title = Text(one_line(hit.title) or hit.path, style="bold cyan", overflow="ellipsis", no_wrap=True)
    for span in hit.title_spans:
        title.stylize("underline", span.start, span.end)
    title.truncate(max(room, 10), overflow="ellipsis")
    head = Text(f"{rank:>2} ").append_text(title)
    head.append(" " * max(2, width - cell_len(head.plain) - cell_len(right)))
    yield head.append(right, style="dim")
    yield _place_line(hit, width)
    for line in preview_lines(hit.preview, hit.spans, width - _INDENT):
        yield Text(" " * _INDENT).append_text(line)


def preview_lines(preview: str, spans: Sequence[Span], width: int, lines: int = PREVIEW_LINES) -> list[Text]:
    """At most so many lines of a preview, what matches in bold: those with most of the different matches.

    Args:
        preview: Lines of the note.
        spans: What matches, in code points of ``preview``.
        width: Columns.
        lines: How many.
    """
    if not preview.strip():
        return []
    text = Text(one_line(preview))
    for span in spans:
        text.stylize("bold", span.start, span.end)
    room = max(width - 2, 20)  # two columns for the dots that say that there is more
    wrapped = [line for line in text.wrap(_paper(room), room) if line.plain.strip()]
    start = _richest(wrapped, lines)
    shown = wrapped[start : start + lines]
    for line in shown:
        line.rstrip()
    if start > 0:
        shown[0] = Text("… ").append_text(shown[0])
    if start + lines < len(wrapped):
        shown[-1].append(" …")
    return shown


def _richest(wrapped: Sequence[Text], lines: int) -> int:
    """Return the first of so many lines that together hold the most different matches."""
    matches = [
        {line.plain[span.start : span.end].casefold() for span in line.spans if span.style == "bold"}
        for line in wrapped
    ]
    last = max(0, len(wrapped) - lines)
    counts = [len(set[str]().union(*matches[start : start + lines])) for start in range(last + 1)]
    return counts.index(max(counts)) if any(counts) else 0


def unfinished(answer: Answer) -> str:
    """Return what to try where not everything could be searched; empty where it could."""
    if answer.index.current and answer.state is not State.PARTIAL:
        return ""
    hint = next((reason.hint for reason in answer.reasons if reason.hint), "")
    return hint or "again in a moment: what was changed just now is still being read"


def widening(answer: Answer) -> str:
    """Return what could find more; empty when nothing comes to mind."""
    query = answer.query.strip()
    if not query:
        return 'vaultrag search "some words"'
    if answer.state in (State.INDEXING, State.MODEL_MISMATCH):
        return "again when vaultrag status says ready"
    if _FILTER.search(query):
        return "without the filters and exclusions"
    if '"' in query:
        return "without the quotes"
    if answer.mode != "hybrid":
        return "--mode hybrid"
    return "fewer or other words" if len(query.split()) > 1 else "another word"


def state_line(answer: Answer) -> Text | None:
    """In one line, why this is not a plain full answer; None when it is one."""
    if answer.state is State.FULL and not answer.reasons:
        return None
    parts = [because(reason.why, reason.hint) for reason in answer.reasons]
    return Text(f"{STATES[answer.state]}: {'; '.join(parts)}" if parts else STATES[answer.state], style="yellow")


def _place_line(hit: Hit, width: int) -> Text:
    """Path and line, whole, however long, so that they can be copied; then what else there is room for."""
    path = one_line(where(hit))
    line = Text(" " * _INDENT, no_wrap=True, overflow="ignore")
    line.append(path, style="green")
    stale = "changed since it was indexed" if hit.stale else ""
    standing = one_line(validity(hit.standing)) if hit.standing is not None else ""
    tags = " ".join(f"#{tag}" for tag in hit.tags)
    sources = one_line(", ".join(source for part in hit.evidence for source in part.source))
    for part, style in (
        (named(hit), "bold"),
        (str(hit.date) if hit.date is not None and hit.date.own else "", ""),
        (standing, "yellow"),
        (stale, "yellow"),
        (one_line(hit.heading), "italic"),
        (f"links with {sources}" if sources else "", "dim"),
        (one_line(tags), "magenta"),
    ):
        if part and line.cell_len + cell_len(part) + 3 <= width:
            line.append(" · ", style="dim").append(part, style=style)
    return line


def _paper(width: int) -> Console:
    # Wrapping asks a console for its settings; this one has no way out.
    return Console(file=StringIO(), width=width, markup=False, emoji=False, highlight=False)
