"""Two daemons for all these tests: one that answers at once, and one whose model takes its time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daemons import Home, OllamaProcess, Raw, RunningDaemon, daemon_home, ollama_process

SLOW_S = 1.0
"""What the slow model takes for a query."""

NOTES = {
    "Pump.md": "---\ntags: [plant]\n---\n# Pump\n\nThe seal leaks.\n\n## Repair\n\nChange the gasket first.\n",
    "Valve.md": "# Valve\n\nSee [[Pump]]. The valve sticks in winter.\n",
    "Emoji.md": "# Signs\n\nBefore 😀😀 it comes the zebra and after it 🦓 the zebra again.\n",
}


@pytest.fixture(scope="session")
def daemon() -> Iterator[RunningDaemon]:
    with daemon_home({"server": {"max_message_bytes": 100_000}}) as home:
        for path, text in NOTES.items():
            home.write(path, text)
        daemon = home.start()
        daemon.ready()
        yield daemon


@pytest.fixture(scope="session")
def home(daemon: RunningDaemon) -> Home:
    return daemon.home


@pytest.fixture
def raw(home: Home) -> Iterator[Raw]:
    """A connection that has said hello."""
    with Raw(home.places) as raw:
        yield raw


@pytest.fixture(scope="session")
def slow_model() -> Iterator[OllamaProcess]:
    with ollama_process() as server:
        yield server


@pytest.fixture(scope="session")
def slow_daemon(slow_model: OllamaProcess) -> Iterator[RunningDaemon]:
    # No deadline: a busy machine makes the slow model slower still.
    with daemon_home({**slow_model.settings, "search": {"deadline_s": 0.0}}) as home:
        for path, text in NOTES.items():
            home.write(path, text)
        daemon = home.start()
        daemon.ready()
        slow_model.script(delay_s=SLOW_S)
        yield daemon


@pytest.fixture
def slow(slow_daemon: RunningDaemon) -> Iterator[Raw]:
    """A connection to the daemon with the slow model."""
    with Raw(slow_daemon.home.places) as raw:
        yield raw
