"""A note of many megabytes is work for the idle: others, and its own deletion, do not wait for it."""

from __future__ import annotations

import itertools
import random
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemons import Home, RunningDaemon, daemon_home

MB = 1_000_000


def distinct_words(chars: int, seed: int) -> str:
    """Return text of so many characters in which hardly a word comes twice."""
    source = random.Random(seed)
    lines = ("".join(source.choices(string.ascii_lowercase + "     ", k=80)) for _ in range(chars // 81))
    return "\n".join(lines)


@pytest.fixture(scope="module")
def daemon() -> Iterator[RunningDaemon]:
    """A daemon with the builtin model."""
    with daemon_home({"embedder": {"provider": "builtin"}}) as home:
        home.write("Pump.md", "The seal of the pump leaks.\n")
        daemon = home.start()
        daemon.ready(60)
        yield daemon


@pytest.fixture
def home(daemon: RunningDaemon) -> Home:
    daemon.ready(60)
    return daemon.home


def test_a_deleted_note_is_embedded_no_further(daemon: RunningDaemon, home: Home) -> None:
    """The embedding of a large note that is deleted meanwhile is broken off, and its text never reaches the end."""
    before = daemon.counters

    def broken_off() -> bool:
        """Delete a large note while its vector is made; one that is deleted before that was begun shows nothing."""
        begun = daemon.counters["embed_batches"]
        home.write("Large.md", distinct_words(3 * MB, random.randrange(MB)))
        daemon.until(lambda: daemon.counters["embed_batches"] > begun, "it is known to be long", 60)
        (home.vault / "Large.md").unlink()
        daemon.ready(60)
        return daemon.counters["embed_batches_broken_off"] > before["embed_batches_broken_off"]

    daemon.until(broken_off, "its embedding is broken off", 60)
    assert daemon.ready().counters["texts_embedded"] == before["texts_embedded"]


def test_a_fresh_note_has_its_vector_before_a_large_one(daemon: RunningDaemon, home: Home) -> None:
    """The embedding of a large note is broken off for a short one, and the answer says meanwhile that one lacks."""
    home.write("Large.md", distinct_words(3 * MB, 2) + "\nsecondmarker\n")
    daemon.found("secondmarker", "Large.md", 30)
    daemon.until(lambda: daemon.status().pending == 1, "its vector is being made")
    before = daemon.counters
    home.write("Fresh.md", "A valve sticks in winter.\n")
    daemon.until(lambda: daemon.counters["texts_embedded"] > before["texts_embedded"], "a vector was made", 60)
    assert daemon.status().pending == 1, "the large one was first"
    assert daemon.client.search("valve").state == "indexing"
    (home.vault / "Large.md").unlink()


def test_small_edits_are_found_before_a_large_note() -> None:
    """Edits are found while a large note is read; until its words are in, answers say so; then its memory goes back."""
    with daemon_home() as home:
        home.write("Pump.md", "The seal of the pump leaks.\n")
        daemon = home.start()
        daemon.found("seal", "Pump.md")
        # Words with parts take the longest to prepare.
        source = random.Random(1)
        words = ("".join(source.choices(string.ascii_letters, k=9)) for _ in itertools.count())
        home.write("Large.md", " ".join(itertools.islice(words, 600_000)) + "\nlargemarker\n")
        daemon.until(lambda: daemon.status().state == "indexing", "the large note is waited for")
        home.write("Fresh.md", "A valve sticks in winter.\n")
        daemon.until(lambda: daemon.client.search("valve", mode="words").hits, "the edit is found", 60)
        answer = daemon.client.search("largemarker valve", mode="words")
        assert [hit.path for hit in answer.hits] == ["Fresh.md"], "the large note was first"
        assert answer.state == "indexing"
        assert any("a large note" in reason.why for reason in answer.reasons)
        daemon.found("largemarker", "Large.md", 60)
        daemon.ready(60)
        assert daemon.client.search("largemarker", mode="words").state == "full"
        daemon.until(lambda: _memory(daemon, "VmRSS") < 0.7 * _memory(daemon, "VmHWM"), "memory is given back")


def _memory(daemon: RunningDaemon, field: str) -> int:
    """Return kilobytes of memory; ``VmHWM`` is the most the process ever had."""
    lines = Path(f"/proc/{daemon.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
