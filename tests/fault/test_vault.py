"""The vault itself: away for a while, unreadable in part, changed in masses, changed behind the clock's back."""

from __future__ import annotations

import os
import resource
import shutil
import sys
from pathlib import Path

import pytest

from tests.fault.homes import VICTIM, cursed, judge, made_good
from tests.fault.ledger import Ledger, long_form, times
from tests.fault.truth import fill, first_word, text_of
from tests.support.daemons import Home, OllamaProcess, RunningDaemon

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits are set, and seen in /proc, as on Linux")


def scans(daemon: RunningDaemon) -> int:
    return daemon.counters["scans"]


# -- away ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "instead", times(["nothing", "an empty folder"], ["nothing", "an empty folder", "a folder with a few notes"])
)
def test_a_vault_that_vanishes_and_returns(ollama_home: Home, ledger: Ledger, instead: str) -> None:
    """A vault whose folder goes away under the daemon, whatever stands there meanwhile, is whole when it is back."""
    home = ollama_home
    texts = fill(home, 30)
    daemon = home.start()
    made_good(daemon)
    with ledger.attempt(f"vault away, in its place {instead}") as entry:
        before = daemon.counters["texts_embedded"]
        away = home.vault.rename(home.base / "elsewhere")
        if instead != "nothing":
            (home.vault / ".obsidian").mkdir(parents=True)
        if instead == "a folder with a few notes":
            home.write("Other.md", text_of(500))
        assert all(hit.stale for hit in daemon.client.search(first_word(texts["Folder 1/Note 1.md"])).hits)
        status = daemon.until(lambda: status if (status := daemon.status()).state == "away" else None, "it is away", 10)
        assert status.why
        assert status.hint
        assert status.notes >= 30
        if instead != "nothing":
            shutil.rmtree(home.vault)
        away.rename(home.vault)
        made_good(daemon)
        judge(daemon, texts, entry)
        assert daemon.counters["texts_embedded"] <= before + 1


def test_a_folder_that_may_not_be_read(home: Home, ledger: Ledger) -> None:
    """Notes that may not be read for a while, or whose folder may not, are kept, called stale, and read afterwards."""
    texts = fill(home, 24)
    with ledger.attempt("unreadable folder and note") as entry:
        daemon = home.start(env=cursed(no_override=True), module=VICTIM)
        made_good(daemon)
        folder, note = home.vault / "Folder 1", home.vault / "Folder 2/Note 2.md"
        texts["Folder 2/Note 2.md"] = text_of(200)
        home.write("Folder 2/Note 2.md", texts["Folder 2/Note 2.md"])
        note.chmod(0)
        folder.chmod(0)
        looked = daemon.counters["full_scans"]
        daemon.client.reindex()
        daemon.until(lambda: daemon.counters["full_scans"] > looked or None, "it has looked")
        status = daemon.status()
        assert (status.notes, status.counters["notes_deleted"]) == (24, 0)
        hits = daemon.client.search(first_word(texts["Folder 1/Note 1.md"]), mode="words").hits
        assert [(str(hit.path), hit.stale) for hit in hits] == [("Folder 1/Note 1.md", True)]
        folder.chmod(0o700)
        note.chmod(0o600)
        daemon.client.reindex()
        daemon.found(first_word(texts["Folder 2/Note 2.md"]), "Folder 2/Note 2.md", 20)
        made_good(daemon)
        judge(daemon, texts, entry, meaning=False)


# -- limits ----------------------------------------------------------------------------------------------------------


@linux
@long_form  # it takes the pause before the next look
def test_too_many_open_files(home: Home, ledger: Ledger) -> None:
    """While no file can be opened nothing is forgotten; afterwards what changed is found, without being asked to."""
    texts = fill(home, 24)
    daemon = home.start()
    made_good(daemon)
    daemon.client.search("pump", mode="words")
    with ledger.attempt("EMFILE") as entry:
        taken = {int(path.name) for path in Path(f"/proc/{daemon.pid}/fd").iterdir()}
        free = next(number for number in range(1_000) if number not in taken)
        before = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (free, before[1]))
        looked = scans(daemon)
        texts["New.md"] = text_of(300)
        home.write("New.md", texts["New.md"])
        texts["Folder 0/Note 0.md"] = text_of(301)
        home.write("Folder 0/Note 0.md", texts["Folder 0/Note 0.md"])
        daemon.until(lambda: scans(daemon) > looked or None, "it has looked")
        assert daemon.status().notes == 24
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, before)
        daemon.found(first_word(texts["New.md"]), "New.md", 40)
        daemon.found(first_word(texts["Folder 0/Note 0.md"]), "Folder 0/Note 0.md", 40)
        made_good(daemon)
        judge(daemon, texts, entry, meaning=False)
        assert daemon.counters["notes_deleted"] == 0


def test_no_watch_is_left(home: Home, ledger: Ledger) -> None:
    """With fewer watches than folders the daemon looks by itself, says so with the cure, and misses nothing."""
    home.configure({"watch": {"poll_s": 0.3}})
    limits = home.base / "proc" / "sys/fs/inotify"
    limits.mkdir(parents=True)
    (limits / "max_user_watches").write_text("3\n")
    texts = fill(home, 24)
    with ledger.attempt("inotify limit") as entry:
        daemon = home.start(env=cursed(proc=str(home.base / "proc")), module=VICTIM)
        made_good(daemon)
        watching = daemon.status().watching
        assert watching.startswith("polling every 0.3 s: 5 folders need more watches than the system allows (3)")
        assert "raise fs.inotify.max_user_watches" in watching
        texts["New folder/New.md"] = text_of(300)
        home.write("New folder/New.md", texts["New folder/New.md"])
        daemon.found(first_word(texts["New folder/New.md"]), "New folder/New.md", 10)
        (home.vault / "Folder 1/Note 1.md").unlink()
        del texts["Folder 1/Note 1.md"]
        daemon.until(lambda: daemon.status().notes == len(texts) or None, "it is missed")
        judge(daemon, texts, entry, meaning=False)


# -- masses ----------------------------------------------------------------------------------------------------------


@pytest.mark.timeout(600)
def test_a_burst_of_files(home: Home, ledger: Ledger) -> None:
    """Thousands of files written in one go, and thousands of changes right after, are all in the index in the end."""
    count = times(1_000, 10_000)
    texts = fill(home, 10)
    daemon = home.start()
    made_good(daemon)
    with ledger.attempt(f"{count:,} files in one burst") as entry:
        for number in range(count):
            path = f"Burst/{number % 40}/Note {number}.md"
            texts[path] = text_of(number + 1_000)
            home.write(path, texts[path])
        for number in range(0, count, 10):
            path = f"Burst/{number % 40}/Note {number}.md"
            texts[path] = text_of(number + 1_000, 1)
            home.write(path, texts[path])
        daemon.until(lambda: daemon.status().notes == len(texts) or None, "all are there", 300)
        daemon.found(first_word(texts[f"Burst/{(count - 10) % 40}/Note {count - 10}.md"]),
                     f"Burst/{(count - 10) % 40}/Note {count - 10}.md", 60)  # fmt: skip
        made_good(daemon)
        some = {path: text for at, (path, text) in enumerate(texts.items()) if at % times(20, 10) == 0}
        judge(daemon, texts, entry, meaning=False, asked=some)


@pytest.mark.timeout(600)
def test_a_large_folder_moves(ollama_home: Home, ollama: OllamaProcess, ledger: Ledger) -> None:
    """A folder of a thousand notes that is moved costs no call of the model, and all are found in their new place."""
    home = ollama_home
    count = times(200, 1_000)
    home.configure({**ollama.settings, "search": {"passages": False}})
    texts = {f"Here/{n % 7}/Note {n}.md": text_of(n) for n in range(count)}
    for path, text in texts.items():
        home.write(path, text)
    daemon = home.start()
    made_good(daemon)
    with ledger.attempt(f"a folder of {count:,} notes moves") as entry:
        before = daemon.counters["texts_embedded"]
        (home.vault / "There").mkdir()
        (home.vault / "Here").rename(home.vault / "There/Now")
        texts = {f"There/Now{path.removeprefix('Here')}": text for path, text in texts.items()}
        last = f"There/Now/{(count - 1) % 7}/Note {count - 1}.md"
        daemon.found(first_word(texts[last]), last, 60)
        daemon.until(lambda: daemon.status().notes == count or None, "the old places are forgotten", 60)
        made_good(daemon)
        some = {path: text for at, (path, text) in enumerate(texts.items()) if at % times(10, 20) == 0}
        judge(daemon, texts, entry, asked=some)
        assert daemon.counters["texts_embedded"] == before


# -- time ------------------------------------------------------------------------------------------------------------


def test_a_clock_set_back(home: Home, ledger: Ledger) -> None:
    """Under a clock that runs backwards, edits that look older than before are found, as they come and at the start."""
    texts = fill(home, 24)
    with ledger.attempt("a clock set back") as entry:
        daemon = home.start(env=cursed(clock_runs_back=True), module=VICTIM)
        made_good(daemon)
        _edit_in_the_past(home, texts, "Folder 0/Note 0.md", 400)
        daemon.found(first_word(texts["Folder 0/Note 0.md"]), "Folder 0/Note 0.md", 10)
        judge(daemon, texts, entry, meaning=False)
        assert daemon.stop() == 0
        _edit_in_the_past(home, texts, "Folder 1/Note 1.md", 401)
        daemon = home.start(env=cursed(clock_runs_back=True), module=VICTIM)
        made_good(daemon)
        judge(daemon, texts, entry, meaning=False)


def _edit_in_the_past(home: Home, texts: dict[str, str], path: str, number: int) -> None:
    before = (home.vault / path).stat()
    texts[path] = text_of(number)
    home.write(path, texts[path])
    os.utime(home.vault / path, ns=(before.st_atime_ns, before.st_mtime_ns - 86_400_000_000_000))
