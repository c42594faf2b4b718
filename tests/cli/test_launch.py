"""Starting the daemon in the background, where it goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import Command, make_vault
from tests.support.daemons import until
from vaultrag.client.launch import LOG_BYTES, failure_in, wait_until_gone
from vaultrag.errors import DaemonFailed
from vaultrag.rpc.discovery import alive

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def test_the_reason_is_the_last_failure_in_the_log(tmp_path: Path) -> None:
    """Why the daemon ended is what it said last, with its own hint, and nothing from runs before."""
    log = tmp_path / "log"
    old = "vaultrag: an old story\n"
    log.write_text(f"{old}2026 INFO something\nvaultrag: the file x is broken\n  try: remove x\n2026 INFO bye\n")
    failure = failure_in(log, len(old))
    assert failure.message == "the daemon ended before it served: the file x is broken"
    assert failure.hint == "remove x"
    log.write_text("Traceback\n  File\nImportError: no module\n\n")
    assert failure_in(log, 0).message.endswith("ImportError: no module")
    assert str(log) in failure_in(log, 0).hint
    assert failure_in(log, 10_000).message.endswith("it said nothing")
    assert failure_in(tmp_path / "none", 0).message.endswith("it said nothing")


def test_a_daemon_that_cannot_start_says_why(command: Command, vault: Path) -> None:
    """A damaged list of vaults ends the start at once, and the reason reaches the person."""
    command.places.registry.parent.mkdir(parents=True)
    command.places.registry.write_text("{")
    result = command.run("up", str(vault), code=2)
    assert "the daemon ended before it served" in result.stderr
    assert str(command.places.registry) in result.stderr
    assert "Traceback" not in result.stderr
    assert command.json("search", "seal", code=2)["error"]["kind"] == "DaemonFailed"


def test_a_home_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    """Where nothing can be written nothing is started."""
    (tmp_path / "home").write_text("")
    command = Command(tmp_path / "home")
    for args in (("search", "seal"), ("up",), ("serve",)):
        assert command.run(*args, code=2).stderr.startswith("vaultrag: ")


def test_two_that_start_it_at_once_get_one_daemon(command: Command, vault: Path) -> None:
    """Commands that start the daemon at the same moment share it."""
    processes = [command.start("up", str(vault)) for _ in range(3)]
    for process in processes:
        with process:
            out, err = process.communicate(timeout=100)
            assert process.returncode == 0, err
            assert "4 notes" in out
    assert command.json("status")["pid"] == command.daemon_pid()


def test_the_log_is_private_and_begun_anew_when_long(command: Command, vault: Path) -> None:
    """The log cannot grow for ever, and only its owner may read it."""
    log = command.places.log
    log.parent.mkdir(parents=True)
    log.touch(0o600)
    os.truncate(log, LOG_BYTES + 1)
    command.run("up", str(vault), code=0)
    assert log.stat().st_size < 10_000
    assert log.stat().st_mode & 0o777 == 0o600
    assert "serves" in log.read_text("utf-8")


def test_the_daemon_takes_no_module_from_the_folder_one_is_in(command: Command, tmp_path: Path) -> None:
    """A file in a vault that has a module's name is never run."""
    trap = make_vault(tmp_path / "trap", {"a.md": "pump"})
    (trap / "msgspec.py").write_text("raise SystemExit('caught')")
    (trap / "vaultrag.py").write_text("raise SystemExit('caught')")
    entry = Path(sys.executable).with_name("vaultrag")
    argv = [str(entry)] if entry.exists() else [sys.executable, "-P", "-m", "vaultrag"]
    result = subprocess.run(
        [*argv, "up", "."], cwd=trap, env=command.environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert result.returncode == 0, result.stderr


def test_a_process_that_has_ended_is_not_alive() -> None:
    """A process counts as gone when it has ended, whether or not its parent has noticed."""
    assert alive(os.getpid())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert alive(child.pid)
        with pytest.raises(DaemonFailed, match="has not ended"):
            wait_until_gone(child.pid, 0.1)
        assert child.stdin is not None
        child.stdin.close()
        until(lambda: not alive(child.pid), "the child has ended", 30)
    assert not alive(child.pid)
