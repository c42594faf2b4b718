"""Each key of the search screen, pressed on the real screen with the real daemon behind it."""

from __future__ import annotations

import os
import stat
from dataclasses import fields
from pathlib import Path

import pytest
from textual import events

from tests.support.daemons import Home
from tests.tui.seats import Seat, run, seat, without_keys
from vaultrag.config import KeySettings, TuiSettings
from vaultrag.errors import ConfigError
from vaultrag.tui.actions import ACTIONS
from vaultrag.tui.app import SearchApp
from vaultrag.tui.launch_options import Errand, Outcome

pytestmark = pytest.mark.timeout(120)


def test_every_key_stands_for_something() -> None:
    """Each action of the settings exists, and none exists without a setting."""
    assert set(ACTIONS) == {field.name for field in fields(KeySettings)}


def test_typing_finds_and_previews(served: Home) -> None:
    """What is typed is searched for; title, place, age, tags, the passage and the preview are there."""

    async def story() -> None:
        async with seat(served.places) as person:
            assert "Type to search." in person.text
            await person.search("mechanical seal")
            assert person.titles[0] == "Seal replacement"
            line = next(line for line in person.text.splitlines() if "Pumps/Seal replacement.md:" in line)
            assert "#pump #howto" in line
            assert " s · " in line or " min · " in line
            await person.shows("▎ The mechanical seal comes off")  # scrolled to it: it is 80 lines down

    run(story())


def test_the_list_is_walked(served: Home) -> None:
    """Up, Down and their other keys select; ends are ends; the preview follows."""

    async def story() -> None:
        async with seat(served.places) as person:
            await person.search("pump")
            assert len(person.titles) >= 3
            for key, index in (
                ("down", 1),
                ("ctrl+n", 2),
                ("ctrl+p", 1),
                ("ctrl+j", 2),
                ("ctrl+k", 1),
                ("up", 0),
                ("up", 0),
            ):
                await person.press(key)
                assert person.view.selected == index, key
            await person.press("down")
            await person.shows(f"│{person.view.hits[1].path} ·")
            assert person.app.prompt.value == "pump"

    run(story())


def test_a_long_list_is_paged_and_filled(served: Home) -> None:
    """PageDown goes on by a page; only then is the whole list, at most fifty, asked for."""

    async def story() -> None:
        async with seat(served.places) as person:
            await person.search("turbine")
            assert len(person.view.hits) < person.view.answer.total == 40  # type: ignore[union-attr]
            await person.press("pagedown")
            assert person.view.selected == person.app.hits.page
            await person.until(lambda: len(person.view.hits) == 40, "the rest of the list")
            assert person.view.selected == person.app.hits.page
            await person.press("pagedown", "pagedown", "pagedown", "pagedown", "pagedown", "pagedown")
            assert person.view.selected == 39
            assert person.titles[39] in person.text
            await person.press("pageup")
            assert person.view.selected == 39 - person.app.hits.page

    run(story())


def test_the_mode_changes(served: Home) -> None:
    """Ctrl+S goes from both ways of finding to words to meaning and back, and asks again."""

    async def story() -> None:
        async with seat(served.places) as person:
            await person.search("seal")
            for mode, shown in (("words", "  words"), ("meaning", "  meaning"), ("hybrid", "words+meaning")):
                before = person.view.asked
                await person.press("ctrl+s")
                assert (person.view.mode, person.view.asked) == (mode, before + 1)
                await person.until(lambda: person.view.full and not person.view.waiting, "the answer in this mode")
                assert shown in person.text.splitlines()[0]

    run(story())


def test_related_notes_and_back(served: Home) -> None:
    """Ctrl+R shows what is linked with the note, Esc goes back to the search, and the next Esc leaves."""

    async def story() -> None:
        async with seat(served.places) as person:
            await person.search("mechanical seal")
            await person.press("ctrl+r")
            await person.until(lambda: person.titles == ["Bearings"], "the linked note")
            assert "related to Pumps/Seal replacement.md" in person.text
            await person.press("escape")
            await person.until(lambda: person.titles[:1] == ["Seal replacement"], "the search again")
            assert person.app.prompt.value == "mechanical seal"
            await person.press("escape")
        assert person.app.return_value == Outcome(0)

    run(story())


def test_why_a_note_stands_there(served: Home) -> None:
    """Ctrl+X shows the explanation in the preview's place, and the note again."""

    async def story() -> None:
        async with seat(served.places) as person:
            await person.search("mechanical seal")
            await person.press("ctrl+x")
            await person.shows("why Pumps/Seal replacement.md")
            assert "rank 1" in person.text
            await person.press("ctrl+x")
            await person.shows("▎ The mechanical seal comes off")

    run(story())


@pytest.mark.parametrize("key", ["f2", "ctrl+slash", "ctrl+underscore"])
def test_the_preview_comes_and_goes(served: Home, key: str) -> None:
    """F2 and Ctrl+/ (which terminals send in two ways) hide the preview and show it."""

    async def story() -> None:
        async with seat(served.places) as person:
            await person.search("mechanical seal")
            await person.shows("▎ ")
            await person.press(key)
            await person.until(lambda: "▎" not in person.text, "the preview is hidden")
            await person.press(key)
            await person.shows("▎ ")

    run(story())


def test_the_preview_is_scrolled(served: Home) -> None:
    """Shift+Up and Shift+Down move the preview, not the selection."""

    async def story() -> None:
        async with seat(served.places) as person:
            await person.search("mechanical seal")
            await person.shows("▎ The mechanical seal")
            begun = person.app.preview.scroll_offset.y
            await person.press("shift+up")
            assert person.app.preview.scroll_offset.y == begun - 3
            await person.press("shift+down")
            assert person.app.preview.scroll_offset.y == begun
            assert person.view.selected == 0

    run(story())


def test_a_tag_is_picked(served: Home) -> None:
    """Ctrl+T lists the tags, typing narrows them down, Enter searches in the tag."""

    async def story() -> None:
        async with seat(served.places) as person:
            await person.press("ctrl+t")
            await person.shows("Search in a tag")
            assert "#pump  2 notes" in person.text
            await person.type("gard")
            await person.until(lambda: "#pump" not in person.text, "the list is narrowed down")
            await person.press("enter")
            await person.until(lambda: person.titles == ["Tomatoes"], "notes with the tag")
            assert person.app.prompt.value == "tag:#garden "
            await person.press("ctrl+t")
            await person.shows("Search in a tag")
            await person.press("escape")
            await person.until(lambda: "Search in a tag" not in person.text, "the list is gone")
            assert person.app.prompt.value == "tag:#garden "

    run(story())


def test_several_are_marked_and_printed(served: Home) -> None:
    """Tab marks and goes on; Enter prints the marked notes, in the order of marking, as files that exist."""

    async def story() -> None:
        async with seat(served.places, printing=True) as person:
            await person.search("pump")
            await person.press("tab", "tab", "tab")
            assert "* " in person.text
            await person.press("up", "up", "tab")  # the second is marked no more
            marked = [hit.path for hit in person.view.marked]
            assert len(marked) == 2
            assert "2 marked · 4 found" in person.text
            await person.press("enter")
            await person.until(lambda: person.app.return_value is not None, "the screen is left")
        left = person.app.return_value
        assert left is not None
        assert left.code == 0
        assert list(left.lines) == [str(served.vault / path) for path in marked]
        assert all(Path(line).is_file() for line in left.lines)

    run(story())


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("paths", "{vault}/Pumps/Seal replacement.md"),
        ("links", "[[Pumps/Seal replacement|Seal replacement]]"),
        (
            "vimgrep",
            "{vault}/Pumps/Seal replacement.md:91:5:The mechanical seal comes off before the impeller. See Bearings.",
        ),
    ],
)  # fmt: skip
def test_a_choice_is_printed_in_its_form(served: Home, form: str, line: str) -> None:
    """--format says what a choice looks like; the place is exact, also where the passage began elsewhere."""

    async def story() -> None:
        async with seat(served.places, printing=True, form=form) as person:
            await person.search("mechanical seal")
            await person.press("enter")
            await person.until(lambda: person.app.return_value is not None, "the screen is left")
        assert person.app.return_value == Outcome(0, (line.format(vault=served.vault),))

    run(story())


def test_a_row_shows_the_sentence_that_matched_and_the_name(served: Home) -> None:
    """A row shows the sentence around the words as a reader sees it, and which alias matches."""
    long = "Nothing to see in this sentence, so it goes on. " * 30
    served.write("Ships.md", f"---\naliases: [Galleys]\n---\n{long}The **quinquereme** [rows](http://x.y/z). {long}\n")

    async def story() -> None:
        async with seat(served.places) as person:
            await person.search("quinquereme rows")
            await person.until(lambda: "The quinquereme rows. Nothing" in person.text, "the sentence is there")
            await person.until(lambda: person.text.count("quinquereme") == 3, "the preview shows the match, too")
        async with seat(served.places) as person:
            await person.search("galleys")
            await person.until(lambda: "alias: Galleys" in person.text, "the alias is there")
        (served.vault / "Ships.md").unlink()

    run(story())


def test_a_link_is_copied_or_printed(served: Home) -> None:
    """Alt+Enter and Ctrl+L copy a link and stay; where a choice is printed they print it and leave."""

    async def story() -> None:
        async with seat(served.places) as person:
            await person.search("mechanical seal")
            for key in ("alt+enter", "ctrl+l"):
                await person.press(key)
                assert person.app.clipboard == "[[Pumps/Seal replacement|Seal replacement]]"
                assert "copied [[Pumps/Seal replacement|Seal replacement]]" in person.text
                await person.press("shift+down")
                await person.until(lambda: "copied" not in person.text, "the message has gone")
        async with seat(served.places, printing=True) as person:
            await person.search("mechanical seal")
            await person.press("alt+enter")
            await person.until(lambda: person.app.return_value is not None, "the screen is left")
        assert person.app.return_value == Outcome(0, ("[[Pumps/Seal replacement|Seal replacement]]",))

    run(story())


def test_obsidian_is_asked_to_open(served: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl+O hands a link to the system's opener; where nothing takes such links, the note's path is shown."""
    tools = tmp_path / "bin"
    tools.mkdir()
    told = tmp_path / "told"
    _script(tools / "xdg-open", f'printf %s "$1" > "{told}.new" && mv "{told}.new" "{told}"')
    _script(tools / "xdg-mime", f'test -e "{tmp_path}/handler" && echo obsidian.desktop')
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)

    async def story() -> None:
        async with seat(served.places, size=(160, 30)) as person:
            await person.search("mechanical seal")
            await person.press("ctrl+o")
            await person.shows(
                f"no program opens obsidian:// here; the note is {served.vault}/Pumps/Seal replacement.md"
            )
            assert not told.exists()
            (tmp_path / "handler").touch()
            await person.press("ctrl+o")
            await person.until(told.exists, "the opener was called")
            assert told.read_text().startswith("obsidian://open?path=%2F")
            assert told.read_text().endswith("Pumps%2FSeal%20replacement.md")

    run(story())


def test_history_is_kept_and_walked(served: Home) -> None:
    """Queries that led somewhere come back with Alt+Up, in the next screen too; the file is the owner's alone."""
    places = served.places
    places.history.unlink(missing_ok=True)

    async def story() -> None:
        async with seat(places, printing=True) as person:
            await person.search("impeller")
            await person.press("enter")
            await person.until(lambda: person.app.return_value is not None, "the screen is left")
        async with seat(places) as person:
            await person.search("mechanical seal")
            await person.press("ctrl+l")
            await person.press("alt+up")
            assert person.app.prompt.value == "impeller"
            await person.until(lambda: person.titles[:1] == ["Impeller"], "it is searched for")
            await person.press("alt+up")
            assert person.app.prompt.value == "impeller"
            await person.press("alt+down")
            assert person.app.prompt.value == "mechanical seal"
        assert places.history.read_text() == "impeller\nmechanical seal\n"
        assert stat.S_IMODE(places.history.stat().st_mode) == 0o600

    run(story())


def test_history_can_be_switched_off(served: Home) -> None:
    """Without history nothing is written."""
    served.places.history.unlink(missing_ok=True)

    async def story() -> None:
        async with seat(served.places, settings=TuiSettings(history=False)) as person:
            await person.search("impeller")
            await person.press("ctrl+l")
            await person.press("alt+up")
            assert person.app.prompt.value == "impeller"
        assert not served.places.history.exists()

    run(story())


def test_the_keys_are_shown(served: Home) -> None:
    """F1 lists every key with a sentence; any key closes the list."""

    async def story() -> None:
        async with seat(served.places, size=(110, 40)) as person:
            await person.press("f1")
            await person.shows("Alt+Enter, Ctrl+L")
            assert "Open the note in Obsidian." in person.text
            await person.press("x")
            await person.until(lambda: "Alt+Enter, Ctrl+L" not in person.text, "the list is gone")
            assert person.app.prompt.value == ""

    run(story())


@pytest.mark.parametrize(
    ("printing", "key", "code"), [(False, "escape", 0), (True, "escape", 1), (True, "ctrl+c", 130)]
)
def test_leaving_has_a_code(served: Home, printing: bool, key: str, code: int) -> None:
    """Esc is 0, or 1 where a choice was to be printed; Ctrl+C is 130; nothing is printed."""

    async def story() -> None:
        async with seat(served.places, printing=printing) as person:
            await person.search("pump")
            await person.press(key)
        assert person.app.return_value == Outcome(code)

    run(story())


def test_enter_means_what_was_typed(served: Home) -> None:
    """Enter right after the last letter waits for its answer: the note of a list that is outdated is never opened."""

    async def story() -> None:
        async with seat(served.places, printing=True) as person:
            await person.search("tomatoes")
            for char in " -water impeller":
                person.app.post_message(events.Key("space" if char == " " else char, char))
            for _ in range(len("tomatoes -water impeller")):
                person.app.post_message(events.Key("backspace", None))
            for char in "bronze":
                person.app.post_message(events.Key(char, char))
            person.app.post_message(events.Key("enter", None))
            await person.until(lambda: person.app.return_value is not None, "the screen is left")
        assert person.app.return_value == Outcome(0, (str(served.vault / "Pumps/Impeller.md"),))

    run(story())


def test_enter_on_nothing_makes_nothing(served: Home) -> None:
    """Enter where nothing was found leaves the vault as it is, and says so."""
    before = sorted(served.vault.rglob("*"))

    async def story() -> None:
        async with seat(served.places, printing=True) as person:
            await person.search("zyzzyva")
            await person.press("enter")
            assert "there is no note to open" in person.text
            assert person.app.return_value is None

    run(story())
    assert sorted(served.vault.rglob("*")) == before


def test_keys_are_the_settings_own(served: Home) -> None:
    """A key that is set does what the old one did, and the hints name it."""
    settings = without_keys(TuiSettings(), mode=("f5",), explain=())

    async def story() -> None:
        async with seat(served.places, settings=settings) as person:
            await person.search("seal")
            await person.press("ctrl+x")
            assert not person.app.pane.explaining
            await person.press("f5")
            assert person.view.mode == "words"
            assert "F5 mode" in person.text.splitlines()[-1]

    run(story())


def test_keys_that_cannot_be_are_refused(served: Home) -> None:
    """A key that does not exist, or does two things, is an error before anything is drawn."""
    for keys in ({"mode": ("ctrl+y",), "tags": ("ctrl+y",)}, {"mode": ("hyper+q",)}, {"mode": ("s",)}):
        with pytest.raises(ConfigError):
            SearchApp(Errand(served.places, without_keys(TuiSettings(), **keys), Path("/")), ACTIONS)


def test_the_mouse_works(served: Home) -> None:
    """A click selects, a double click chooses, the wheel scrolls."""

    async def story() -> None:
        async with seat(served.places, printing=True) as person:
            await person.search("turbine")
            await person.pilot.click("#hits", offset=(10, 4))
            assert person.view.selected == 1
            await person.until(lambda: len(person.view.hits) == 40, "the rest of the list")
            title = person.view.hits[1].path
            person.app.hits.scroll_relative(y=9, animate=False)
            await person.pilot.pause()
            assert person.view.hits[3].title in person.text.splitlines()[2]
            person.app.hits.scroll_home(animate=False)
            await person.pilot.pause()
            await person.pilot.click("#hits", offset=(10, 4), times=2)
            await person.until(lambda: person.app.return_value is not None, "the screen is left")
        assert person.app.return_value == Outcome(0, (str(served.vault / title),))

    run(story())


def test_nothing_found_says_what_would_widen(served: Home) -> None:
    """An empty answer is told as one, with what would find more."""

    async def story(query: str, advice: str) -> None:
        async with seat(served.places) as person:
            await person.search(query)
            assert "Nothing found for" in person.text
            assert advice in person.text

    run(story("zyzzyva tag:#pump", "without the filters"))
    run(story('"seal mechanical"', "without the quotes"))
    run(story("zyzzyva", "with another word"))


@pytest.mark.parametrize(
    ("query", "title"), [("水道", "水道"), ("ポンプ", "水道"), ("משאבה", "עברית"), ("🍅", "Tomatoes")]
)
def test_other_scripts_are_typed_and_shown(served: Home, query: str, title: str) -> None:
    """Chinese and Japanese signs, Hebrew and emoji are typed, found and drawn within the screen."""

    async def story() -> None:
        async with seat(served.places, size=(80, 24)) as person:
            await person.search(query)
            assert any(title in shown for shown in person.titles)
            assert query in person.text.splitlines()[0]

    run(story())


@pytest.mark.parametrize("size", [(40, 12), (40, 24), (60, 8), (80, 24), (200, 50), (20, 5)])
def test_every_size_of_window_is_filled(served: Home, size: tuple[int, int]) -> None:
    """Narrow, short and wide windows hold the prompt and the first hit, and no line is too long."""

    async def story() -> None:
        async with seat(served.places, size=size) as person:
            await person.search("mechanical seal")
            lines = person.text.splitlines()
            assert len(lines) == size[1]
            assert lines[0].startswith("❯ ")
            assert "Seal rep" in person.text
            if size[0] >= 90 or size[1] >= 20:
                await person.shows("▎")

    run(story())


def test_the_window_changes_while_one_types(served: Home) -> None:
    """No key is lost, and the list is drawn for the new width."""

    async def story() -> None:
        async with seat(served.places, size=(120, 30)) as person:
            for char, size in zip("mechanical", [(40, 12), (200, 50), (80, 24)] * 4, strict=False):
                await person.key(char)
                await person.pilot.resize_terminal(*size)
            await person.until(lambda: not person.view.waiting and person.titles[:1] == ["Seal replacement"], "the hit")
            assert person.app.prompt.value == "mechanical"
            assert person.app.size == (40, 12)
            assert max(map(len, person.text.splitlines())) <= 40

    run(story())


async def _typed_fast(person: Seat) -> list[int]:
    seen = []
    for char in "the mechanical seal of the pump":
        await person.key(char)
        seen.append(person.view.shown)
    return seen


def test_answers_never_go_back(served: Home) -> None:
    """While one types fast, the number of the answer that is shown only grows, and the last one wins."""

    async def story() -> None:
        async with seat(served.places) as person:
            seen = await _typed_fast(person)
            await person.until(lambda: not person.view.waiting, "the last answer")
            assert seen == sorted(seen)
            assert person.view.answer is not None
            assert person.view.answer.query == "the mechanical seal of the pump"

    run(story())


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
