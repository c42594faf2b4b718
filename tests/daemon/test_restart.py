"""Stopping and starting again: nothing is done twice, and nothing that happened meanwhile is missed."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.support.daemons import Home, OllamaProcess, RunningDaemon

NOTHING = ("files_read", "notes_written", "notes_moved", "notes_deleted", "embed_batches", "texts_embedded")


def fill(home: Home, count: int = 20) -> None:
    for number in range(count):
        home.write(f"Folder {number % 3}/Note {number}.md", f"the pump number {number}\n")


def test_an_unchanged_vault_costs_nothing(ollama_home: Home, ollama: OllamaProcess) -> None:
    """A restart on an unchanged vault reads no file and asks the model nothing."""
    fill(ollama_home)
    daemon = ollama_home.start()
    assert daemon.ready().embedded == 20
    assert len(ollama.documents()) == 20
    daemon.stop()
    daemon = ollama_home.start()
    counters = daemon.ready().counters
    assert {name: counters[name] for name in NOTHING} == dict.fromkeys(NOTHING, 0)
    assert counters["full_scans"] == 1
    assert len(ollama.documents()) == 20
    answer = daemon.client.search("pump number 7")
    assert answer.state == "full"
    assert answer.hits[0].path == "Folder 1/Note 7.md"


def test_changes_while_it_was_off_are_found(ollama_home: Home, ollama: OllamaProcess) -> None:
    """Edits, new, moved and deleted notes are found right after the start, and only what is new meets the model."""
    home = ollama_home
    fill(home)
    daemon = home.start()
    daemon.ready()
    daemon.stop()
    vault = home.vault
    home.write("Folder 0/Note 0.md", "edited to quokka\n")
    home.write("New/Note.md", "a raccoon\n")
    (vault / "Folder 1" / "Note 1.md").rename(vault / "Folder 1" / "Renamed.md")
    (vault / "Folder 2").rename(vault / "Elsewhere")
    (vault / "Folder 0" / "Note 3.md").unlink()

    daemon = home.start()
    daemon.found("quokka", "Folder 0/Note 0.md")
    daemon.found("raccoon", "New/Note.md")
    daemon.found("pump number 1", "Folder 1/Renamed.md")
    daemon.found("pump number 2", "Elsewhere/Note 2.md")
    status = daemon.ready()
    assert status.notes == 20
    assert status.embedded == 20
    assert status.counters["notes_moved"] == 1 + 6
    assert status.counters["notes_deleted"] == 1
    assert status.counters["texts_embedded"] == 3  # the edit, the new note, and the new title
    assert len(ollama.documents()) == 23


@pytest.mark.parametrize(
    "moment",
    [pytest.param("at once", marks=pytest.mark.slow), pytest.param("reading", marks=pytest.mark.slow), "embedding"],
)
def test_a_crash_costs_at_most_what_was_under_way(ollama_home: Home, ollama: OllamaProcess, moment: str) -> None:
    """A daemon that is killed at any moment of its first indexing finishes it at the next start."""
    home = ollama_home
    fill(home, 300)
    ollama.script(delay_s=0.05)
    daemon = home.start()
    if moment == "reading":
        daemon.until(lambda: daemon.status().notes or None, "it has begun to read")
    elif moment == "embedding":
        daemon.until(lambda: daemon.status().embedded or None, "it has begun to embed")
    daemon.kill()
    ollama.script(delay_s=0)
    before = len(set(ollama.documents()))
    daemon = home.start()
    status = daemon.ready()
    assert (status.notes, status.embedded, status.failed, list(status.events)) == (300, 300, 0, [])
    assert daemon.client.search("pump number 299").hits[0].path == "Folder 2/Note 299.md"
    assert len(ollama.documents()) <= 300 + before
    assert status.counters["texts_embedded"] <= 300


def test_a_damaged_index_is_made_again(ollama_home: Home) -> None:
    """Damaged database files are set aside and made again; the status says that the notes are safe."""
    home = ollama_home
    fill(home)
    daemon = home.start()
    folder = home.places.vault_folder(daemon.ready().id)
    daemon.stop()
    for name in ("hybrid-fts.db", "obsidian_notes.db"):
        data = bytearray((folder / name).read_bytes())
        data[: len(data) // 2] = b"\x5a" * (len(data) // 2)
        (folder / name).write_bytes(data)
    daemon = home.start()
    status = daemon.ready()
    assert (status.notes, status.embedded) == (20, 20)
    assert len(status.events) == 2
    assert all("the notes themselves are safe" in event for event in status.events)
    assert len(list(folder.glob("*.damaged-*"))) == 2


def steady(daemon: RunningDaemon) -> dict[str, int]:
    return dict(daemon.ready().counters)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_an_idle_daemon_does_nothing(ollama_home: Home, ollama: OllamaProcess) -> None:
    """Over a minute without a change no file is looked at, no model asked, and next to no processor time used."""
    fill(ollama_home)
    daemon = ollama_home.start()
    daemon.ready()
    daemon.client.search("pump")
    before, cpu, calls = steady(daemon), daemon.cpu_s(), len(ollama.inputs())
    with pytest.raises(subprocess.TimeoutExpired):  # no question is asked meanwhile, not even how it is
        daemon.process.wait(60)
    assert daemon.cpu_s() - cpu < 0.3
    assert steady(daemon) == before
    assert len(ollama.inputs()) == calls


def test_an_edit_whose_time_was_set_back_is_found(home: Home) -> None:
    """A change that kept size, time and inode while the daemon was down is found at the next start, by its ctime."""
    path = home.write("Pump.md", "The seal is madder.\n")
    daemon = home.start()
    daemon.ready()
    assert daemon.stop() == 0
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"The seal is copper.\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    daemon = home.start()
    daemon.found("copper", "Pump.md")
    assert not daemon.client.search("madder", mode="words").hits


def test_a_persons_reindex_reads_every_file(home: Home) -> None:
    """What no stat can tell is found once a person asks for it: every file is read and hashed."""
    for number in range(7):
        home.write(f"{number}.md", f"note {number}\n")
    daemon = home.start()
    before = daemon.ready().counters["files_read"]
    daemon.client.reindex()
    daemon.until(lambda: daemon.counters["files_read"] == before + 7, "every file is read again")
