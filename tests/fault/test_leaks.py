"""Nothing is left behind: by starts and stops, and by a day of doing nothing; and no note's text is in the log."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fault.homes import made_good
from tests.fault.ledger import Ledger, times
from tests.fault.truth import fill, first_word, text_of
from tests.support.clocks import SwiftClock
from tests.support.daemons import Home, until
from tests.support.embedders import HashEmbedder
from vaultrag.app import VaultService
from vaultrag.config import parse
from vaultrag.daemon import vaults as composition
from vaultrag.daemon.process import Daemon
from vaultrag.daemon.vaults import EmbedderPool, open_vault
from vaultrag.domain import Identity
from vaultrag.domain.requests import Search
from vaultrag.rpc.client import Client

descriptors = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc")


@dataclass(frozen=True)
class Held:
    """What a process holds on to."""

    threads: frozenset[str]
    files: tuple[str, ...]

    @classmethod
    def now(cls) -> Held:
        gc.collect()
        found = []
        for descriptor in os.listdir("/proc/self/fd"):  # noqa: PTH208
            try:
                found.append(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115
            except OSError:
                continue  # the listing's own
        # Sockets and pipes by their kind: their numbers are never the same twice.
        kinds = sorted(name.split(":")[0] if ":[" in name else name for name in found)
        return cls(frozenset(thread.name for thread in threading.enumerate()), tuple(kinds))


class HashEmbedders(EmbedderPool):
    """An embedder without a model for every vault."""

    def __init__(self) -> None:
        super().__init__(parse({}))
        self.embedder = HashEmbedder()

    def choose(self, recorded: Identity | None) -> HashEmbedder:
        return self.embedder


@descriptors
@pytest.mark.timeout(600)
def test_vaults_opened_and_closed(home: Home, ledger: Ledger) -> None:
    """Put together, used and closed again and again, a vault leaves no open file and no thread, and embeds once."""
    fill(home, 10)
    embedders = HashEmbedders()

    def cycle() -> None:
        vault = open_vault(home.vault, home.places, parse({}), embedders)
        until(lambda: (vault.status().state == "ready" and not vault.status().pending) or None, "it is ready", 30)
        assert vault.search(Search("pump seal")).hits
        vault.close()

    cycle()
    before = Held.now()
    for _ in range(times(10, 50)):
        with ledger.attempt("leaks: a vault opened and closed"):
            cycle()
            assert Held.now() == before
    assert len(embedders.embedder.notes) == 10


@descriptors
@pytest.mark.timeout(600)
def test_daemons_started_and_stopped_in_one_process(
    home: Home, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Daemons run one after the other in one process leave no task, no thread, no socket and no open file."""
    fill(home, 10)
    places = home.places
    hung: list[int] = []
    monkeypatch.setattr(os, "_exit", hung.append)  # how a daemon ends when a thread of it hangs
    left: list[str] = []
    run = asyncio.run

    def watched(main: Coroutine[Any, Any, None]) -> None:
        async def body() -> None:
            await main
            await asyncio.sleep(0)
            left.extend(str(task) for task in asyncio.all_tasks() - {asyncio.current_task()})

        run(body())

    monkeypatch.setattr(asyncio, "run", watched)

    def cycle() -> None:
        daemon = Daemon(places, parse({}), HashEmbedders())
        faults: list[BaseException] = []

        def drive() -> None:
            try:
                until(places.discovery.exists, "it serves", 30)
                with Client.connect(places, timeout_s=30) as client:
                    until(lambda: [v for v in client.status().vaults if v.state == "ready"], "it is ready", 30)
                    assert client.search("pump seal").hits
                    client.shutdown()
            except BaseException as fault:
                faults.append(fault)
                raise

        driver = threading.Thread(target=drive)
        driver.start()
        daemon.run([home.vault])
        driver.join()
        assert not faults
        assert not hung
        assert not left

    cycle()
    before = Held.now()
    for _ in range(times(5, 50)):
        with ledger.attempt("leaks: a daemon started and stopped, in one process"):
            cycle()
            assert Held.now() == before
            assert not places.socket.exists()


def test_processes_started_and_stopped(home: Home, ledger: Ledger) -> None:
    """A daemon's process leaves no socket, no discovery file, no draft of one and no log of SQLite's behind."""
    fill(home, 10)
    home.start().stop()
    before = {path.relative_to(home.path) for path in home.path.rglob("*")}
    for _ in range(times(1, 10)):
        with ledger.attempt("leaks: a process started and stopped"):
            daemon = home.start()
            made_good(daemon)
            assert daemon.stop() == 0
            assert {path.relative_to(home.path) for path in home.path.rglob("*")} == before


def test_vaults_that_come_and_go_leave_nothing(home: Home, ledger: Ledger) -> None:
    """In one running daemon, vaults that are added and removed, and clients that come and go, leave nothing open."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("open files are counted in /proc")
    fill(home, 10)
    second = home.base / "second"
    second.mkdir()
    (second / "Note.md").write_text("the pump of the second\n")
    daemon = home.start()
    made_good(daemon)
    files, threads = Path(f"/proc/{daemon.pid}/fd"), Path(f"/proc/{daemon.pid}/task")

    def cycle() -> tuple[int, int]:
        added = daemon.client.add_vault(str(second))
        until(lambda: daemon.client.search("second", vault=added.id).hits or None, "it is read", 20)
        daemon.client.remove_vault(added.id)
        with daemon.connect() as client:
            client.status()
        return len(list(files.iterdir())), len(list(threads.iterdir()))

    for _ in range(5):  # threads that answer are made when they are first needed, up to a number
        most = cycle()
    for _ in range(times(5, 30)):
        with ledger.attempt("leaks: a vault added and removed"):
            until(lambda: all(now <= then for now, then in zip(cycle(), most, strict=True)) or None, "no more", 20)


# -- a day -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def day(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[VaultService, HashEmbedders, SwiftClock]]:
    """A vault whose threads live a day in a minute (an hour, in the short form, in two and a half seconds)."""
    fill(home, 20)
    clock = SwiftClock(1_440.0)
    real = threading.Condition.wait

    def swift(self: threading.Condition, timeout: float | None = None) -> bool:
        named = threading.current_thread().name.startswith(("index-", "embed-", "vaultrag-watch"))
        return real(self, timeout / 1_440.0 if named and timeout is not None else timeout)

    monkeypatch.setattr(threading.Condition, "wait", swift)
    monkeypatch.setattr(composition, "CLOSE_S", 3.0 * 1_440)
    embedders = HashEmbedders()
    vault = open_vault(home.vault, home.places, parse({}), embedders, clock=clock)
    until(lambda: (vault.status().state == "ready" and not vault.status().pending) or None, "it is ready", 30)
    yield vault, embedders, clock
    vault.close()


@descriptors
@pytest.mark.timeout(300)
def test_a_day_of_nothing(day: tuple[VaultService, HashEmbedders, SwiftClock], home: Home, ledger: Ledger) -> None:
    """Over a day without a change there is one look each five minutes, no read, no call of the model, and no growth."""
    vault, embedders, clock = day
    hours = times(3, 24)
    with ledger.attempt(f"{hours} hours of nothing"):
        vault.search(Search("pump seal"))
        before, calls, held, sizes = vault.status().counters, embedders.embedder.calls, Held.now(), _sizes(home)
        start = clock.monotonic()
        until(lambda: clock.monotonic() - start > hours * 3_600 or None, "the time has passed", 200, pause_s=0.25)
        lived = clock.monotonic() - start
        after = vault.status().counters
        looks = after["full_scans"] - before["full_scans"]
        assert lived / 300 * 0.5 <= looks <= lived / 300 + 1
        assert after["scans"] - before["scans"] == looks
        for name in ("files_read", "notes_written", "notes_deleted", "second_looks", "embed_batches", "texts_embedded"):
            assert after[name] == before[name], name
        assert embedders.embedder.calls == calls
        assert Held.now() == held
        assert _sizes(home) == sizes
        path = home.write("Late.md", text_of(900))
        until(lambda: vault.search(Search(first_word(text_of(900)), mode="words")).hits or None, f"{path} is found", 20)


def _sizes(home: Home) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in home.places.data.rglob("*") if path.is_file()}


# -- the log ---------------------------------------------------------------------------------------------------------


def test_no_note_is_in_the_log(ollama_home: Home, ledger: Ledger) -> None:
    """What the daemon says, as it is started by a service manager, holds no word of a note or of a question."""
    home = ollama_home
    with ledger.attempt("no note's text in the log"):
        texts = fill(home, 20)
        home.write("Yaml.md", "---\ntitle: [secretheader\n  key: : :\n---\nsecretbody\n")
        home.write("Latin.md", "secretlatin café\n".encode("latin-1"))
        home.write("Binary.md", b"secretbinary" + bytes(1_000))
        daemon = home.start(verbose=False)
        made_good(daemon)
        for text in texts.values():
            daemon.client.search(text)
            daemon.client.explain("secretquestion")
        daemon.client.call("search", {"query": "secretquestion (", "mode": "meaning"})
        for path in texts:
            (home.vault / path).unlink()
        daemon.until(lambda: daemon.status().state == "away" or None, "they are missed", 30)
        assert daemon.stop() == 0
        assert "serves" in home.log
        said = home.log.lower()
        words = {word.strip(".,").lower() for text in texts.values() for word in text.split()}
        own = {word for word in words if any(sign.isdigit() for sign in word)}
        assert own
        assert not {word for word in own if word in said}
        assert "secret" not in said
