"""The vault of strange notes, under the real daemon: each is found or listed, and nothing in the vault changes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault.homes import made_good, unharmed
from tests.fault.ledger import Ledger
from tests.support.daemons import RunningDaemon, daemon_home, ollama_process
from tests.support.strange import SETTINGS, StrangeVault, fingerprint, make
from vaultrag.errors import NoteNotFound

Known = tuple[RunningDaemon, StrangeVault, dict[bytes, tuple[object, ...]]]


@pytest.fixture(scope="module")
def known() -> Iterator[Known]:
    """The daemon, what should become of the files, and what the vault was like before."""
    with ollama_process() as ollama, daemon_home({**ollama.settings, **SETTINGS}) as home:
        outside = home.base / "outside"
        outside.mkdir()
        vault = make(home.vault, outside)
        before = fingerprint(home.vault)
        daemon = home.start()
        made_good(daemon)
        yield daemon, vault, before


def test_every_note_is_found_and_can_be_had(known: Known, ledger: Ledger) -> None:
    """Each strange note is found by its word, under its very name, is handed out whole, and has its vector."""
    daemon, vault, _ = known
    for path, word in vault.found.items():
        with ledger.attempt("strange notes: found") as entry:
            answer = daemon.client.search(word, mode="words", limit=5)
            hits = [str(hit.path) for hit in answer.hits]
            entry.lost = int(path not in hits)
            twins = {"hard link one.md", "hard link two.md"}
            entry.wrong = len(set(hits) - {path} - (twins if path in twins else set()))
            assert daemon.client.get(path).path == path
    status = daemon.status()
    assert (status.embedded, status.failed) == (status.notes, 0)
    # The second name of a hard link, and the empty folder that is no note.
    assert status.notes == len(vault.found) + 1
    unharmed(daemon.home)


def test_what_is_left_out_is_listed(known: Known, ledger: Ledger) -> None:
    """Each file that should be a note and cannot be is listed with its reason, and cannot be had."""
    daemon, vault, _ = known
    status = daemon.status(full=True)
    reasons = {str(note.path): note.reason for note in (*status.skipped_notes, *status.problem_notes)}
    for path, reason in vault.listed.items():
        with ledger.attempt("strange notes: listed"):
            assert reason in reasons.get(path, "in no list"), path
            with pytest.raises(NoteNotFound):
                daemon.client.get(path)
    for path, reason in vault.odd.items():
        assert reason in reasons.get(path, "in no list"), path
    assert set(reasons) >= set(vault.listed)
    print("not tried here:", vault.untried)


def test_what_is_kept_apart_is_in_no_answer(known: Known) -> None:
    """What is hidden, excluded or outside is neither found nor listed."""
    daemon, vault, _ = known
    for word in vault.silent:
        assert daemon.client.search(word, mode="words").hits == (), word
    status = daemon.status(full=True)
    listed = " ".join(str(note.path) for note in (*status.skipped_notes, *status.problem_notes))
    for name in (".trash", ".obsidian", ".git", "Excluded", "By Obsidian", "picture.png", ".markdown"):
        assert name not in listed


def test_nothing_in_the_vault_changes(known: Known) -> None:
    """After all of it, every file has its content, its mode, its times and its place; and none has been added."""
    daemon, vault, before = known
    daemon.client.reindex()
    looked = daemon.counters["full_scans"]
    daemon.until(lambda: daemon.counters["full_scans"] >= looked or None, "it has looked")
    made_good(daemon)
    assert fingerprint(vault.root) == before


def test_no_second_look_costs_anything(known: Known) -> None:
    """A look at everything reads none of them again, and asks the model for nothing."""
    daemon, _, _ = known
    before = daemon.counters
    daemon.client.reindex()
    daemon.until(lambda: daemon.counters["full_scans"] > before["full_scans"] or None, "it has looked")
    made_good(daemon)
    after = daemon.counters
    for name in ("notes_written", "notes_moved", "notes_deleted", "texts_embedded"):
        assert after[name] == before[name], name


def test_the_vault_can_be_made_anywhere() -> None:
    """The script that makes the vault makes the same twice, so that a figure from it means something."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        made = []
        for base in (Path(one), Path(two)):
            (base / "vault").mkdir()
            (base / "outside").mkdir()
            made.append(make(base / "vault", base / "outside"))
    assert made[0].found == made[1].found
    assert made[0].listed == made[1].listed
    assert len(made[0].found) >= 129
