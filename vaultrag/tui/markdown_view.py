"""A note as lines for the preview: Markdown, drawn block by block, so that it is known where the passage stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import StringIO

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown
from rich.text import Text

from vaultrag.domain import Hit
from vaultrag.tui.render_model import Page
from vaultrag.tui.rows import MATCH, steady
from vaultrag.wording import safe

BEFORE, AFTER = 80, 160
"""So many lines of the note around its passage are drawn; a note that is longer is cut there."""

_WIKILINK = re.compile(r"!?\[\[[^\[\]\n]+\]\]")
_SHORTEST_TERM = 2

_parser = MarkdownIt().enable(["table", "strikethrough"])


class _PlainHeading(Heading):
    """At the left, without a frame: the pane is narrow."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        level = int(self.tag[1:])
        yield Text("#" * level + " ", style="dim").append_text(self.text)


class _Body(Markdown):
    elements = {**Markdown.elements, "heading_open": _PlainHeading}  # noqa: RUF012 - rich's own way


def window(hit: Hit) -> tuple[int, int]:
    """First and last line of the note that are drawn for a hit."""
    return max(1, hit.start_line - BEFORE), max(hit.end_line, hit.start_line, 1) + AFTER


def matches_of(hit: Hit) -> tuple[str, ...]:
    """Return what matched in the hit's preview, as it is written there."""
    found = {hit.preview[span.start : span.end].strip() for span in hit.spans}
    return tuple(sorted((text for text in found if len(text) >= _SHORTEST_TERM or not text.isascii()), reverse=True))


def page_of(text: str, first_line: int, passage: tuple[int, int], matches: Sequence[str], width: int) -> Page:
    """Draw a note, or a piece of it.

    Args:
        text: The lines.
        first_line: Number of the first of them, from 1.
        passage: First and last line to show, 0 for none.
        matches: Texts to highlight in the passage.
        width: Columns.
    """
    console = Console(file=StringIO(), width=max(width, 10), markup=False, emoji=False, highlight=False)
    text = steady(safe(text.replace("\r\n", "\n").replace("\t", "    ")))[0]
    wanted = [re.compile(rf"(?<!\w){re.escape(match)}" if match[0].isascii() else re.escape(match), re.IGNORECASE)
              for match in matches]  # fmt: skip
    lines: list[Text] = []
    shown: list[int] = []
    before = 0
    for start, end, drawn in _blocks(text, first_line, console):
        if before and start > before + 1:  # as in the note: the items of a list stand together
            lines.append(Text())
        before = end
        inside = passage[0] <= end and start <= passage[1] and passage[0] > 0
        if inside:
            shown += range(*_part(len(lines), len(drawn), (start, end), passage))
            for line in drawn:
                for pattern in wanted:
                    line.highlight_regex(pattern, MATCH)
        lines += drawn
    if not shown:
        return Page(tuple(lines))
    first, behind = min(shown), max(shown) + 1
    marked = (at for at in range(first, behind) if any(span.style == MATCH for span in lines[at].spans))
    return Page(tuple(lines), (first, behind), next(marked, first))


def _part(offset: int, drawn: int, block: tuple[int, int], passage: tuple[int, int]) -> tuple[int, int]:
    """Return the drawn lines of a block that are the passage, in proportion: a block is not drawn line for line."""
    source = block[1] - block[0] + 1
    begin = max(0, passage[0] - block[0]) * drawn // source
    end = -(-min(source, passage[1] - block[0] + 1) * drawn // source)
    return offset + begin, offset + max(end, begin + 1)


def _blocks(text: str, first_line: int, console: Console) -> Iterator[tuple[int, int, list[Text]]]:
    """(first line, last line, what is drawn) of each block."""
    lines = text.split("\n")
    begun = 0
    if first_line == 1 and lines and lines[0].rstrip() == "---":
        closing = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), 0)
        if closing:
            yield 1, closing + 1, [Text(line, style="dim") for line in lines[1:closing]]
            begun = closing + 1
    for start, end in _spans("\n".join(lines[begun:])):
        block = "\n".join(lines[begun + start : begun + end])
        yield first_line + begun + start, first_line + begun + end - 1, _drawn(block, console)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """First line and the line behind the last, from 0, of each block on the top level; the items of a list apart."""
    rows = text.split("\n")
    for token in _parser.parse(text):
        at_top = token.level == 0 and token.nesting >= 0 and not token.type.endswith("_list_open")
        if token.map and (at_top or (token.level == 1 and token.type == "list_item_open")):
            start, end = token.map
            while end > start + 1 and not rows[end - 1].strip():  # a list's last item takes the blank lines after it
                end -= 1
            yield start, max(end, start + 1)


def _drawn(block: str, console: Console) -> list[Text]:
    lines = []
    body = _Body(block.rstrip("\n"), hyperlinks=False, code_theme="ansi_dark")
    for segments in console.render_lines(body, pad=False):
        line = Text.assemble(*((segment.text, segment.style or "") for segment in segments if not segment.control))
        line.rstrip()
        line.highlight_regex(_WIKILINK, "cyan")
        lines.append(line)
    while lines and not lines[0].plain.strip():
        lines.pop(0)
    while lines and not lines[-1].plain.strip():
        lines.pop()
    return lines or [Text(line) for line in block.splitlines()]
