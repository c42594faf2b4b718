"""The screen and the daemon's life: started, killed, stopped, unable to start, with no vault or with several."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

import pytest

from tests.support.daemons import Home, daemon_home, ollama_process, until
from tests.tui.seats import run, seat
from vaultrag.rpc.discovery import alive

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.slow,
    # A daemon that the screen starts outlives it on purpose; Python takes its process for one that was forgotten.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home with two notes whose daemon may be started by the screen, too; whichever runs in the end is ended."""
    with daemon_home() as made:
        monkeypatch.setenv("VAULTRAG_HOME", str(made.path))
        made.write("Pump.md", "The pump leaks at its seal.")
        made.write("Tomato.md", "Water it.")
        yield made
        with contextlib.suppress(OSError, ValueError):
            pid = int(made.places.lock.read_text())
            if alive(pid):
                os.kill(pid, signal.SIGTERM)
                until(lambda: not alive(pid), "the daemon that the screen started has ended", 30)


def test_a_daemon_that_is_killed_comes_back_by_itself(home: Home) -> None:
    """A crash is told, the daemon is started again, and what is in the prompt is answered."""
    daemon = home.start()
    daemon.ready()

    async def story() -> None:
        async with seat(home.places) as person:
            await person.search("leaks")
            daemon.kill()
            await person.until(lambda: person.view.link.name != "ready", "the crash is noticed")
            await person.until(lambda: person.view.link.name == "ready", "it is back")
            await person.type(" seal")
            await person.until(lambda: not person.view.waiting and person.titles == ["Pump"], "it answers")
            assert person.view.status is not None
            assert person.view.status.pid != daemon.pid

    run(story())


def test_a_daemon_that_was_stopped_starts_with_the_next_question(home: Home) -> None:
    """Who stops the daemon means it: it stays away until there is something to search for."""
    daemon = home.start()
    daemon.ready()

    async def story() -> None:
        async with seat(home.places) as person:
            await person.search("leaks")
            daemon.stop()
            await person.shows("the daemon was stopped; it starts again when you search")
            assert not home.places.discovery.exists()
            await person.type(" seal")
            await person.until(lambda: not person.view.waiting and person.titles == ["Pump"], "it answers")

    run(story())


def test_the_screen_starts_the_daemon(home: Home) -> None:
    """With no daemon the screen is there at once, says that it starts one, and takes what is typed meanwhile."""
    home.start().ready()
    home.clean_up()

    async def story() -> None:
        async with seat(home.places, ready=False) as person:
            await person.shows("starting the daemon")  # before it has started, which it soon has
            await person.type("leaks")
            await person.until(lambda: not person.view.waiting and person.titles == ["Pump"], "it answers")

    run(story())


def test_without_leave_to_start_it_waits(home: Home) -> None:
    """``--no-start`` starts nothing, and takes up a daemon that somebody else starts."""

    async def story() -> None:
        async with seat(home.places, ready=False, start=False) as person:
            await person.type("leaks")
            await person.shows("the daemon is gone")
            assert not home.places.lock.exists()
            home.start().ready()
            await person.until(lambda: not person.view.waiting and person.titles == ["Pump"], "it answers")

    run(story())


def test_a_daemon_that_cannot_start_says_why(home: Home) -> None:
    """The reason is on the screen; when it is mended, the next key tries again."""
    home.places.registry.parent.mkdir(parents=True)
    home.places.registry.write_text("{")

    async def story() -> None:
        async with seat(home.places, ready=False, size=(200, 20)) as person:
            await person.shows("the daemon ended before it served")
            assert str(home.places.registry) in person.text
            home.places.registry.unlink()
            await person.type("x")
            await person.shows("no vault is served; add one: vaultrag up ~/Notes")

    run(story())


def test_a_vault_that_is_named_is_taken_up(home: Home) -> None:
    """``--vault FOLDER`` serves a folder that was not served before."""

    async def story() -> None:
        async with seat(home.places, vault=str(home.vault)) as person:
            await person.until(
                lambda: person.view.vault is not None and person.view.vault.state == "ready", "it is read"
            )
            await person.search("leaks")
            assert person.titles == ["Pump"]

    run(story())


def test_with_several_vaults_one_is_picked(home: Home) -> None:
    """Where it is not clear which vault is meant one is asked, and Ctrl+G asks again."""
    other = home.base / "Other"
    other.mkdir()
    (other / "Quince.md").write_text("Quinces leak, too.")
    home.start(home.vault, other).ready()

    async def story() -> None:
        async with seat(home.places, ready=False) as person:
            await person.shows("Search in a vault")
            await person.type("Other")
            await person.press("enter")
            await person.until(
                lambda: person.view.vault is not None and person.view.vault.name == "Other", "it is picked"
            )
            await person.search("leak")
            assert person.titles == ["Quince"]
            await person.press("ctrl+g")
            await person.shows("Search in a vault")
            await person.type("vault")
            await person.press("enter")
            await person.until(lambda: person.titles == ["Pump"] and not person.view.waiting, "the other vault's note")
        async with seat(home.places, here=other) as person:
            assert person.view.vault is not None
            assert person.view.vault.name == "Other"

    run(story())


def test_words_come_before_meaning() -> None:
    """The words' hits are shown at once and the full answer follows; without the model's server it is told."""
    with ollama_process() as ollama, daemon_home(ollama.settings) as home:
        home.write("Pump.md", "The pump leaks at its seal.")
        home.write("Tomato.md", "Water it.")
        home.start().ready()

        async def story() -> None:
            async with seat(home.places, size=(200, 20)) as person:
                seen: list[tuple[int, bool]] = []
                update = person.app.update

                def watched(view: object) -> None:
                    update(view)  # type: ignore[arg-type]
                    seen.append((person.view.shown, person.view.full))

                person.app.update = watched  # type: ignore[method-assign]
                await person.search("pump leaks")
                await person.until(lambda: person.view.full and not person.view.waiting, "the full answer")
                last = person.view.asked
                assert (last, False) in seen
                assert seen.index((last, False)) < seen.index((last, True))
                assert "meaning" in person.text.splitlines()[2]
                ollama.kill()
                await person.type(" now")
                await person.until(lambda: "words only" in person.text.splitlines()[1], "it is told")

        run(story())
