"""What the machine around the daemon is like: few watches, a home in the wrong place, settings of somebody else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.daemons import REPOSITORY, daemon_home

NOBODY = 65_534


def command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one command with this home, and return what came of it."""
    environment = {**os.environ, "VAULTRAG_HOME": str(home), "PYTHONPATH": str(REPOSITORY), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "vaultrag", *words], capture_output=True, text=True, env=environment, check=False,
        timeout=60, cwd=home.parent,
    )  # fmt: skip


def namespaces() -> bool:
    """Whether a user namespace can be made, in which the number of watches can be bounded."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    made = subprocess.run(["unshare", "-Ur", "test", "-w", "/proc/sys/user/max_inotify_watches"], check=False)
    return made.returncode == 0


@pytest.mark.skipif(not namespaces(), reason="no user namespace can be made here")
def test_a_folder_without_a_watch_is_not_called_watched() -> None:
    """Where the system refuses a watch, as in a container with few, the vault is polled, and status says so and why."""
    with daemon_home({"watch": {"poll_s": 1.0}}) as home:
        for number in range(6):
            home.write(f"Folder {number}/Note.md", "text")
        few = 'echo 3 > /proc/sys/user/max_inotify_watches && exec "$@"'
        log = (home.base / "log").open("ab")
        process = subprocess.Popen(
            ["unshare", "-Ur", "sh", "-c", few, "sh", sys.executable, "-m", "vaultrag", "serve", str(home.vault)],
            env=home.environment(), stdout=log, stderr=log, cwd=home.base,
        )  # fmt: skip
        log.close()
        daemon = home.adopt(process)
        daemon.until(lambda: home.places.discovery.exists(), "the daemon answers")
        watching = daemon.ready().watching
        assert watching.startswith("polling"), watching
        assert "fs.inotify.max_user_watches" in watching
        home.write("Folder 5/Late.md", "a latecomer")
        daemon.found("latecomer", "Folder 5/Late.md", 10.0)


def test_a_home_inside_the_vault_leaves_nothing_behind(tmp_path: Path) -> None:
    """A vault that would hold vaultrag's own folder is refused before anything is made in it."""
    vault = tmp_path / "Notes"
    vault.mkdir()
    (vault / "a.md").write_text("text")
    done = command(vault / ".vaultrag", "up", str(vault))
    assert done.returncode == 2
    assert "must not lie inside the vault" in done.stderr
    assert [path.name for path in vault.iterdir()] == ["a.md"]


def test_a_vault_inside_another_is_told(tmp_path: Path) -> None:
    """Serving a folder of a vault that is served already says that its notes are in both."""
    with daemon_home() as home:
        home.write("a.md", "text")
        home.write("Inner/b.md", "text")
        home.start().ready()
        done = command(home.path, "up", "--words-only", str(home.vault / "Inner"))
        assert done.returncode == 0, done.stderr
        assert "lies inside" in done.stderr
        assert "in both" in done.stderr


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file away")
def test_settings_of_somebody_else_are_refused(tmp_path: Path) -> None:
    """Settings decide what agents may see: a file that another user owns is not read."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('[embedder]\nprovider = "off"\n')
    os.chown(home / "config.toml", NOBODY, NOBODY)
    done = command(home, "config")
    assert done.returncode == 2
    assert "belongs to another user" in done.stderr
    os.chown(home / "config.toml", 0, 0)
    assert command(home, "config").returncode == 0
