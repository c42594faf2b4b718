"""The list of hits: the weak ones stand under a line that says so, and every hit is reached where it stands."""

from __future__ import annotations

import asyncio

import pytest
from textual.app import App, ComposeResult

from vaultrag.domain import Hit, NotePath, Tier
from vaultrag.tui.rows import LINES
from vaultrag.tui.widgets.hits import HitList
from vaultrag.wording import NOTHING_CLOSE, NOTHING_ELSE


class Shown(App[None]):
    """A screen with nothing but the list."""

    def __init__(self) -> None:
        super().__init__()
        self.picked: list[int] = []

    def compose(self) -> ComposeResult:
        yield HitList(lambda: 0)

    def on_hit_list_picked(self, event: HitList.Picked) -> None:
        self.picked.append(event.index)


def hits(*tiers: Tier) -> tuple[Hit, ...]:
    return tuple(Hit(NotePath(f"{number}.md"), f"Note {number}", 0.5, tier=tier) for number, tier in enumerate(tiers))


def drawn(shown: tuple[Hit, ...], *, click: int) -> tuple[list[str], list[int]]:
    """The lines of the list, and which hits a click on one of them picks."""

    async def screen() -> tuple[list[str], list[int]]:
        app = Shown()
        async with app.run_test(size=(60, 20)) as pilot:
            listed = app.query_one(HitList)
            listed.show(shown, 0, frozenset(), ())
            await pilot.pause()
            await pilot.click(HitList, offset=(5, click))
            await pilot.pause()
            return [listed.render_line(line).text.strip() for line in range(20)], app.picked

    return asyncio.run(screen())


@pytest.mark.parametrize(
    ("tiers", "line", "text"),
    [
        (("strong", "weak", "weak"), LINES, NOTHING_ELSE),
        (("weak",), 0, NOTHING_CLOSE),
    ],
)
def test_a_line_stands_above_the_weak_hits(tiers: tuple[Tier, ...], line: int, text: str) -> None:
    """It belongs to no hit: a click on it picks none."""
    lines, picked = drawn(hits(*tiers), click=line)
    assert lines[line] == text
    assert lines.count(text) == 1
    assert "Note" in lines[line + 1]
    assert picked == []


def test_a_weak_hit_is_picked_where_it_stands() -> None:
    """The line moves the hits below it by one."""
    lines, picked = drawn(hits("partial", "weak", "weak"), click=2 * LINES + 1)
    assert "Note 2" in lines[2 * LINES + 1]
    assert picked == [2]


def test_without_weak_hits_there_is_no_line() -> None:
    """A list of found notes is as it was."""
    lines, picked = drawn(hits("strong", "partial"), click=LINES)
    assert "Note 1" in lines[LINES]
    assert NOTHING_ELSE not in lines
    assert picked == [1]
