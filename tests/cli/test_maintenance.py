"""status, reindex, vaults and config as processes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.support.commands import Command, make_home, make_vault
from tests.support.daemons import ollama_process
from vaultrag import __version__
from vaultrag.build import build_id
from vaultrag.config import Settings, load, parse

pytestmark = pytest.mark.timeout(180)


def test_status_for_scripts_has_the_figures_at_the_top(served: Command) -> None:
    """``status --json`` is the daemon's own status."""
    status = served.json("status")
    assert {"pid", "state", "notes", "pending", "skipped", "embedder", "version", "uptime_s", "vaults"} <= set(status)
    assert (status["state"], status["notes"], status["version"]) == ("ready", 4, __version__)
    assert status["vaults"][0]["name"] == "My notes"


def test_status_for_people_names_the_vault(served: Command) -> None:
    """A person sees daemon, embedder and vault, on a pipe without colours."""
    out = served.run("status", code=0).stdout
    for part in ("ready", "4 notes", "My notes", "meaning search is switched off"):
        assert part in out
    assert "\x1b" not in out


def test_status_in_full_lists_odd_notes(command: Command, vault: Path) -> None:
    """A note whose header cannot be read is listed with the reason."""
    (vault / "Broken.md").write_text("---\ntags: [a\n---\ntext\n")
    assert "1 odd: vaultrag status --full" in command.run("up", str(vault), code=0).stdout
    assert "Broken.md: " in command.run("status", "--full", code=0).stdout
    assert command.json("status", "--full")["vaults"][0]["problem_notes"][0]["path"] == "Broken.md"


@pytest.mark.parametrize("args", [("status",), ("vaults",), ("reindex",), ("get", "x.md"), ("related", "x.md")])
def test_without_a_daemon_there_is_an_error(command: Command, args: tuple[str, ...]) -> None:
    """Commands that need the daemon say that it is not running, and how to start it."""
    result = command.run(*args, code=2)
    assert result.stderr == "vaultrag: no daemon is running\n  try: vaultrag up\n"
    assert command.json(*args, code=2) == {
        "error": {
            "kind": "DaemonNotRunning",
            "code": -32031,
            "message": "no daemon is running",
            "hint": "vaultrag up",
        }
    }


def test_reindex_believes_the_disk(command: Command, vault: Path) -> None:
    """After ``reindex --wait`` the index is what is on the disk."""
    command.run("up", str(vault), code=0)
    for name in ("Pumps/Bearings.md", "Garden/Tomatoes.md", "日本語.md"):
        (vault / name).unlink()
    (vault / "New.md").write_text("quinces")
    assert command.run("reindex", "--wait", code=0).stdout == "My notes: 2 notes, up to date\n"
    assert "New.md" in command.run("search", "quinces", code=0).stdout
    assert command.json("reindex")["name"] == "My notes"
    assert "no vault" in command.run("reindex", "--vault", "nope", code=2).stderr


def test_vaults_are_listed_and_removed(command: Command, vault: Path) -> None:
    """A vault that is removed is served no longer, and its notes stay."""
    command.run("up", str(vault), code=0)
    assert command.run("vaults", code=0).stdout == f"My notes  4 notes  ready  {vault}\n"
    assert command.json("vaults")[0]["notes"] == 4
    assert "its index stays" in command.run("vaults", "remove", "My notes", code=0).stdout
    assert "vaultrag up" in command.run("vaults", code=0).stdout
    assert command.json("vaults") == []
    assert command.json("vaults", "remove", "My notes", code=2)["error"]["kind"] == "VaultUnknown"
    assert (vault / "日本語.md").exists()


def test_config_prints_what_is_in_force(command: Command) -> None:
    """The settings are printed as a file that means the same, and where they come from."""
    out = command.run("config", code=0).stdout
    assert out.startswith(f"# {command.places.config_file}\n")
    assert parse(tomllib.loads(out)) == load(command.places.config_file)
    shown = command.json("config")
    assert shown["settings"]["embedder"]["provider"] == "off"
    assert shown["exists"] is True
    assert command.run("config", "path", code=0).stdout == f"{command.places.config_file}\n"


def test_config_init_never_writes_over_a_file(command: Command, tmp_path: Path) -> None:
    """A settings file is made where there is none, and left alone where there is."""
    before = command.places.config_file.read_text()
    assert command.json("config", "init", code=2)["error"]["kind"] == "ConfigError"
    assert command.places.config_file.read_text() == before
    fresh = Command(tmp_path / "fresh")
    assert "not there" in fresh.run("config", code=0).stdout
    fresh.run("config", "init", code=0)
    assert load(fresh.places.config_file) == Settings()
    assert fresh.places.config_file.stat().st_mode & 0o777 == 0o600


def test_the_version_is_printed(command: Command) -> None:
    """``--version`` and a bare ``vaultrag`` need no daemon; the first names the build too."""
    first, second = command.run("--version", code=0).stdout.splitlines()
    assert first == f"vaultrag {__version__}"
    assert second.startswith(f"build {build_id()}, Python 3.")
    assert "search" in command.run(code=0).stdout


def test_version_build_and_index_are_told(tmp_path: Path) -> None:
    """`status` says which build the daemon is and what the vectors were made with; `--version` says so of the disk."""
    with ollama_process() as ollama:
        command = Command(make_home(tmp_path, f'[embedder]\nprovider = "ollama"\nhost = "{ollama.url}"\n'))
        try:
            command.run("up", str(make_vault(tmp_path / "Notes")), code=0)
            told = command.json("status")
            assert told["build"] == build_id()
            identity = told["vaults"][0]["identity"]
            assert identity == told["embedder"]["identity"]
            shown = command.run("status", code=0).stdout
            assert f"(build {build_id()})" in shown
            assert f"index: identity {identity}" in shown
            wanted = f"index of Notes: identity {identity} (ollama nomic-embed-text)"
            assert command.run("--version", code=0).stdout.splitlines()[2] == wanted
            command.run("stop", code=0)
            assert command.run("--version", code=0).stdout.splitlines()[2] == wanted
            for path in command.places.data.rglob("obsidian_notes.db*"):
                path.unlink()
            assert command.run("--version", code=0).stdout.splitlines()[2] == "index of Notes: words only"
        finally:
            command.end()


def test_debug_shows_where_a_failure_arose(command: Command) -> None:
    """A traceback is for those who ask for it, by option or by environment."""
    assert "Traceback" in command.run("--debug", "status", code=2).stderr
    assert "Traceback" in Command(command.home, {"VAULTRAG_DEBUG": "1"}).run("status", code=2).stderr
    assert "Traceback" not in Command(command.home, {"VAULTRAG_DEBUG": "0"}).run("status", code=2).stderr
