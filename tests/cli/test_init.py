"""``vaultrag init``: from an installation to the first answer, asked on a terminal or told by options."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Command, make_vault, on_terminal
from tests.support.daemons import REPOSITORY, ollama_process
from tests.tui.terminals import script
from vaultrag.install.obsidian import known_vaults
from vaultrag.install.plugin import FILES, FOLDER

pytestmark = pytest.mark.timeout(180)

PLUGIN = REPOSITORY / "plugin-bridge/obsidian"


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Command]:
    """A person whose Obsidian knows two vaults and one that is gone; nothing of vaultrag's is there yet."""
    manager = script(tmp_path / "systemctl", 'echo "Failed to connect to bus" >&2; exit 1')  # never the machine's own
    told = {"HOME": str(tmp_path / "person"), "XDG_CONFIG_HOME": "", "PATH": str(manager.parent)}
    made = Command(tmp_path / "vr", told)
    vaults = {}
    for number, name in enumerate(("Old", "Work", "Gone")):
        root = tmp_path / "person" / name
        if name != "Gone":
            make_vault(root, {f"{name} note.md": f"Something about {name}.\n", ".obsidian/app.json": "{}"})
        vaults[f"id{number}"] = {"path": str(root), "ts": number}
    register(tmp_path / "person/.config/obsidian", vaults)
    yield made
    made.end()


def register(folder: Path, vaults: object) -> None:
    folder.mkdir(parents=True)
    (folder / "obsidian.json").write_text(json.dumps({"vaults": vaults}))


def person(command: Command) -> Path:
    return Path(command.extra["HOME"])


def contents(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


OFF = ("--embedder", "off", "--no-service", "--no-plugin")


def test_options_answer_everything(newcomer: Command) -> None:
    """With each step told, nothing is asked: the vault is served, the first search is shown, the vault is untouched."""
    before = contents(person(newcomer) / "Work")
    said = newcomer.run("init", "--vault", str(person(newcomer) / "Work"), *OFF, code=0).stdout
    assert "Work: 1 note, searchable by words" in said
    assert '$ vaultrag search "Work note"' in said
    assert "Something about Work." in said
    assert "vaultrag doctor" in said
    assert contents(person(newcomer) / "Work") == before
    assert newcomer.json("config")["settings"]["embedder"]["provider"] == "off"
    again = newcomer.run("init", "--vault", str(person(newcomer) / "Work"), *OFF, "--query", "about", code=0).stdout
    assert '$ vaultrag search "about"' in again


def test_which_vault_must_be_said(newcomer: Command) -> None:
    """Without a terminal and with several vaults, those that are there are named, the one opened last first."""
    for more in ((), ("--yes",)):
        done = newcomer.run("init", *OFF, *more, code=2)
        assert f"{person(newcomer) / 'Work'}, {person(newcomer) / 'Old'}" in done.stderr
        assert "Gone" not in done.stderr
        assert f"try: vaultrag init --vault '{person(newcomer) / 'Work'}'" in done.stderr
    assert newcomer.daemon_pid() == 0
    done = newcomer.run("init", "--vault", "/no/such/folder", *OFF, code=2)
    assert "there is no folder /no/such/folder" in done.stderr


def test_without_obsidian(newcomer: Command) -> None:
    """Where Obsidian knows no vault, the option is named."""
    shutil.rmtree(person(newcomer) / ".config")
    assert "try: vaultrag init --vault ~/Notes" in newcomer.run("init", *OFF, code=2).stderr


def test_the_only_vault_is_taken(newcomer: Command) -> None:
    """With --yes and one vault there is nothing left to say; no service is no reason to fail."""
    shutil.rmtree(person(newcomer) / "Old")
    before = contents(person(newcomer) / "Work")
    done = newcomer.run("init", "--yes", "--embedder", "off", code=0)
    assert "Work: 1 note" in done.stdout
    assert contents(person(newcomer) / "Work") == before  # yes to all is not yes to the plugin
    assert "the service is left out" in done.stderr or sys.platform != "linux"


def test_a_service_that_was_asked_for_and_cannot_be_had(newcomer: Command) -> None:
    """What was asked for by an option and failed makes the command fail, after everything else has been done."""
    newcomer.extra["PATH"] = "/nonexistent"
    done = newcomer.run("init", "--vault", str(person(newcomer) / "Work"), "--embedder", "off", "--service", code=2)
    assert "Something about Work." in done.stdout
    assert "the service: there is no systemd here" in done.stderr


def test_the_plugin_is_put_where_obsidian_looks(newcomer: Command, tmp_path: Path) -> None:
    """Asked for, the plugin's files and nothing else are in the vault; not built, what builds it is told."""
    root = person(newcomer) / "Work"
    command = ("init", "--vault", str(root), "--embedder", "off", "--no-service", "--plugin")
    clone = tmp_path / "clone"
    shutil.copytree(REPOSITORY / "vaultrag", clone / "vaultrag", ignore=shutil.ignore_patterns("__pycache__"))
    (clone / "plugin-bridge/obsidian").mkdir(parents=True)
    for name in ("manifest.json", "styles.css"):
        shutil.copy(PLUGIN / name, clone / "plugin-bridge/obsidian")
    newcomer.extra["PYTHONPATH"] = str(clone)
    done = newcomer.run(*command, code=2, cwd=tmp_path)
    assert "has not been built yet" in done.stderr
    assert f"make -C '{clone}' plugin" in done.stderr
    assert not (root / FOLDER).exists()
    (clone / "plugin-bridge/obsidian/main.js").write_text("/* built */")
    before = contents(root)
    done = newcomer.run(*command, code=0, cwd=tmp_path)
    assert "Community plugins" in done.stderr
    added = contents(root) - before
    assert {path for path in added if (root / path).is_file()} == {f"{FOLDER}/{name}" for name in FILES}


def test_the_model_is_offered(newcomer: Command) -> None:
    """Where Ollama runs without the model, it is downloaded if that is wished, and told of if not."""
    with ollama_process("--no-models") as server:
        settings = f'[embedder]\nprovider = "ollama"\nhost = "{server.url}"\n'
        newcomer.home.mkdir()
        newcomer.places.config_file.write_text(settings)
        root = str(person(newcomer) / "Work")
        done = newcomer.run("init", "--vault", root, "--no-service", "--no-pull", code=0)
        assert "has no model nomic-embed-text" in done.stderr
        done = newcomer.run("init", "--vault", root, "--no-service", "--pull", code=0)
        assert "Ollama downloads nomic-embed-text" in done.stderr
        assert "Ollama has nomic-embed-text" in newcomer.run("init", "--vault", root, "--no-service", code=0).stderr
        done = newcomer.run("init", "--vault", root, "--embedder", "builtin", "--no-service", code=2)
        assert "names another embedder" in done.stderr
        assert newcomer.places.config_file.read_text() == settings


def test_a_person_is_asked(newcomer: Command) -> None:
    """On a terminal the vaults are listed, each step is asked for, and the answers are followed."""
    code, shown = on_terminal(
        newcomer,
        ("stdin", "stdout", "stderr"),
        "init",
        "--embedder",
        "off",
        typed={"Which vault [1]": "2\n", "as a service? [Y/n]": "n\n", "plugin into the vault? [Y/n]": "n\n"},
    )
    assert code == 0, shown
    assert "1  " in shown
    assert "Old: 1 note" in shown
    assert '$ vaultrag search "Old note"' in shown
    assert contents(person(newcomer) / "Old") == {"Old note.md", ".obsidian", ".obsidian/app.json"}


def test_obsidians_lists_are_found(tmp_path: Path) -> None:
    """Each place where Obsidian may keep its list is read, the vault opened last first; a broken one is no fault."""
    places = (
        ".config/obsidian",
        ".var/app/md.obsidian.Obsidian/config/obsidian",
        "snap/obsidian/current/.config/obsidian",
        "Library/Application Support/obsidian",
        "AppData/obsidian",
    )
    for number, place in enumerate(places):
        register(tmp_path / place, {f"v{number}": {"path": f"/vault {number}", "ts": number}})
    found = known_vaults(tmp_path, {"APPDATA": str(tmp_path / "AppData")})
    assert list(found.values()) == [Path(f"/vault {number}") for number in reversed(range(5))]
    (tmp_path / places[0] / "obsidian.json").write_text('{"vaults": {"a": {"ts": "x"}}}')
    (tmp_path / places[1] / "obsidian.json").write_text("{")
    assert len(known_vaults(tmp_path, {})) == 2
    assert known_vaults(tmp_path / "nobody", {}) == {}
