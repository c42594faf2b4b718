"""The pane with the selected note, or with why it stands where it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from vaultrag.tui.render_model import Page

GUTTER = "▎"


class Preview(ScrollView, can_focus=False):
    """Lines that are drawn anew when the pane's width changes; the passage has a bar at its left."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._draw: Callable[[int], Page] = lambda width: Page()
        self._head: Sequence[Text] = ()
        self._page = Page()
        self._drawn: dict[int, Strip] = {}

    def show(self, head: Sequence[Text], draw: Callable[[int], Page]) -> None:
        """Show this, scrolled to its passage.

        Args:
            head: Lines that stand above.
            draw: The page for a width.
        """
        self._head, self._draw = head, draw
        self._redraw()

    def clear(self) -> None:
        self.show((), lambda width: Page())

    def on_resize(self) -> None:
        self._redraw()

    def render_line(self, y: int) -> Strip:
        line = y + int(self.scroll_offset.y) - len(self._head)
        key = y if y < len(self._head) else line + len(self._head)
        if key not in self._drawn:
            self._drawn[key] = self._line(y, line)
        return self._drawn[key]

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._drawn.clear()

    def _line(self, y: int, line: int) -> Strip:
        width = self.scrollable_content_region.width
        if y < len(self._head):  # it stays while the page below is scrolled
            text = self._head[y]
        elif line < len(self._page.lines):
            first, behind = self._page.passage
            text = Text().append(f"{GUTTER} " if first <= line < behind else "  ", style="cyan")
            text.append_text(self._page.lines[line])
        else:
            text = Text()
        strip = Strip(text.render(self.app.console)).adjust_cell_length(width)
        return strip.apply_style(self.rich_style)

    def _redraw(self) -> None:
        width = self.scrollable_content_region.width
        if width < 1:
            return
        self._page = self._draw(max(10, width - 2))
        self._drawn.clear()
        height = len(self._head) + len(self._page.lines)
        self.virtual_size = Size(0, max(height, 1))
        self.refresh()
        room = self.scrollable_content_region.height - len(self._head)
        first, behind = self._page.passage
        # A third of the pane stands above the passage, or above the match in a passage that is longer than the pane; a
        # passage that is in sight anyway needs no scrolling.
        focus = self._page.match if self._page.match - first > room // 2 else first
        top = 0 if behind <= room else max(0, focus - room // 3)
        self.scroll_to(y=top, animate=False)
        # Once more when the pane knows its new height: until then it stops at the old end.
        self.call_after_refresh(self.scroll_to, y=top, animate=False)
