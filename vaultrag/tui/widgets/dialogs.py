"""What lies over the screen for a moment: a list to pick from, and the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static

from vaultrag.tui.widgets.prompt import Prompt

MOST = 200
"""Entries shown at once; typing finds the others."""

_MOVES = {"up": "cursor_up", "down": "cursor_down", "page_up": "page_up", "page_down": "page_down"}


class PickDialog(ModalScreen[str | None]):
    """Pick one of many by typing a part of it. The result is the entry; None for none."""

    def __init__(self, title: str, entries: Sequence[tuple[str, str]], keys: Mapping[str, str]) -> None:
        """Make a dialog that picks one entry.

        Args:
            title: What is picked.
            entries: Each with what is said of it.
            keys: Key to action; moving, opening and leaving are used.
        """
        super().__init__()
        self._title = title
        self._entries = entries
        self._keys = keys
        self._shown: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(Text(self._title, style="bold"))
            yield Prompt(self._keys, placeholder="type to narrow down", id="narrow")
            yield OptionList(id="entries", compact=True)

    def on_mount(self) -> None:
        self.query_one("#entries").can_focus = False
        self.query_one(Prompt).focus()
        self._narrow("")

    def on_input_changed(self, event: Prompt.Changed) -> None:
        event.stop()
        self._narrow(event.value)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._shown[event.option_index])

    def on_prompt_pressed(self, event: Prompt.Pressed) -> None:
        event.stop()
        listed = self.query_one(OptionList)
        if event.action in _MOVES:
            getattr(listed, f"action_{_MOVES[event.action]}")()
        elif event.action == "open":
            at = listed.highlighted
            self.dismiss(self._shown[at] if at is not None and at < len(self._shown) else None)
        elif event.action in ("leave", "abort"):
            self.dismiss(None)

    def _narrow(self, text: str) -> None:
        wanted = text.casefold().split()
        fitting = [entry for entry in self._entries if all(part in entry[0].casefold() for part in wanted)][:MOST]
        self._shown = [name for name, _ in fitting]
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options([Text(name).append(f"  {said}", style="dim") for name, said in fitting])
        if fitting:
            listed.highlighted = 0


class KeysDialog(ModalScreen[None]):
    """Every key and what it does; any key closes it."""

    def __init__(self, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._rows = rows

    def compose(self) -> ComposeResult:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(style="bold", no_wrap=self.app.size.width >= 60)
        for keys, sentence in self._rows:
            table.add_row(Text(keys), Text(sentence))
        with VerticalScroll(id="dialog"):
            yield Static(table)
            yield Static(Text("\nTo change them: vaultrag config edit, [tui.keys]", style="dim"))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        if event.key in ("up", "down", "pageup", "pagedown"):
            getattr(self.query_one(VerticalScroll), f"action_{_SCROLLS[event.key]}")()
        else:
            self.dismiss(None)

    def on_click(self) -> None:
        self.dismiss(None)


_SCROLLS = {"up": "scroll_up", "down": "scroll_down", "pageup": "page_up", "pagedown": "page_down"}
