"""``vaultrag why``: each reason for which a note is not found, from the daemon and from the files alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Command, make_home, make_vault
from tests.support.daemons import OllamaProcess, ollama_process, until

NOTES = {
    "Pump.md": "---\ntags: [plant]\n---\n# Pump\n\nThe seal leaks.\n\nChange the gasket.\n",
    "Diary/Monday.md": "Private words.\n",
    "Mine.md": "---\nprivate: true\n---\nMy own.\n",
    "Tagged.md": "A note. #secret/deep\n",
    "Drafts/Plan.md": "Not yet.\n",
    "Old/Paper.md": "Old.\n",
    "Kept/Log.md": "Log.\n",
    "Big.md": "x" * 2_000,
    "Pump (Ann's conflicted copy 2026-01-02).md": "copy\n",
    ".vaultragignore": "# what is not finished\nDrafts/\n",
    ".obsidian/app.json": '{"userIgnoreFilters": ["Old/"]}',
}
SETTINGS = """
[embedder]
provider = "ollama"
host = "{url}"
[notes]
max_bytes = 1000
ignore = ["Kept/"]
[privacy]
paths = ["Diary/"]
tags = ["secret"]
[watch]
debounce_ms = 100
"""

EXPECTED = {
    "Drafts/Plan.md": ("excluded", ".vaultragignore, line 2: Drafts/"),
    "Old/Paper.md": ("excluded", "one of Obsidian's excluded files (.obsidian/app.json): Old/"),
    "Kept/Log.md": ("excluded", "the notes.ignore setting: Kept/"),
    ".obsidian/x.md": ("excluded", "in a hidden folder"),
    "Pump (Ann's conflicted copy 2026-01-02).md": ("excluded", "a sync-conflict copy"),
    "Big.md": ("skipped", "over the limit of 1 kB (notes.max_bytes)"),
    "Pmup.md": ("absent", "there is no such note in the vault"),
}


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaProcess]:
    with ollama_process() as server:
        yield server


@pytest.fixture(scope="module")
def known(ollama: OllamaProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """A command whose daemon serves these notes."""
    base = tmp_path_factory.mktemp("why")
    made = Command(make_home(base, SETTINGS.format(url=ollama.url)))
    try:
        made.run("up", str(make_vault(base / "My notes", NOTES)), code=0)
        until(lambda: made.json("status")["vaults"][0]["passages_pending"] == 0, "all passages are made", 30)
        yield made
    finally:
        made.end()


def root(command: Command) -> Path:
    return command.home.parent / "My notes"


PRIVATE = {"Diary/Monday.md": "privacy.paths", "Mine.md": "property private", "Tagged.md": "tag #secret/deep"}


def why(command: Command, path: str) -> Any:
    return whys(command, path)[path]


def whys(command: Command, *paths: str) -> dict[str, Any]:
    """Return what is told of each path."""
    answers = {}
    for path, (code, text) in zip(paths, command.run_all(*(["why", path, "--json"] for path in paths)), strict=True):
        answers[path] = json.loads(text)
        assert code == (0 if answers[path]["standing"] == "indexed" else 1), (path, text)
    return answers


def check_all(command: Command) -> None:
    answers = whys(command, *EXPECTED, *PRIVATE, "Pump")
    for path, (standing, reason) in EXPECTED.items():
        found = answers[path]
        assert (found["standing"], reason in found["why"]) == (standing, True), (path, found)
    assert answers["Pmup.md"]["near"] == ["Pump.md"]
    for path, reason in PRIVATE.items():
        found = answers[path]
        assert found["standing"] == "indexed"
        assert reason in found["kept_from_agents"]
    found = answers["Pump"]
    assert (found["standing"], found["path"], found["kept_from_agents"]) == ("indexed", "Pump.md", "")
    assert found["saved_ns"] == (root(command) / "Pump.md").stat().st_mtime_ns
    assert found["covered"] == pytest.approx(1.0)
    assert found["passages"]
    assert all(4 <= lines["first"] <= lines["last"] <= 8 for lines in found["passages"])


def test_a_running_daemon_tells(known: Command) -> None:
    """Each reason names the rule, with its file and line where it stands in one, or the fault; and what helps."""
    check_all(known)
    said = known.run("why", "Pmup", code=1).stdout
    assert "did you mean Pump.md?" in said
    said = known.run("why", "Drafts/Plan.md", code=1).stdout
    assert "not found: excluded" in said
    assert "try: take the line out of .vaultragignore" in said
    said = known.run("why", str(root(known) / "Pump.md"), code=0).stdout
    assert "Pump.md: found" in said
    assert "indexed: the version saved on 20" in said
    assert "its vector stands for all of its text, with " in said


def test_a_file_in_no_vault_is_told(known: Command, tmp_path: Path) -> None:
    """A note in a folder that nobody serves is told so, with the command that would serve its vault."""
    other = make_vault(tmp_path / "Other", {"deep/Note.md": "x", ".obsidian/app.json": "{}"})
    found = why(known, str(other / "deep/Note.md"))
    assert found["standing"] == "outside"
    assert found["hint"] == f"vaultrag up '{other}'"
    assert why(known, str(other / "Nothing.md"))["standing"] == "absent"
    done = known.run("why", "Pump.md", "--vault", "elsewhere", code=2)
    assert "no vault elsewhere is served" in done.stderr


def test_the_files_tell_as_much(ollama: OllamaProcess, tmp_path: Path) -> None:
    """Without a daemon the same is read from the index, which stays as it is; what changed meanwhile is told."""
    command = Command(make_home(tmp_path, SETTINGS.format(url=ollama.url)))
    vault = make_vault(tmp_path / "My notes", NOTES)
    try:
        command.run("up", str(vault), code=0)
        until(lambda: command.json("status")["vaults"][0]["passages_pending"] == 0, "all passages are made", 30)
        command.run("stop", code=0)
        files = {path: path.read_bytes() for path in command.places.data.rglob("*.db")}
        assert len(files) == 2
        check_all(command)
        (vault / "New.md").write_text("New.\n")
        found = why(command, "New.md")
        assert (found["standing"], found["hint"]) == ("waiting", "vaultrag up")
        (vault / "Pump.md").write_text("Longer than it was before, by some.\n")
        assert why(command, "Pump.md")["standing"] == "stale"
        (vault / "Pump.md").unlink()
        assert why(command, "Pump.md")["standing"] == "gone"
        (vault / ".vaultragignore").write_text("\n\nTagged.md\n")
        found = why(command, "Tagged.md")
        assert (found["standing"], "line 3" in found["why"]) == ("excluded", True)
        assert {path: path.read_bytes() for path in files} == files
        assert command.daemon_pid() == 0
    finally:
        command.end()


def test_without_an_index_the_next_step_is_told(command: Command, vault: Path) -> None:
    """A vault that was never indexed, and none at all, are each answered with what to do."""
    done = command.run("why", "Pump.md", code=2)
    assert "no vault is served" in done.stderr
    command.run("up", str(vault), code=0)
    command.run("stop", code=0)
    for path in command.places.data.rglob("hybrid-fts.db*"):
        path.unlink()
    found = why(command, "Garden/Tomatoes.md")
    assert (found["standing"], found["hint"]) == ("waiting", f"vaultrag up '{vault}'")


def test_what_is_not_embedded_is_told(ollama: OllamaProcess, tmp_path: Path) -> None:
    """A note that the model has refused, or not reached yet, is found by its words only, and it says why."""
    command = Command(make_home(tmp_path, SETTINGS.format(url=ollama.url)))
    vault = make_vault(tmp_path / "My notes", {"Good.md": "fine\n", "Bad.md": "poisonword\n"})
    ollama.script(poison={"poisonword": "bad"})
    try:
        command.run("up", str(vault), code=0)
        until(lambda: command.json("status")["vaults"][0]["failed"] == 1, "one note has failed", 30)
        found = why(command, "Bad.md")
        assert found["standing"] == "indexed"
        assert "it has no vector" in found["meaning"]
        assert found["covered"] is None
        assert why(command, "Good.md")["meaning"] == ""
        command.run("stop", code=0)
        assert "it has no vector" in why(command, "Bad.md")["meaning"]
    finally:
        ollama.script(poison={})
        command.end()


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_told(command: Command, vault: Path) -> None:
    """A note whose file is closed to the daemon says so."""
    (vault / "Closed.md").write_text("x")
    (vault / "Closed.md").chmod(0)
    command.run("up", str(vault), code=0)
    assert why(command, "Closed.md")["standing"] == "unreadable"
