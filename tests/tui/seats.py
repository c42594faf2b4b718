"""A person before the search screen: types, presses keys, looks at what is there, waits until it is."""

from __future__ import annotations

import asyncio
import contextlib
import io
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from textual import events
from textual.pilot import Pilot

from vaultrag.config import Places, TuiSettings
from vaultrag.tui.actions import ACTIONS
from vaultrag.tui.app import SearchApp
from vaultrag.tui.launch_options import Errand, Outcome
from vaultrag.tui.session import Source
from vaultrag.tui.state import View

T = TypeVar("T")
PATIENCE_S = 40.0


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 100))


class Seat:
    """Before one screen."""

    def __init__(self, app: SearchApp, pilot: Pilot[Outcome]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def view(self) -> View:
        return self.app.view

    @property
    def titles(self) -> list[str]:
        return [hit.title for hit in self.view.hits]

    @property
    def text(self) -> str:
        """What is on the screen, without styles."""
        return screen_text(self.app)

    async def type(self, text: str) -> None:
        """Type as fast as a terminal passes it on."""
        for char in text:
            await self.key(char)
        await self.until(lambda: self.app.screen.focused.value.endswith(text), f"{text!r} is typed")  # type: ignore[union-attr]

    async def key(self, char: str) -> None:
        """One key, without waiting for what it does."""
        self.app.post_message(events.Key("space" if char == " " else char, char))
        await asyncio.sleep(0.005)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def search(self, text: str) -> None:
        """Type, and wait for the whole answer."""
        await self.type(text)
        await self.until(lambda: self.view.full and not self.view.waiting and self.view.answer is not None, text)

    async def until(self, look: Callable[[], object], what: str) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + PATIENCE_S
        while not look():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {PATIENCE_S:g} s: {what}\n{self.view.link}\n{self.text}")
            await asyncio.sleep(0.02)
        await self.pilot.pause()

    async def shows(self, text: str) -> None:
        """Wait until a text is on the screen."""
        await self.until(lambda: text in self.text, f"{text!r} is on the screen")


@contextlib.asynccontextmanager
async def seat(
    places: Places,
    *,
    size: tuple[int, int] = (110, 30),
    source: Source | None = None,
    now_ns: Callable[[], int] = time.time_ns,
    ready: bool = True,
    settings: TuiSettings | None = None,
    **errand: Any,
) -> AsyncIterator[Seat]:
    """A screen that is open, and has its daemon."""
    wanted = Errand(places, settings or TuiSettings(), errand.pop("here", Path("/")), **errand)
    app = SearchApp(wanted, ACTIONS, source=source, now_ns=now_ns)
    async with app.run_test(size=size) as pilot:
        person = Seat(app, pilot)
        if ready:
            await person.until(lambda: app.view.vault is not None, "the daemon is there")
        yield person


def screen_text(app: SearchApp) -> str:
    """The screen's characters, a line for each of its lines."""
    width, height = app.size
    console = Console(
        file=io.StringIO(), width=width, height=height, record=True, color_system=None, legacy_windows=False
    )
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    console.print(update)
    return console.export_text()


def without_keys(settings: TuiSettings, **keys: tuple[str, ...]) -> TuiSettings:
    """The settings with other keys."""
    return replace(settings, keys=replace(settings.keys, **keys))
