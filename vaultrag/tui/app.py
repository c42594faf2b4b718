"""The search screen. It holds one ``View``, shows what differs when that changes, and asks the questions.

a key -> actions -> a new View -> what differs is drawn
                               -> a question over the link -> answers -> a new View
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.containers import Container, Horizontal
from textual.widgets import Static

from vaultrag.domain import Answer, DaemonStatus
from vaultrag.errors import DaemonError, VaultragError
from vaultrag.rpc.client import OnPartial
from vaultrag.tui import state
from vaultrag.tui.driver import driver_class
from vaultrag.tui.history import History
from vaultrag.tui.key_bindings import keymap, shown
from vaultrag.tui.launch_options import Errand, Outcome
from vaultrag.tui.preview_pane import Pane, PaneContent
from vaultrag.tui.session import MOST, Session, Source
from vaultrag.tui.state import LinkState, View
from vaultrag.tui.status_text import StatusLine, counted, emptiness, prompt_told, state_told
from vaultrag.tui.theme import CSS, THEMES, hints, state_line
from vaultrag.tui.widgets.hits import HitList
from vaultrag.tui.widgets.preview import Preview
from vaultrag.tui.widgets.prompt import Prompt

THROTTLE_S = 0.05
"""While one types fast, a question is asked at most so often; the last one always."""

FEWEST = 10
"""Hits that are asked for at least."""

PANE_S = 0.06
"""The preview follows the selection when it has rested so long."""

WIDE = 90
"""From so many columns on, the preview stands beside the list; below it in a narrower window of ``TALL`` lines."""

TALL = 20


class SearchApp(App[Outcome], inherit_bindings=False):
    """Search as you type."""

    TITLE = "vaultrag"
    ENABLE_COMMAND_PALETTE = False
    CSS = CSS

    def __init__(
        self,
        errand: Errand,
        actions: Mapping[str, Callable[[SearchApp], None]],
        *,
        source: Source | None = None,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Make the screen.

        Args:
            errand: The options that the screen was started with.
            actions: What each action of the settings does; see ``tui.actions``.
            source: Where answers come from; the daemon, if not given.
            now_ns: The clock, for the notes' age.

        Raises:
            ConfigError: The keys cannot be as the settings have them.
        """
        self.keys: Mapping[str, str] = keymap(errand.settings.keys)
        # Said at once: whether NO_COLOR makes greys or leaves the colours out is settled here.
        super().__init__(driver_class=driver_class(), ansi_color=errand.settings.theme == "terminal")
        self.theme = THEMES[errand.settings.theme]
        self.errand = errand
        self._actions_by_name = actions
        self.link: Source = source or Session(errand.places, vault=errand.vault, start=errand.start, here=errand.here)
        self.history = History(errand.places.history if errand.settings.history else None)
        self.view = View(mode=errand.mode)
        self.message = ""
        self.pane = Pane()
        self._now_ns = now_ns
        self._asked_at = 0.0
        self._pane_wanted: bool | None = None
        self._up = False
        self._lines: dict[str, Text] = {}
        self._held = ""

    # -- the screen ----------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Static("❯ ", id="sign")
            yield Prompt(self.keys, placeholder="search your notes", id="prompt")
            yield Static(id="mode")
        yield Static(id="state")
        with Container(id="body"):
            yield HitList(self._now_ns, id="hits")
            yield Preview(id="preview")
        yield Static(id="hints")

    def on_mount(self) -> None:
        self._up = True
        self.app_resume_signal.subscribe(self, lambda _: self.repaint())
        self.prompt.focus()
        self._draw()
        self.work("link", self.link.run, self._linked, self._fared)
        if self.errand.query:
            self.type(self.errand.query)

    @property
    def prompt(self) -> Prompt:
        return self.query_one("#prompt", Prompt)

    @property
    def hits(self) -> HitList:
        return self.query_one("#hits", HitList)

    @property
    def preview(self) -> Preview:
        return self.query_one("#preview", Preview)

    @property
    def pane_open(self) -> bool:
        """Return True while the preview is on the screen."""
        return self.screen_stack[0].has_class("-pane")

    def on_resize(self, event: events.Resize) -> None:
        self._arrange(event.size.width, event.size.height)

    def toggle_pane(self) -> None:
        """Show the preview, or hide it."""
        self._pane_wanted = not self.pane_open
        self._arrange(self.size.width, self.size.height)

    def open_pane(self) -> None:
        """Show the preview, if it is not shown."""
        if not self.pane_open:
            self.toggle_pane()

    def _arrange(self, width: int, height: int) -> None:
        wide = width >= WIDE
        roomy = self.errand.settings.preview and (wide or height >= TALL)
        screen = self.screen_stack[0]
        screen.set_class(not wide, "-stacked")
        screen.set_class(height < 10, "-short")
        screen.set_class(roomy if self._pane_wanted is None else self._pane_wanted, "-pane")
        self._draw()

    # -- what is known, and what is shown ------------------------------------------------------------------------

    def update(self, view: View) -> None:
        """Show another state."""
        if view is self.view:
            return
        asked = view.asked != self.view.asked
        self.view = view
        self._draw()
        if asked and view.waiting:
            self._ask()
        if self._held and not view.waiting:
            action, self._held = self._held, ""
            self._actions_by_name[action](self)

    def hold(self, action: str) -> None:
        """Act when the answer to what was typed is there, unless another key comes first."""
        self._held = action

    def say(self, message: str) -> None:
        """Tell something, until the next key."""
        self.message = message
        self._draw()

    def repaint(self) -> None:
        """Draw everything: something else has had the terminal."""
        self.refresh(layout=True)
        self.screen.refresh(repaint=True, layout=True)
        for widget in self.screen.walk_children():
            widget.refresh()

    def redraw(self) -> None:
        """Show the same again, where something beside the view has changed."""
        self._draw()

    def _draw(self) -> None:
        if not self._up:
            return
        base = self.screen_stack[0]
        if not base.query("#hits"):  # the screen is being taken down while an answer comes in
            return
        view = self.view
        told = StatusLine(self.message, "warn") if self.message else state_told(view)
        for name, text in (
            ("#mode", Text(f"{prompt_told(view):>16}")),
            ("#state", state_line(told, counted(view), self.size.width)),
            ("#hints", hints(self.errand, self.size.width)),
        ):
            # The same text is not drawn again, and another one in the same place moves nothing.
            if self._lines.get(name) != text:
                self._lines[name] = text
                base.query_one(name, Static).update(text, layout=False)
        mode_key = shown(self.errand.settings.keys, "mode")
        base.query_one("#hits", HitList).show(
            view.hits, view.selected, state.paths_of(view.marked), emptiness(view, mode_key)
        )
        if self.pane_open and self.pane.turn_to(view):
            self.work("pane", self._fill_pane)

    async def _fill_pane(self) -> None:
        await asyncio.sleep(PANE_S)
        try:
            content = await self.pane.fetch(self.view, self.link, self._now_ns())
        except VaultragError as error:
            content = PaneContent((Text(error.message, style="red"),))
            self.pane.forget()
        for screen in self.screen_stack[:1]:  # none while the app is leaving
            for preview in screen.query("#preview").results(Preview):  # none while the screen is taken down
                preview.show(content.head, content.draw)

    def work(self, group: str, job: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> None:
        """Do something beside the screen; the job of this group that still runs is given up.

        A job that is given up before its first step is never begun.
        """
        self.run_worker(partial(job, *args), group=group, exclusive=True)  # type: ignore[arg-type]

    # -- questions and answers -----------------------------------------------------------------------------------

    def _ask(self) -> None:
        self.link.want()
        self.work("ask", self._question, self.view.asked)

    async def _question(self, number: int) -> None:
        await asyncio.sleep(max(0.0, self._asked_at + THROTTLE_S - time.monotonic()))
        self._asked_at = time.monotonic()
        try:
            answer = await self._answer(self._limit, lambda early: self._early(number, early))
        except DaemonError:
            return  # it is asked again when the daemon is back
        except VaultragError as error:
            self.update(state.not_answered(self.view, number, error.message))
        else:
            self.update(state.answered(self.view, number, answer, full=True))

    def _early(self, number: int, answer: Answer) -> None:
        self.update(state.answered(self.view, number, answer, full=False))

    async def _answer(self, limit: int, on_partial: OnPartial | None) -> Answer:
        view = self.view
        if view.related_to:
            return await self.link.related(view.related_to)
        early = view.mode == "hybrid" and view.status is not None and view.status.embedder.state == "ready"
        return await self.link.search(view.query, view.mode, limit, on_partial if early else None)

    @property
    def _limit(self) -> int:
        """Return how many hits to ask for: what the list shows, and a little more. Every further hit costs time."""
        return max(FEWEST, min(self.hits.page + 2, MOST))

    def ask_for_more(self) -> None:
        """Fetch the rest of the list, if there is one, when the selection nears its end."""
        view = self.view
        if view.answer is not None and len(view.answer.hits) < min(view.answer.total, MOST) and not view.related_to:
            self.ask_again()

    def ask_again(self) -> None:
        """Ask once more what is shown, because the notes may have changed, or for more of it."""
        if not self.view.waiting and self.view.answer is not None:
            self.work("ask", self._again, self.view.asked)

    async def _again(self, number: int) -> None:
        try:
            answer = await self._answer(MOST, None)
        except VaultragError:
            return
        self.update(state.refreshed(self.view, number, answer))

    def _linked(self, link: LinkState) -> None:
        if link == self.view.link:
            return
        self.update(state.linked(self.view, link))
        if self.view.waiting and link.name == "ready":
            self._ask()
        elif self.view.waiting:
            self.link.want()

    def _fared(self, status: DaemonStatus, vault_id: str) -> None:
        before = self.view
        self.update(state.fared(before, status, vault_id))
        if not vault_id and len(status.vaults) > 1 and len(self.screen_stack) == 1:
            self._actions_by_name["vault"](self)
        elif self.view.waiting and vault_id and not before.vault_id:
            self._ask()
        elif state.outdated(before, self.view):
            self.ask_again()

    # -- what the person does ------------------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """Put a text into the prompt, as if it were typed."""
        self.prompt.value = text
        self.prompt.cursor_position = len(text)

    def select(self, index: int) -> None:
        """Select a hit."""
        self.update(state.selected(self.view, index))
        self.ask_for_more()

    def on_hit_list_scrolled(self) -> None:
        self.ask_for_more()

    def on_input_changed(self, event: Prompt.Changed) -> None:
        self.update(state.typed(self.view, event.value))

    def on_prompt_any_key(self) -> None:
        self._held = ""
        if self.message:
            self.say("")

    def on_prompt_pressed(self, event: Prompt.Pressed) -> None:
        self._actions_by_name[event.action](self)

    def on_hit_list_picked(self, event: HitList.Picked) -> None:
        self.select(event.index)
        if event.opened:
            self._actions_by_name["open"](self)
