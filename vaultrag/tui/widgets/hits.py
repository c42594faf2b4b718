"""The list of hits. Only the rows on the screen are drawn, whatever the list's length."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from vaultrag.model import Hit
from vaultrag.tui.rows import LINES, MARGIN, hit_rows


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
    def page(self) -> int:
        """Hits that a screen holds."""
        return max(1, self.scrollable_content_region.height // LINES)

    def render_line(self, y: int) -> Strip:
        line = y + int(self.scroll_offset.y)
        index, part = divmod(line, LINES)
        width = self.scrollable_content_region.width
        if self._hits and index < len(self._hits):
            return self._rows(index, width)[part]
        text = Text()
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
        index = (event.y + int(self.scroll_offset.y)) // LINES
        if index < len(self._hits):
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
        self.virtual_size = Size(0, max(len(self._hits) * LINES, 1))

    def _follow(self) -> None:
        """Scroll no further than it takes to have the selected hit on the screen."""
        height = self.scrollable_content_region.height
        top, bottom = self._selected * LINES, (self._selected + 1) * LINES
        offset = int(self.scroll_offset.y)
        if top < offset:
            self.scroll_to(y=top, animate=False)
        elif bottom > offset + height:
            self.scroll_to(y=bottom - height, animate=False)
