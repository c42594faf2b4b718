"""Pictures of the search screen as SVG: `python -m tests.tui.pictures` draws them anew. The README shows two of them.

The screen is the real one; what stands behind it is a recording of the real daemon's answers (see ``recording``), so
that a picture changes only when the screen does.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from tests.tui.recording import NOW_NS, QUERY, Recording, load
from tests.tui.seats import Seat, run, seat
from vaultrag.config import Places, TuiSettings
from vaultrag.domain import Answer, DaemonStatus, Explanation, Mode, NoteView, State, TagCount
from vaultrag.errors import NoteNotFound
from vaultrag.rpc.client import OnPartial
from vaultrag.tui.session import OnLink, OnStatus
from vaultrag.tui.state import LinkState

FOLDER = Path(__file__).parent / "snapshots"

NOWHERE = Places(Path("/nowhere/config.toml"), Path("/nowhere/data"), Path("/nowhere/run"))


class Recorded:
    """A ``Source`` that plays a recording."""

    def __init__(self, recording: Recording, link: LinkState | None = None) -> None:
        self.recording = recording
        self.link = link or LinkState("ready")
        self.status = recording.status
        self.empty = False

    async def run(self, on_link: OnLink, on_status: OnStatus) -> None:
        on_status(self.status, self.status.vaults[0].id)
        on_link(self.link)
        await asyncio.Event().wait()

    def want(self) -> None:
        pass

    def pick(self, vault_id: str) -> None:
        pass

    async def search(self, query: str, mode: Mode, limit: int, on_partial: OnPartial | None) -> Answer:
        answer = replace(self.recording.answer, query=query, mode=mode)
        return replace(answer, hits=(), reasons=(), state=State.FULL, total=0) if self.empty else answer

    async def related(self, path: str) -> Answer:
        return replace(self.recording.answer, hits=self.recording.answer.hits[1:6], total=5, reasons=())

    async def explain(self, query: str, path: str, mode: Mode) -> Explanation:
        return self.recording.explanation

    async def note(self, path: str, first_line: int, last_line: int) -> NoteView:
        for known, note in self.recording.notes.items():
            if known == path:
                return note
        raise NoteNotFound(f"there is no note {path} in the recording")

    async def tags(self) -> tuple[TagCount, ...]:
        return self.recording.tags


Story = Callable[[Seat], Awaitable[None]]


async def _found(person: Seat) -> None:
    await person.search(QUERY)
    await person.shows("▎")


async def _marked(person: Seat) -> None:
    await _found(person)
    await person.press("tab", "down")
    await person.until(lambda: person.view.selected == 2, "the third hit")
    await asyncio.sleep(0)


async def _why(person: Seat) -> None:
    await _found(person)
    await person.press("ctrl+x")
    await person.shows("why ")


async def _tags(person: Seat) -> None:
    await person.press("ctrl+t")
    await person.shows("Search in a tag")


async def _keys(person: Seat) -> None:
    await person.press("f1")
    await person.shows("Open the note in Obsidian.")


async def _nothing(person: Seat) -> None:
    await person.search("zyzzyva")


async def _still(person: Seat) -> None:
    await person.shows("search your notes")


def _embedding(status: DaemonStatus) -> DaemonStatus:
    vault = replace(status.vaults[0], state="embedding", notes=2_584, embedded=812, pending=1_772, eta_s=177.0)
    return replace(status, state="embedding", vaults=(vault,))


def _down(status: DaemonStatus) -> DaemonStatus:
    embedder = replace(
        status.embedder,
        provider="ollama",
        model="nomic-embed-text",
        state="down",
        why="Ollama does not answer at http://127.0.0.1:11434",
        hint="ollama serve",
    )
    return replace(status, embedder=embedder)


def _plain(status: DaemonStatus) -> DaemonStatus:
    return status


PICTURES: dict[str, tuple[tuple[int, int], Callable[[DaemonStatus], DaemonStatus], LinkState, Story]] = {
    "search": ((112, 30), _plain, LinkState("ready"), _found),
    "progress": ((112, 30), _embedding, LinkState("ready"), _found),
    "marked": ((112, 24), _plain, LinkState("ready"), _marked),
    "why": ((112, 30), _plain, LinkState("ready"), _why),
    "narrow": ((40, 24), _plain, LinkState("ready"), _found),
    "tags": ((80, 24), _plain, LinkState("ready"), _tags),
    "keys": ((100, 36), _plain, LinkState("ready"), _keys),
    "nothing": ((80, 16), _plain, LinkState("ready"), _nothing),
    "ollama-down": ((100, 10), _down, LinkState("ready"), _still),
    "daemon-gone": ((80, 10), _plain, LinkState("gone", "it closed the connection"), _still),
}


def picture(name: str) -> str:
    """One picture, as SVG without what differs from run to run."""
    size, fares, link, story = PICTURES[name]

    async def drawn() -> str:
        source = Recorded(load(), link)
        source.status = fares(source.status)
        source.empty = name == "nothing"
        settings = TuiSettings(history=False)
        async with seat(NOWHERE, source=source, size=size, settings=settings, now_ns=lambda: NOW_NS) as person:
            await story(person)
            await person.until(
                lambda: all(worker.is_finished for worker in person.app.workers if worker.group in ("ask", "pane")),
                "everything is drawn",
            )
            return normal(person.app.export_screenshot(title="vaultrag"))

    return run(drawn())


def normal(svg: str) -> str:
    """The same picture whatever its number, and without fonts from elsewhere."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in PICTURES:
        (FOLDER / f"{name}.svg").write_text(picture(name), "utf-8")
        print(name)
