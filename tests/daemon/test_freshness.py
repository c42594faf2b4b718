"""What happens to a note on disk is found in the index, through the real watcher, within three seconds.

One daemon with a model for all of these tests; each works on notes of its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

import pytest

from tests.support.daemons import Home, OllamaProcess, RunningDaemon, daemon_home, ollama_process

WORK = ("embed_batches", "texts_embedded")


@pytest.fixture(scope="module")
def model() -> Iterator[OllamaProcess]:
    with ollama_process() as server:
        yield server


@pytest.fixture(scope="module")
def daemon(model: OllamaProcess) -> Iterator[RunningDaemon]:
    with daemon_home(model.settings) as home:
        for number in range(12):
            home.write(f"Base/{number}.md", f"background of the vault, number {number}\n")
        daemon = home.start()
        daemon.ready()
        yield daemon


@pytest.fixture
def home(daemon: RunningDaemon) -> Home:
    daemon.ready()
    return daemon.home


def work(daemon: RunningDaemon) -> Mapping[str, int]:
    """What was asked of the model so far, when nothing is left to ask."""
    counters = daemon.ready().counters
    return {name: counters[name] for name in WORK}


def add(daemon: RunningDaemon, path: str, text: str) -> None:
    """Write a note, and wait until it is found by its last word and has its vector."""
    daemon.home.write(path, text)
    daemon.found(text.split()[-1], path)
    daemon.until(lambda: daemon.status().pending == 0 or None, "the note has its vector")


def test_a_new_note_is_found(daemon: RunningDaemon, home: Home) -> None:
    """A note is found by its words right after it was made."""
    home.write("New.md", "an aardvark\n")
    daemon.found("aardvark", "New.md")


def test_an_edit_is_found_and_the_old_text_is_not(daemon: RunningDaemon, home: Home) -> None:
    """After an edit the new words find the note, and the old ones do not."""
    add(daemon, "Edit.md", "a badger")
    home.write("Edit.md", "a beaver\n")
    daemon.found("beaver", "Edit.md")
    daemon.lost("badger", "Edit.md")


def test_an_atomic_save_is_found(daemon: RunningDaemon, home: Home) -> None:
    """A note that is written aside and renamed over the old one is found by its new words."""
    add(daemon, "Atomic.md", "a camel")
    draft = home.write(".Atomic.md.tmp", "a chamois\n")
    draft.rename(home.vault / "Atomic.md")
    daemon.found("chamois", "Atomic.md")
    daemon.lost("camel", "Atomic.md")


def test_a_save_with_a_backup_is_found(daemon: RunningDaemon, home: Home) -> None:
    """An editor that moves the old file away before it writes the new one loses nothing."""
    add(daemon, "Backup.md", "a dingo")
    note = home.vault / "Backup.md"
    note.rename(home.vault / "Backup.md~")
    note.write_text("a dormouse\n")
    daemon.found("dormouse", "Backup.md")
    daemon.lost("dingo", "Backup.md")


def test_a_renamed_note_is_embedded_under_its_new_title(daemon: RunningDaemon, home: Home) -> None:
    """A renamed note is found under its new name only, and its vector is that of the note as it is called now."""
    add(daemon, "Old name.md", "an elephant")
    before = work(daemon)
    (home.vault / "Old name.md").rename(home.vault / "New name.md")
    daemon.found("elephant", "New name.md")
    daemon.lost("elephant", "Old name.md")
    daemon.until(lambda: work(daemon)["texts_embedded"] == before["texts_embedded"] + 1, "the new title is embedded")
    daemon.ready()


def test_a_moved_folder_keeps_its_vectors(daemon: RunningDaemon, home: Home) -> None:
    """All notes of a moved folder are found in their new place only, and the model is not asked."""
    for number in range(8):
        home.write(f"Here/deep/{number}.md", f"a ferret number {number} flamingo\n")
    for number in range(8):
        daemon.found("flamingo", f"Here/deep/{number}.md")
    before = work(daemon)
    (home.vault / "There").mkdir()
    (home.vault / "Here").rename(home.vault / "There" / "Here")
    for number in range(8):
        daemon.found("flamingo", f"There/Here/deep/{number}.md")
    daemon.lost("flamingo", "Here/deep/0.md")
    assert len(daemon.client.search("flamingo", limit=50, mode="words").hits) == 8
    assert work(daemon) == before


def test_a_rename_of_case_alone_is_one_move(daemon: RunningDaemon, home: Home) -> None:
    """A note whose name changes in case only is one note, under the new spelling."""
    add(daemon, "gnu.md", "a gazelle")
    before = work(daemon)
    (home.vault / "gnu.md").rename(home.vault / "Gnu.md")
    daemon.found("gazelle", "Gnu.md")
    daemon.lost("gazelle", "gnu.md")
    daemon.until(lambda: work(daemon)["texts_embedded"] == before["texts_embedded"] + 1, "the new title is embedded")


def test_names_that_differ_in_case_are_two_notes(daemon: RunningDaemon, home: Home) -> None:
    """Where the file system tells them apart, so does the index."""
    home.write("twin.md", "the lower heron\n")
    home.write("Twin.md", "the upper hyena\n")
    daemon.found("heron", "twin.md")
    daemon.found("hyena", "Twin.md")


def test_a_deleted_note_is_gone(daemon: RunningDaemon, home: Home) -> None:
    """A deleted note is not found any more and cannot be had."""
    add(daemon, "Gone.md", "an iguana")
    notes = daemon.status().notes
    (home.vault / "Gone.md").unlink()
    daemon.lost("iguana", "Gone.md")
    daemon.until(lambda: daemon.status().notes == notes - 1 or None, "the index has forgotten it")


def test_a_deleted_note_is_never_served(daemon: RunningDaemon, home: Home) -> None:
    """Even before the watcher has seen it, a note that is gone from the disk is not an answer."""
    add(daemon, "Ghost.md", "an ibex")
    (home.vault / "Ghost.md").unlink()
    assert daemon.client.search("ibex").hits == ()


def test_a_folder_made_with_its_notes_is_found(daemon: RunningDaemon, home: Home) -> None:
    """Notes written right after their new folder, and folders moved in from elsewhere, are all found."""
    for number in range(5):
        home.write(f"Fresh/{number}/deep/note.md", f"a jackal number {number}\n")
    outside = home.base / "outside"
    outside.mkdir()
    (outside / "note.md").write_text("a jaguar\n")
    outside.rename(home.vault / "Moved in")
    for number in range(5):
        daemon.found("jackal", f"Fresh/{number}/deep/note.md")
    daemon.found("jaguar", "Moved in/note.md")


def test_a_deleted_folder_is_gone(daemon: RunningDaemon, home: Home) -> None:
    """The notes of a deleted folder are not found any more."""
    add(daemon, "Folder/one.md", "a koala")
    add(daemon, "Folder/two.md", "a kudu")
    shutil.rmtree(home.vault / "Folder")
    daemon.lost("koala", "Folder/one.md")
    daemon.lost("kudu", "Folder/two.md")


def test_a_copy_needs_no_model(daemon: RunningDaemon, home: Home) -> None:
    """A copy under the same name in another folder has the same text, and so the same vector."""
    add(daemon, "Copy.md", "a leopard lemur")
    before = work(daemon)
    home.write("Copies/Copy.md", "a leopard lemur")
    daemon.found("lemur", "Copies/Copy.md")
    assert work(daemon) == before


def test_a_touch_and_a_property_need_no_model(daemon: RunningDaemon, home: Home) -> None:
    """A new time, or an edit to the properties alone, asks nothing of the model."""
    add(daemon, "Props.md", "---\nstatus: open\n---\na meerkat")
    before = work(daemon)
    (home.vault / "Props.md").touch()
    home.write("Props.md", "---\nstatus: muskrat\n---\na meerkat")
    daemon.found("[status:muskrat]", "Props.md")
    assert work(daemon) == before


def test_an_ignored_folder_goes_and_comes_back(daemon: RunningDaemon, home: Home) -> None:
    """An edit to .vaultragignore takes notes out, and another brings them back without asking the model."""
    add(daemon, "Private/Diary.md", "a narwhal")
    before = work(daemon)
    ignore = home.write(".vaultragignore", "Private/\n")
    daemon.lost("narwhal", "Private/Diary.md")
    daemon.until(lambda: "Private" not in str(daemon.client.search("path:Private").hits) or None, "it is forgotten")
    ignore.write_text("")
    daemon.found("narwhal", "Private/Diary.md")
    assert work(daemon)["texts_embedded"] <= before["texts_embedded"] + 1


@pytest.mark.slow
def test_many_changes_at_once_are_all_found(daemon: RunningDaemon, home: Home) -> None:
    """Five hundred notes written in one go are all in the index soon after, and so is their end."""
    before = daemon.status().notes
    for number in range(500):
        home.write(f"Storm/{number % 10}/{number}.md", f"an ocelot number {number}\n")
    daemon.until(lambda: daemon.status().notes == before + 500 or None, "all are found", 40)
    daemon.found("ocelot 499", "Storm/9/499.md")
    shutil.rmtree(home.vault / "Storm")
    daemon.until(lambda: daemon.status().notes == before or None, "all are gone", 40)
