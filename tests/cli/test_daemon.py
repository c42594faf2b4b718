"""up, stop and serve as processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Command, make_home, make_vault, on_terminal
from tests.support.daemons import until
from tests.support.ollama_server import OllamaServer
from vaultrag import __version__
from vaultrag.rpc.discovery import alive

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def test_up_serves_a_vault_and_says_what_is_there(command: Command, vault: Path) -> None:
    """``up`` returns when the words can be searched, and a second one finds the same daemon."""
    first = command.run("up", str(vault), code=0)
    assert "My notes: 4 notes, searchable by words (meaning search is switched off" in first.stdout
    pid = command.daemon_pid()
    assert alive(pid)
    assert command.run("up", str(vault), code=0).stdout == first.stdout
    assert command.run("up", code=0).stdout == first.stdout
    assert command.daemon_pid() == pid
    assert command.json("up")["notes"] == 4


def test_stop_ends_the_daemon_and_may_be_said_twice(command: Command, vault: Path) -> None:
    """When ``stop`` returns the process is gone; without one it says so and is content."""
    command.run("up", str(vault), code=0)
    pid = command.daemon_pid()
    assert f"process {pid}" in command.run("stop", code=0).stdout
    assert not alive(pid)
    assert not command.places.socket.exists()
    assert command.run("stop", code=0).stdout == "vaultrag is not running\n"
    assert command.json("stop") == {"stopped": False, "pid": 0}


def test_up_without_a_vault_says_how_to_add_one(command: Command) -> None:
    """A daemon may run with nothing to serve."""
    assert "vaultrag up ~/Notes" in command.run("up", code=0).stdout
    assert command.json("status")["state"] == "idle"


def test_up_does_not_wait_where_told_so(command: Command, vault: Path) -> None:
    """``--no-wait`` returns as soon as the vault is taken."""
    command.run("up", str(vault), "--no-wait", code=0)
    assert [known["root"] for known in command.json("vaults")] == [str(vault)]


def test_a_relative_path_is_from_here(command: Command, vault: Path) -> None:
    """The daemon has another working folder than the person."""
    command.run("up", f"../{vault.name}", cwd=vault, code=0)
    assert command.json("vaults")[0]["root"] == str(vault)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("missing", "VaultMissing"),
        ("empty", "VaultUnsuitable"),
        ("file", "VaultUnsuitable"),
        ("no notes", "VaultUnsuitable"),
        ("the index's own", "VaultUnsuitable"),
    ],
)
def test_a_folder_that_is_no_vault_is_refused(command: Command, tmp_path: Path, kind: str, error: str) -> None:
    """A wrong path is an error with the reason, and leaves no daemon behind that was started for it."""
    path = command.home if kind == "the index's own" else tmp_path / "wrong"
    if kind == "file":
        path.write_text("x")
    elif kind != "missing":
        path.mkdir(exist_ok=True)
    if kind == "no notes":
        (path / "picture.png").write_bytes(b"x")
    shown = command.json("up", str(path), code=2)["error"]
    assert shown["kind"] == error
    assert path.name in shown["message"]
    assert shown["hint"] or kind == "file"
    assert command.run("status", code=2).stderr.startswith("vaultrag: no daemon is running")


def test_a_wrong_vault_does_not_end_a_daemon_that_ran(command: Command, vault: Path, tmp_path: Path) -> None:
    """A daemon that serves others goes on."""
    command.run("up", str(vault), code=0)
    command.run("up", str(tmp_path / "nowhere"), code=2)
    assert len(command.json("vaults")) == 1


def test_settings_that_cannot_be_read_are_told_at_once(command: Command, vault: Path) -> None:
    """A mistake in the settings names the key and the nearest right one."""
    command.places.config_file.write_text('[embedder]\nprovidr = "off"\n')
    for args in (("up", str(vault)), ("serve",), ("config",)):
        err = command.run(*args, code=2).stderr
        assert "embedder.providr" in err
        assert "did you mean provider?" in err


def test_serve_runs_until_it_is_told_to_stop(command: Command, vault: Path) -> None:
    """In the foreground the daemon logs to stderr and ends cleanly at Ctrl+C; a second one is refused."""
    with command.start("serve", str(vault)) as process:
        try:
            serves = lambda: command.daemon_pid() == process.pid and command.run("status").returncode == 0  # noqa: E731
            until(serves, "it serves", 30)
            second = command.run("serve", code=2)
            assert f"running already (process {process.pid})" in second.stderr
            assert "Traceback" not in second.stderr
        finally:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == ""
    assert "INFO vaultrag" in err


def test_serve_refuses_what_is_no_vault(command: Command, tmp_path: Path) -> None:
    """A wrong path on the command line ends the daemon before it begins."""
    assert "there is no folder" in command.run("serve", str(tmp_path / "nowhere"), code=2).stderr


@pytest.fixture
def ollama() -> Iterator[OllamaServer]:
    server = OllamaServer().start()
    yield server
    server.stop()


@pytest.fixture
def with_ollama(tmp_path: Path, ollama: OllamaServer) -> Iterator[Command]:
    made = Command(make_home(tmp_path, f'[embedder]\nprovider = "ollama"\nhost = "{ollama.url}"\n'))
    yield made
    made.end()


def test_up_waits_for_vectors(with_ollama: Command, vault: Path) -> None:
    """When ``up`` returns, every note can be found by meaning."""
    out = with_ollama.run("up", str(vault), code=0).stdout
    assert "searchable by words and meaning (ollama nomic-embed-text)" in out
    (known,) = with_ollama.json("vaults")
    assert (known["notes"], known["embedded"], known["pending"]) == (4, 4, 0)
    assert with_ollama.json("search", "mechanical seal")["state"] == "full"


def test_up_has_a_missing_model_downloaded(with_ollama: Command, ollama: OllamaServer, vault: Path) -> None:
    """Without a terminal nobody is asked: the hint stands in the summary; ``--pull`` downloads."""
    ollama.models.clear()
    out = with_ollama.run("up", str(vault), code=0).stdout
    assert "searchable by words (" in out
    assert "ollama pull nomic-embed-text" in out
    assert ollama.calls["/api/pull"] == 0
    result = with_ollama.run("up", str(vault), "--pull", code=0)
    assert "Ollama downloads nomic-embed-text" in result.stderr
    assert "searchable by words and meaning" in result.stdout


@pytest.mark.parametrize(("answer", "downloads", "code"), [("y\n", 1, 0), ("n\n", 0, 0), ("\x04", 0, 130)])
def test_up_asks_a_person_before_a_download(
    with_ollama: Command, ollama: OllamaServer, vault: Path, answer: str, downloads: int, code: int
) -> None:
    """On a terminal the download is offered, and happens when it is wanted."""
    ollama.models.clear()
    streams = ("stdin", "stderr")
    ended, shown = on_terminal(with_ollama, streams, "up", str(vault), typed={"[Y/n]": answer})
    assert "Have Ollama download nomic-embed-text now?" in shown
    assert (ended, ollama.calls["/api/pull"]) == (code, downloads)


def test_up_draws_a_bar_on_a_terminal(with_ollama: Command, ollama: OllamaServer, tmp_path: Path) -> None:
    """While one waits the stage and the count are drawn, on stderr."""
    vault = make_vault(tmp_path / "Many", {f"{n}.md": f"note number {n}" for n in range(60)})
    ollama.script.delay_s = 0.3
    code, shown = on_terminal(Command(with_ollama.home, {"TERM": "xterm-256color"}), ("stderr",), "up", str(vault))
    assert code == 0
    assert "embedding" in shown
    assert "/60" in shown


def test_interrupting_up_leaves_the_daemon_at_work(with_ollama: Command, ollama: OllamaServer, tmp_path: Path) -> None:
    """Ctrl+C ends the waiting, not the work, and says so."""
    vault = make_vault(tmp_path / "Many", {f"{n}.md": f"note number {n}" for n in range(200)})
    ollama.script.delay_s = 0.5
    with with_ollama.start("up", str(vault)) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("embedding"):
                break
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the daemon goes on by itself" in err
    assert "Traceback" not in err
    assert with_ollama.json("status")["state"] == "embedding"
    assert with_ollama.json("search", "number 7", "--mode", "words")["hits"]
    ollama.script.delay_s = 0.0


def test_up_for_words_only_does_not_wait_for_vectors(
    with_ollama: Command, ollama: OllamaServer, tmp_path: Path
) -> None:
    """``--words-only`` returns while vectors are being made, and says that they are."""
    vault = make_vault(tmp_path / "Many", {f"{n}.md": f"note number {n}" for n in range(200)})
    ollama.script.delay_s = 0.5
    out = with_ollama.run("up", str(vault), "--words-only", code=0).stdout
    assert "Many: 200 notes" in out
    assert "meaning follows" in out
    ollama.script.delay_s = 0.0


@pytest.mark.model
def test_up_with_the_builtin_model(tmp_path: Path, vault: Path) -> None:
    """Right after install, with no server, notes are found by meaning."""
    others = ("bread", "rain", "trains", "chess", "cats", "paint", "taxes", "rivers", "music", "bees", "maps", "soup")
    make_vault(vault, {f"{name}.md": f"All I know about {name}." for name in others})
    command = Command(make_home(tmp_path, '[embedder]\nprovider = "builtin"\n'))
    try:
        assert "searchable by words and meaning (builtin" in command.run("up", str(vault), code=0).stdout
        answer = command.json("search", "when do I grease the bearings every quarter", "--mode", "meaning")
        assert answer["hits"][0]["path"] == "Pumps/Bearings.md"
    finally:
        command.end()


def test_up_tells_of_a_daemon_of_another_version(command: Command, vault: Path) -> None:
    """After an upgrade the old daemon goes on; ``up`` works with it, and says how to change over."""
    older = "import sys, vaultrag; vaultrag.__version__ = '0.0.9'; from vaultrag.cli import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", older, "serve", str(vault)], env=command.environment, stderr=subprocess.DEVNULL
    )
    until(command.places.discovery.exists, "it announces itself", 30)
    told = command.run("up", code=0)
    assert f"the daemon that runs is vaultrag 0.0.9, and this is {__version__}" in told.stderr
    assert "vaultrag stop && vaultrag up" in told.stderr
    assert "4 notes" in told.stdout
    command.run("stop", code=0)
    assert process.wait(30) == 0
    assert "the daemon that runs" not in command.run("up", str(vault), code=0).stderr
