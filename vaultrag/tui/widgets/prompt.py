"""The line that is typed in. Keys that mean something go to the screen; all others are text."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.message import Message
from textual.widgets import Input


class Prompt(Input):
    """One line of text that passes on the keys it is told to."""

    class Pressed(Message):
        """A key that stands for an action."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    class AnyKey(Message):
        """Any key at all, before it does what it does."""

    def __init__(self, keys: Mapping[str, str], value: str = "", placeholder: str = "", id: str | None = None) -> None:
        super().__init__(value, placeholder, select_on_focus=False, compact=True, id=id)
        self.cursor_blink = False  # a screen at rest is at rest
        self._keys = keys

    async def _on_key(self, event: events.Key) -> None:
        self.post_message(self.AnyKey())
        action = self._keys.get(event.key)
        editing = self._bindings.key_to_bindings.get(event.key, ())
        if action is None and not editing:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        if action is not None:
            self.post_message(self.Pressed(action))
            return
        # Textual lets such a key climb to the app first; what is typed meanwhile would overtake it.
        for binding in editing:
            await self.run_action(binding.action)
