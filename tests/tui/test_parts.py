"""The screen's parts that need no screen: keys, history, rows, pages, words about the state, links to Obsidian."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui.recording import load
from vaultrag.config import KeySettings
from vaultrag.domain import Answer, Evidence, Hit, NotePath, Reason, Span, State
from vaultrag.errors import ConfigError
from vaultrag.tui import state
from vaultrag.tui.history import KEPT, History
from vaultrag.tui.key_bindings import key_shown, keymap
from vaultrag.tui.markdown_view import page_of
from vaultrag.tui.obsidian import obsidian_url
from vaultrag.tui.rows import LINES, clipped, hit_rows, steady
from vaultrag.tui.state import LinkState, View
from vaultrag.tui.status_text import bar, counted, emptiness, state_told, widening

RECORDED = load()


# -- keys --------------------------------------------------------------------------------------------------------


def test_keys_are_written_as_people_write_them() -> None:
    """Order and case of modifiers do not matter, and they are shown as on a keyboard."""
    keys = keymap(replace(KeySettings(), mode=("SHIFT+Ctrl+m",)))
    assert keys["ctrl+shift+m"] == "mode"
    assert key_shown("ctrl+slash") == "Ctrl+/"


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"mode": ("ctrl+y",), "tags": ("ctrl+y",)}, "ctrl+y stands for mode and for tags"),
        ({"mode": ("x",)}, "needed for typing"),
        ({"mode": ("ctrl+nonsense",)}, "there is no key"),
        ({"leave": (), "abort": ()}, "no key to leave with"),
    ],
)
def test_keys_that_cannot_be_are_told(keys: dict[str, tuple[str, ...]], why: str) -> None:
    """A key that does two things, is typed with, or does not exist is named."""
    with pytest.raises(ConfigError, match=r"tui\.keys") as raised:
        keymap(replace(KeySettings(), **keys))
    assert why in raised.value.message


# -- history -----------------------------------------------------------------------------------------------------


def test_history_is_bounded_and_private(tmp_path: Path) -> None:
    """The newest queries are kept, each once, in a file that others cannot read; a broken file is no trouble."""
    file = tmp_path / "deep" / "history"
    history = History(file)
    for number in range(KEPT + 20):
        history.add(f"query {number}")
    history.add("query 30")
    history.add("   ")
    lines = file.read_text().splitlines()
    assert (len(lines), lines[-1]) == (KEPT, "query 30")
    assert lines.count("query 30") == 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_bytes(b"\xff\xfe broken\nfine\n")
    assert History(file).queries[-1] == "fine"
    blocked = tmp_path / "file"
    blocked.write_text("")
    History(blocked / "history").add("x")  # no folder can be made there


def test_two_screens_share_a_history(tmp_path: Path) -> None:
    """What another screen has added meanwhile is not lost."""
    first, second = History(tmp_path / "h"), History(tmp_path / "h")
    first.add("one")
    second.add("two")
    first.add("three")
    assert History(tmp_path / "h").queries == ("one", "two", "three")


def test_one_walks_back_to_what_was_typed() -> None:
    """Going back and forth ends at what stood in the prompt before."""
    history = History(None)
    history.add("one")
    history.add("two")
    assert history.later("typing") == "typing"
    assert [history.earlier("typing"), history.earlier("two"), history.earlier("one")] == ["two", "one", "one"]
    assert [history.later("one"), history.later("two")] == ["two", "typing"]


# -- rows --------------------------------------------------------------------------------------------------------

ODD = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("水ポ🍅👩‍🌾⚠️\u200d\u202eע\x1b\t\n")), max_size=80)


@given(title=ODD, path=ODD, preview=ODD, tag=ODD, width=st.integers(12, 120), selected=st.booleans())
@example("x", "y" * 200, "", "", 20, True)
def test_no_row_is_wider_than_the_screen(
    title: str, path: str, preview: str, tag: str, width: int, selected: bool
) -> None:
    """Whatever a note is called and holds, its rows fit, and nothing in them steers the terminal."""
    hit = Hit(
        NotePath(path), title, 0.5, 1, 2, preview, (Span(0, min(3, len(preview))),), "", (tag,), 1,
        evidence=(Evidence("words", 1, 1.0, 1.0, 1.0), Evidence("passages", 1, 1.0, 1.0, 1.0)),
    )  # fmt: skip
    rows = hit_rows(hit, width, now_ns=10**18, selected=selected, marked=True)
    assert len(rows) == LINES
    for row in rows:
        assert row.cell_len <= width
        assert not any(ord(char) < 32 or char in "\u202e\u200d\ufe0f" for char in row.plain)


@given(text=ODD, start=st.integers(0, 80), size=st.integers(0, 10))
def test_spans_stay_on_their_text(text: str, start: int, size: int) -> None:
    """Where signs of disputed width are left out, what matched is still what is marked."""
    start = min(start, len(text))
    end = min(start + size, len(text))
    shown, (span,) = steady(text, [Span(start, end)])
    assert shown[span.start : span.end] == steady(text[start:end])[0]


@given(text=ODD, width=st.integers(0, 40), front=st.booleans())
def test_clipping_keeps_an_end(text: str, width: int, front: bool) -> None:
    """Clipped text fits, and says that something is missing."""
    text = steady(text.replace("\n", " ").replace("\t", " ").replace("\x1b", ""))[0]
    short = clipped(text, width, front=front)
    assert cell_len(short) <= max(width, 0)
    assert short == text or "…" in short or width == 0


# -- the page ----------------------------------------------------------------------------------------------------

NOTE = """---
tags: [a]
---
# Title

First paragraph.

- one
- two **bold**
- three

```python
code = "[[not a link]]"
```

| a | b |
|---|---|
| 1 | 水 |

Last [[link]] here.
"""


@pytest.mark.parametrize(
    ("lines", "text"), [((8, 8), "one"), ((10, 10), "three"), ((20, 20), "Last [[link]] here."), ((6, 6), "First")]
)
def test_the_passage_is_known_in_the_drawn_page(lines: tuple[int, int], text: str) -> None:
    """The lines of the note that were found are the lines that are marked, and what matched is highlighted."""
    page = page_of(NOTE, 1, lines, [text], 40)
    first, behind = page.passage
    assert any(text in line.plain for line in page.lines[first:behind])
    assert behind - first == 1
    assert any("underline" in str(span.style) for line in page.lines[first:behind] for span in line.spans)


def test_a_piece_of_a_note_is_drawn_with_its_own_numbers() -> None:
    """Lines from the middle of a note are known by their numbers in it."""
    page = page_of("para\n\n- item\n", 101, (103, 103), [], 40)
    assert "item" in page.lines[page.passage[0]].plain


@given(st.text(max_size=300), st.integers(1, 30), st.integers(0, 40), st.integers(10, 80))
def test_any_text_is_drawn(text: str, first: int, passage: int, width: int) -> None:
    """No text makes the preview fail, and the passage lies in the page."""
    page = page_of(text, first, (passage, passage), ["x"], width)
    assert 0 <= page.passage[0] <= page.passage[1] <= len(page.lines)


# -- what is told ------------------------------------------------------------------------------------------------


def at(**vault: object) -> View:
    """A view whose vault fares so."""
    status = RECORDED.status
    known = replace(status.vaults[0], **vault)  # type: ignore[arg-type]
    return View(link=LinkState("ready"), status=replace(status, vaults=(known,)), vault_id=known.id)


def test_every_state_is_told() -> None:
    """Starting, indexing, embedding, away, words only, gone, stopped, failed: each is said in words."""
    reading = state_told(at(state="indexing", notes=30, to_read=70))
    assert (reading.text, reading.share) == ("reading notes 30 of 100", 0.3)
    embedding = state_told(at(state="embedding", notes=100, embedded=25, pending=75, eta_s=90.0))
    assert (embedding.text, embedding.share) == ("words can be searched; embedding 25 of 100", 0.25)
    assert embedding.left == "about 2 min left"
    assert "looking for notes" in state_told(at(state="starting")).text
    assert state_told(at(state="away", why="the folder is gone", hint="mount it")).text == (
        "away: the folder is gone (try: mount it)"
    )
    view = at()
    assert view.status is not None
    down = replace(view.status.embedder, state="down", why="Ollama does not answer", hint="ollama serve")
    told = state_told(replace(view, status=replace(view.status, embedder=down)))
    assert told.text == "words only: Ollama does not answer (try: ollama serve)"
    assert state_told(view).text == "sample-vault · 117 notes"
    for link, text in (
        (LinkState("starting"), "starting the daemon"),
        (LinkState("gone", "it crashed"), "trying again"),
        (LinkState("stopped"), "it starts again when you search"),
        (LinkState("failed", "no room", "df"), "no room (try: df)"),
    ):
        assert text in state_told(state.linked(view, link)).text
    assert "vaultrag up" in state_told(replace(view, vault_id="", status=replace(view.status, vaults=()))).text


def test_counts_are_told() -> None:
    """How many there are, of how many, and how many are marked."""
    view = state.typed(at(), "x")
    found = len(RECORDED.answer.hits)
    view = state.answered(view, view.asked, replace(RECORDED.answer, total=27), full=True)
    assert counted(view) == f"{found} of 27 found"
    assert counted(state.mark_switched(view)) == f"1 marked · {found} of 27 found"
    assert counted(View()) == ""


def test_nothing_is_said_before_it_is_known() -> None:
    """While the meaning is still being asked, an empty first part is not called an empty answer."""
    view = state.typed(at(), "x")
    view = state.answered(view, view.asked, Answer("x", State.PARTIAL), full=False)
    assert emptiness(view, "Ctrl+S") == []
    view = state.answered(view, view.asked, Answer("x", State.FULL), full=True)
    assert emptiness(view, "Ctrl+S")[0] == "Nothing found for x"


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (Answer("x y", State.FULL), "with fewer or other words"),
        (Answer("x -y", State.FULL), "without leaving words out"),
        (Answer("x", State.FULL, mode="words"), "by words and meaning (Ctrl+S)"),
        (Answer("x [status:open]", State.FULL), "without the filters"),
        (Answer("x", State.INDEXING, reasons=(Reason(State.INDEXING, ""),)), "again when every note has been indexed"),
    ],
)
def test_what_would_widen_is_told(answer: Answer, advice: str) -> None:
    """The advice fits what narrowed the search."""
    assert widening(answer, "Ctrl+S") == advice


@given(st.floats(-1, 2))
def test_a_bar_is_as_long_as_it_is(share: float) -> None:
    """Whatever the share, the bar has its length."""
    assert len(bar(share, 20)) == 20


# -- Obsidian ----------------------------------------------------------------------------------------------------


def test_obsidian_knows_a_vault_by_its_id(tmp_path: Path) -> None:
    """Where Obsidian's own list has the vault, also through a link, its id is used; else the note's file."""
    root = tmp_path / "real notes"
    root.mkdir()
    (tmp_path / "linked").symlink_to(root)
    place = tmp_path / "home" / ".config" / "obsidian"
    place.mkdir(parents=True)
    listed = place / "obsidian.json"
    listed.write_text(json.dumps({"vaults": {"1f2e": {"path": str(tmp_path / "linked")}, "dead": {"path": "/gone"}}}))
    url = obsidian_url(root, "A & B/ä#1.md", tmp_path / "home", {})
    assert url == "obsidian://open?vault=1f2e&file=A%20%26%20B%2F%C3%A4%231.md"
    for broken in ("", "[]", '{"vaults": 3}', '{"vaults": {"x": 1}}'):
        listed.write_text(broken)
        assert obsidian_url(root, "x.md", tmp_path / "home", {}).startswith("obsidian://open?path=%2F")
