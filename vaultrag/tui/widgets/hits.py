"""The list of hits. Only the rows on the screen are drawn, whatever the list's length."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from vaultrag.domain import Hit
from vaultrag.tui.rows import LINES, MARGIN, hit_rows
from vaultrag.wording import NOTHING_CLOSE, NOTHING_ELSE


class HitList(ScrollView, can_focus=False):
    """Hits, one of them selected, some marked; or words where there are none."""

    class Picked(Message):
        """A hit was clicked; ``opened``: twice."""

        def __init__(self, index: int, opened: bool) -> None:
            super().__init__()
            self.index = index
            self.opened = opened

    class Scrolled(Message):
        """The list was scrolled by hand."""

    def __init__(self, now_ns: Callable[[], int], id: str | None = None) -> None:
        super().__init__(id=id)
        self._now_ns = now_ns
        self._hits: tuple[Hit, ...] = ()
        self._selected = 0
        self._marked: frozenset[str] = frozenset()
        self._words: Sequence[str] = ()
        self._drawn: dict[tuple[int, bool, bool], list[Strip]] = {}

    def show(self, hits: tuple[Hit, ...], selected: int, marked: frozenset[str], words: Sequence[str]) -> None:
        """Show this. ``words`` stand where there are no hits."""
        if hits is not self._hits or words != self._words:
            self._hits, self._words = hits, words
            self._forget()
        elif (selected, marked) == (self._selected, self._marked):
            return
        self._selected, self._marked = selected, marked
        self._follow()
        self.refresh()

    @property
    def _near(self) -> int:
        """Index of the first weak hit: a line above it says that nothing before it matches closely."""
        return next((index for index, hit in enumerate(self._hits) if hit.tier == "weak"), len(self._hits))

    def _top(self, index: int) -> int:
        """Return the first line of a hit."""
        return index * LINES + (index >= self._near)

    def _at(self, line: int) -> tuple[int, int] | None:
        """Return the hit on a line, and which of its lines that is; None for the line above the weak ones."""
        if line == self._near * LINES:
            return None
        return divmod(line - (line > self._near * LINES), LINES)

    @property
    def page(self) -> int:
        """Hits that a screen holds."""
        return max(1, self.scrollable_content_region.height // LINES)

    def render_line(self, y: int) -> Strip:
        line = y + int(self.scroll_offset.y)
        width = self.scrollable_content_region.width
        place = self._at(line)
        if place is not None and place[0] < len(self._hits):
            return self._rows(place[0], width)[place[1]]
        text = Text()
        if place is None and self._near < len(self._hits):
            text = Text(" " * MARGIN + (NOTHING_ELSE if self._near else NOTHING_CLOSE), style="dim")
            text.truncate(width, overflow="ellipsis")
        if not self._hits and line < len(self._words):
            text = Text(" " * MARGIN + self._words[line])
            text.truncate(width, overflow="ellipsis")
        return self._strip(text, width)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._drawn.clear()

    def on_resize(self) -> None:
        self._forget()
        self._follow()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value > old_value:
            self.post_message(self.Scrolled())

    def on_click(self, event: events.Click) -> None:
        place = self._at(event.y + int(self.scroll_offset.y))
        if place is not None and (index := place[0]) < len(self._hits):
            self.post_message(self.Picked(index, event.chain > 1))

    def _strip(self, text: Text, width: int) -> Strip:
        return Strip(text.render(self.app.console)).adjust_cell_length(width).apply_style(self.rich_style)

    def _rows(self, index: int, width: int) -> list[Strip]:
        hit = self._hits[index]
        key = (index, index == self._selected, hit.path in self._marked)
        if key not in self._drawn:
            rows = hit_rows(hit, width, now_ns=self._now_ns(), selected=key[1], marked=key[2])
            self._drawn[key] = [self._strip(row, width) for row in rows]
        return self._drawn[key]

    def _forget(self) -> None:
        self._drawn.clear()
        self.virtual_size = Size(0, max(len(self._hits) * LINES + (self._near < len(self._hits)), 1))

    def _follow(self) -> None:
        """Scroll no further than it takes to have the selected hit on the screen."""
        height = self.scrollable_content_region.height
        top = self._top(self._selected)
        bottom = top + LINES
        top -= self._selected == self._near  # with the line above the first weak hit
        offset = int(self.scroll_offset.y)
        if top < offset:
            self.scroll_to(y=top, animate=False)
        elif bottom > offset + height:
            self.scroll_to(y=bottom - height, animate=False)
