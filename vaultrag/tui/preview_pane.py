"""What the preview shows: the selected note, or why it stands where it stands; and when that has to be fetched anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from io import StringIO

from rich.console import Console
from rich.text import Text

from vaultrag.client.explanations import explanation_lines
from vaultrag.domain import Hit
from vaultrag.tui.render_model import Page
from vaultrag.tui.rows import plain, when
from vaultrag.tui.session import Source
from vaultrag.tui.state import View
from vaultrag.wording import count


@dataclass(frozen=True, slots=True)
class PaneContent:
    """Lines that stand above, and the page for a width."""

    head: tuple[Text, ...] = ()
    draw: Callable[[int], Page] = lambda width: Page()


class Pane:
    """Knows what is shown, so that nothing is fetched twice."""

    def __init__(self) -> None:
        self.explaining = False
        self._shown: object = None

    def turn_to(self, view: View) -> bool:
        """Return True if something else is to be shown than was last fetched."""
        hit = view.current
        wanted: object = None
        if hit is not None:
            wanted = (view.vault_id, hit.path, hit.mtime_ns, hit.start_line, self.explaining)
            if self.explaining or not view.related_to:
                # Other words match in the same passage.
                wanted = (wanted, view.query if self.explaining else hit.spans, view.mode)
        if wanted == self._shown:
            return False
        self._shown = wanted
        return True

    def forget(self) -> None:
        """Fetch it again, whatever it is."""
        self._shown = None

    async def fetch(self, view: View, link: Source, now_ns: int) -> PaneContent:
        """Return the content of the pane.

        Raises:
            VaultragError: The note cannot be had.
        """
        hit = view.current
        if hit is None:
            return PaneContent()
        if self.explaining and not view.related_to:
            return await self._why(view, hit, link)
        from vaultrag.tui.markdown_view import (  # Markdown takes a while to load: after the hits
            matches_of,
            page_of,
            window,
        )

        first, last = window(hit)
        note = await link.note(hit.path, first, last)
        passage = (hit.start_line, max(hit.end_line, hit.start_line))
        matches = matches_of(hit)
        head = _head(hit, now_ns)
        above, below = note.start_line - 1, note.total_lines - note.end_line

        def draw(width: int) -> Page:
            page = page_of(note.text, note.start_line, passage, matches, width)
            before = (_cut(above, "above"), Text()) if above > 0 else ()
            after = (_cut(below, "below"),) if below > 0 else ()
            first, behind = page.passage
            where = (first + len(before), behind + len(before))
            return Page((*before, *page.lines, *after), where, page.match + len(before))

        return PaneContent(head, draw)

    async def _why(self, view: View, hit: Hit, link: Source) -> PaneContent:
        explained = await link.explain(view.query, hit.path, view.mode)
        told = explanation_lines(replace(explained, hits=()))

        def draw(width: int) -> Page:
            paper = Console(file=StringIO(), width=width, markup=False, emoji=False, highlight=False)
            return Page(tuple(part for line in told for part in (line.wrap(paper, width) if line.plain else [line])))

        return PaneContent((Text(f"why {plain(hit.path)}", style="bold"), Text()), draw)


def _cut(lines: int, where: str) -> Text:
    return Text(f"… {count(lines, 'line')} {where} …", style="dim")


def _head(hit: Hit, now_ns: int) -> tuple[Text, ...]:
    where = Text().append(plain(hit.path), style="green")
    if old := when(hit, now_ns):
        where.append(f" · {old}")
    return (where, Text())
