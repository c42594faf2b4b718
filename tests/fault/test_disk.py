"""The disk that holds the index: full, read-only, damaged, or with a file taken away under the running daemon."""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.fault.homes import VICTIM, cursed, events, judge, made_good, told, unharmed
from tests.fault.ledger import LONG, Ledger, long_form, times
from tests.fault.truth import NOTES, VECTORS, Truth, fill, first_word, folder_of, text_of
from tests.support.daemons import Home, RunningDaemon, until
from vaultrag.errors import StoreError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and mounts are set as Linux sets them")

# -- full ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bytes_left", times([250_000], [150_000, 250_000, 500_000, 1_000_000]))
def test_files_may_not_grow(ollama_home: Home, ledger: Ledger, bytes_left: int) -> None:
    """Where no file may grow, the daemon says so, answers with what it has, and makes it good once there is room."""
    home = ollama_home
    with ledger.attempt("full disk (RLIMIT_FSIZE)") as entry:
        texts = fill(home, 200)
        daemon = home.start(env=cursed(fsize=bytes_left), module=VICTIM)
        told(daemon, "cannot be written")
        daemon.client.search("pump")
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        daemon.client.reindex()
        made_good(daemon)
        judge(daemon, texts, entry)


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[None]:
    """A file system of its own."""
    place.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(place)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@long_form
def test_a_full_disk(ollama_home: Home, ledger: Ledger) -> None:
    """On a disk that fills up, the daemon says so, answers with what it has, and makes it good once there is room."""
    home = ollama_home
    with small_disk(home.places.data, "1m"), ledger.attempt("full disk (a small file system)") as entry:
        texts = fill(home, 200)
        daemon = home.start()
        told(daemon, "cannot be written")
        daemon.client.search("pump")
        subprocess.run(["mount", "-o", "remount,size=64m", str(home.places.data)], check=True)
        daemon.client.reindex()
        made_good(daemon)
        judge(daemon, texts, entry)
        assert daemon.stop() == 0


def test_a_disk_that_is_full_at_the_start(home: Home, ledger: Ledger) -> None:
    """With no room for even a first file, the daemon ends with a sentence, or says that the vault is not served."""
    with small_disk(home.places.data, "1m"), ledger.attempt("full disk (at the start)"):
        texts = fill(home, 3)
        fill_up(home.places.data / "big")
        daemon = home.spawn(home.vault)
        until(lambda: "cannot be written" in home.log or None, "the fault is told", 20)
        unharmed(home)
        (home.places.data / "big").unlink()
        daemon.stop()
        daemon = home.start()
        made_good(daemon)
        assert Truth(daemon, texts, meaning=False).lost == []
        assert daemon.stop() == 0


def fill_up(path: Path) -> None:
    """Write until there is no room."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


# -- read-only -------------------------------------------------------------------------------------------------------


@long_form
def test_a_data_folder_that_is_read_only(home: Home, ledger: Ledger) -> None:
    """Where nothing may be written the daemon ends with a sentence and what to do, and the index is not harmed."""
    texts = fill(home, 30)
    with small_disk(home.places.data, "64m"), ledger.attempt("read-only data folder") as entry:
        daemon = home.start()
        made_good(daemon)
        assert daemon.stop() == 0
        subprocess.run(["mount", "-o", "remount,ro", str(home.places.data)], check=True)
        refused = home.spawn(home.vault)
        assert refused.process.wait(20) == 2
        assert "cannot be written: Read-only file system" in home.log
        assert "try: make" in home.log
        subprocess.run(["mount", "-o", "remount,rw", str(home.places.data)], check=True)
        daemon = home.start()
        made_good(daemon)
        assert daemon.counters["files_read"] == 0
        judge(daemon, texts, entry, meaning=False)
        assert daemon.stop() == 0


def test_an_index_folder_that_may_not_be_written(ollama_home: Home, ledger: Ledger) -> None:
    """Where the modes forbid the index of one vault to be written, that is told; allowed again, it is served."""
    home = ollama_home
    texts = fill(home, 30)
    with ledger.attempt("read-only index folder") as entry:
        daemon = home.start()
        made_good(daemon)
        assert daemon.stop() == 0
        folder = folder_of(home)
        for path in folder.iterdir():
            path.chmod(0o400)
        daemon = home.spawn(home.vault, env=cursed(no_override=True), module=VICTIM)
        until(lambda: "is not served: hybrid-fts.db cannot be written" in home.log or None, "the fault is told", 20)
        for path in folder.iterdir():
            path.chmod(0o600)
        if not LONG:  # by itself it tries again after a minute
            assert daemon.stop() == 0
            daemon = home.start()
        made_good(daemon)
        judge(daemon, texts, entry)


# -- damaged ---------------------------------------------------------------------------------------------------------

PAGE = 4096


def spoil(path: Path, dice: random.Random, how: str) -> str:
    """Overwrite pages of a file in place, as a failing disk might; returns which."""
    pages = path.stat().st_size // PAGE
    chosen = list(range(1, pages)) if how == "all but the first" else [dice.randrange(pages)]
    fill_with = bytes(PAGE) if how == "a page of zeros" else dice.randbytes(PAGE)
    with path.open("r+b", buffering=0) as file:
        for page in chosen:
            file.seek(page * PAGE)
            file.write(fill_with)
    return f"{how}, {chosen[0]} of {pages}"


HOWS = ("all but the first", "a page of noise", "a page of zeros")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", times([NOTES], [NOTES, VECTORS]))
def test_a_page_is_damaged_before_the_start(ollama_home: Home, ledger: Ledger, name: str) -> None:
    """A file in which pages were overwritten is set aside and built again, at the start or when the page is needed."""
    _damage(ollama_home, ledger, name, "at the start", times(1, 20))


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", times([VECTORS], [NOTES, VECTORS]))
def test_a_page_is_damaged_under_the_daemon(ollama_home: Home, ledger: Ledger, name: str) -> None:
    """A file in which pages are overwritten while the daemon runs is set aside and built again, with no restart."""
    _damage(ollama_home, ledger, name, "in use", times(1, 20))


def _damage(home: Home, ledger: Ledger, name: str, when: str, tries: int) -> None:
    dice = random.Random(f"{name} {when}")
    texts = fill(home, 30)
    daemon = home.start()
    made_good(daemon)
    for number in range(tries):
        with ledger.attempt(f"a damaged page, {when}: {name}") as entry:
            daemon.stop()
            if when == "at the start":
                which = spoil(folder_of(home) / name, dice, HOWS[number % len(HOWS)])
                daemon = home.start()
            else:
                daemon = home.start()
                made_good(daemon)
                which = spoil(folder_of(home) / name, dice, HOWS[number % len(HOWS)])
            noticed = use(daemon, texts)
            if noticed:
                daemon.until(lambda: "built again" in events(daemon) or None, f"{which} is mended", 30)  # noqa: B023
            made_good(daemon)
            # What nothing was read from, most of the room that vec0 keeps for vectors to come, is damaged unseen.
            judge(daemon, texts, entry, which, sound=noticed)


def use(daemon: RunningDaemon, texts: dict[str, str]) -> bool:
    """Ask for every note and write a few, so that damage shows; returns whether it did."""
    path = random.Random(0).choice(list(texts))
    for version in range(1, 3):
        texts[path] = text_of(1_000, version)
        daemon.home.write(path, texts[path])
    noticed = False
    for text in texts.values():
        for mode in ("words", "hybrid"):
            try:
                daemon.client.search(first_word(text), mode=mode)
            except StoreError:
                noticed = True
    return noticed


# -- taken away ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", times(["the folder"], [NOTES, VECTORS, "the folder"]))
def test_a_file_is_removed_under_the_daemon(ollama_home: Home, ledger: Ledger, name: str) -> None:
    """A file of the index that is removed while the daemon runs is built again as soon as it is missed."""
    home = ollama_home
    texts = fill(home, 30)
    daemon = home.start()
    made_good(daemon)
    with ledger.attempt(f"removed in use: {name}") as entry:
        folder = folder_of(home)
        if name == "the folder":
            shutil.rmtree(folder)
        else:
            (folder / name).unlink()
        texts["Fresh.md"] = text_of(99)
        home.write("Fresh.md", texts["Fresh.md"])
        daemon.until(lambda: "built again" in events(daemon) or None, "it is missed", 30)
        made_good(daemon)
        judge(daemon, texts, entry)
        assert daemon.stop() == 0
