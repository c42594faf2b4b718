"""What service managers are given to read: systemd's units, which its own checker reads too, and other systems' files.

launchd's list and the Windows task are tested as text only: neither system is here.
"""

from __future__ import annotations

import plistlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from tests.support.commands import Command
from vaultrag.errors import ServiceError
from vaultrag.install.plans import Command as ManagerCommand
from vaultrag.install.plans import Plan, Where, installing, removing, texts
from vaultrag.install.service_managers import carry_out, systemd_state
from vaultrag.install.units import Launch, launchd_plist, service_unit, socket_unit, windows_task

ANALYZE = shutil.which("systemd-analyze")
REPOSITORY = Path(__file__).parents[2]

PLAIN = Launch(
    program=("/usr/bin/true", "-P", "-m", "vaultrag", "serve"),
    data="/home/you/.local/share/obsidian-rag",
    runtime="/run/user/1000/vaultrag",
    socket="/run/user/1000/vaultrag/daemon.sock",
    log="/home/you/.local/share/obsidian-rag/daemon.log",
)
ODD = Launch(
    program=("/usr/bin/env", "50% of $HOME", 'a "quoted" \\ word'),
    data="/home/you/My data; 100%",
    runtime="/home/you/My data; 100%/run",
    socket="/home/you/My data; 100%/run/daemon.sock",
    log="/home/you/My data; 100%/daemon.log",
    environment={"VAULTRAG_HOME": "/home/you/My $data; 100%"},
)


def directives(unit: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in unit.splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def test_the_service_may_write_its_own_folders_only() -> None:
    """Everything is read-only to the daemon but its data and its runtime folder; it gains no rights."""
    said = directives(service_unit(PLAIN))
    assert said["ProtectSystem"] == ["strict"]
    assert said["ProtectHome"] == ["read-only"]
    assert said["ReadWritePaths"] == [f"-{PLAIN.data}", f"-{PLAIN.runtime}"]
    assert said["NoNewPrivileges"] == said["PrivateTmp"] == ["yes"]
    assert said["RestrictAddressFamilies"] == ["AF_UNIX AF_INET AF_INET6"]
    assert said["UMask"] == ["0077"]
    for name in ("Nice", "IOSchedulingClass", "CPUWeight", "MemoryHigh", "MemoryMax", "WatchdogSec"):
        assert name in said


def test_the_socket_is_the_users_own() -> None:
    """systemd makes the socket where clients look, for its owner only."""
    said = directives(socket_unit(PLAIN))
    assert said["ListenStream"] == [PLAIN.socket]
    assert said["SocketMode"] == ["0600"]
    assert said["DirectoryMode"] == ["0700"]


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed: apt install systemd")
@pytest.mark.parametrize("launch", [PLAIN, ODD], ids=["plain", "odd"])
def test_systemd_understands_the_units(tmp_path: Path, launch: Launch) -> None:
    """systemd's own checker has nothing to say about them, whatever signs the paths hold."""
    paths = [tmp_path / "vaultrag.service", tmp_path / "vaultrag.socket"]
    for path, text in zip(paths, (service_unit(launch), socket_unit(launch)), strict=True):
        path.write_text(text)
    (tmp_path / "run").mkdir(mode=0o700)
    done = subprocess.run(
        [str(ANALYZE), "--user", "verify", *map(str, paths)],
        capture_output=True, text=True, timeout=60, check=False, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin",
        "XDG_RUNTIME_DIR": str(tmp_path / "run")},
    )  # fmt: skip
    ours = [line for line in done.stderr.splitlines() if "vaultrag" in line]
    assert (done.returncode, ours) == (0, [])


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed: apt install systemd")
def test_the_checker_would_object(tmp_path: Path) -> None:
    """The checker is asked in a way in which it does complain: a misspelled setting is told."""
    path = tmp_path / "vaultrag.service"
    path.write_text(service_unit(PLAIN).replace("ProtectSystem=", "ProtecSystem="))
    (tmp_path / "run").mkdir(mode=0o700)
    done = subprocess.run(
        [str(ANALYZE), "--user", "verify", str(path)],
        capture_output=True, text=True, timeout=60, check=False, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin",
        "XDG_RUNTIME_DIR": str(tmp_path / "run")},
    )  # fmt: skip
    assert "ProtecSystem" in done.stderr


def test_launchd_reads_the_agent() -> None:
    """The property list says what to start, when, and where what it says goes."""
    table = plistlib.loads(launchd_plist(ODD).encode())
    assert table["ProgramArguments"] == list(ODD.program)
    assert table["EnvironmentVariables"] == dict(ODD.environment)
    assert table["KeepAlive"] == {"SuccessfulExit": False}
    assert table["StandardErrorPath"] == ODD.log
    assert table["RunAtLoad"] is True
    assert table["Umask"] == 0o077


def test_windows_reads_the_task() -> None:
    """The task is well-formed, starts at logon without rights of its own, and is not ended for running long."""
    launch = Launch((r"C:\Py & Co\python.exe", "-m", "vaultrag", "up", "--no-wait"), r"C:\D", r"C:\D\run", "", "")
    root = ElementTree.fromstring(windows_task(launch, r"PC\you & me").encode("utf-16"))
    spaces = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}

    def text(path: str) -> str:
        return root.findtext(path, "", spaces)

    assert text("t:Actions/t:Exec/t:Command") == r"C:\Py & Co\python.exe"
    assert text("t:Actions/t:Exec/t:Arguments") == "-m vaultrag up --no-wait"
    assert text("t:Triggers/t:LogonTrigger/t:UserId") == r"PC\you & me"
    assert text("t:Principals/t:Principal/t:RunLevel") == "LeastPrivilege"
    assert text("t:Settings/t:ExecutionTimeLimit") == "PT0S"


MANAGERS = {
    "systemd": Where("systemd", PurePosixPath("/home/you/.config/systemd/user")),
    "launchd": Where("launchd", PurePosixPath("/Users/you/Library/LaunchAgents"), "501"),
    "windows": Where("windows", PureWindowsPath(r"C:\Users\you\data"), r"PC\you"),
}


@pytest.mark.parametrize("where", MANAGERS.values(), ids=MANAGERS)
def test_what_is_installed_is_removed(where: Where) -> None:
    """Removing takes away every file that installing writes; that there was none to remove is no fault."""
    plan, back = installing(where, PLAIN), removing(where)
    assert set(back.removed) == set(plan.written) == set(texts(where, PLAIN))
    assert all(command.may_fail for command in (*back.before, *back.after))
    assert plan.after
    assert not installing(where, PLAIN, start=False).after


class Recorder:
    """A manager that does as it is told, and fails where it is to."""

    def __init__(self, failing: str = "") -> None:
        self.ran: list[str] = []
        self._failing = failing

    def __call__(self, command: ManagerCommand) -> str:
        self.ran.append(" ".join(command.words))
        if self._failing and self._failing in self.ran[-1] and not command.may_fail:
            raise ServiceError("it failed")
        return ""


def test_a_plan_is_carried_out_in_order(tmp_path: Path) -> None:
    """Files are there, in their encoding, before the manager hears of them; and gone before it hears of that."""
    where = Where("windows", tmp_path / "new folder", "you")
    recorder = Recorder()
    carry_out(installing(where, PLAIN), recorder)
    file = Path(where.files[0])
    assert file.read_text("utf-16").startswith("<?xml")
    assert recorder.ran[0].startswith("schtasks /Create")
    carry_out(removing(where), recorder)
    assert not file.exists()
    carry_out(removing(where), recorder)  # twice is no fault


def test_a_manager_that_fails_is_told(tmp_path: Path) -> None:
    """A command that fails ends the installation."""
    with pytest.raises(ServiceError):
        carry_out(installing(Where("systemd", tmp_path), PLAIN), Recorder("enable"))


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A unit folder that is none is a clear sentence, not a traceback."""
    (tmp_path / "units").write_text("a file")
    with pytest.raises(ServiceError, match="cannot be written"):
        carry_out(Plan(written={tmp_path / "units/x.service": ""}))


SHOWN = """Id=vaultrag.service
LoadState=loaded
ActiveState={active}
SubState=running
UnitFileState=enabled
MainPID={pid}
NRestarts=2
Result={result}

Id=vaultrag.socket
LoadState=loaded
ActiveState=active
UnitFileState=enabled
"""


def test_the_managers_answer_is_read() -> None:
    """What `systemctl show` prints becomes a state: running, or not and why."""
    runs = systemd_state(True, SHOWN.format(active="active", pid=42, result="success"))
    assert (runs.running, runs.listening, runs.enabled, runs.pid, runs.restarts, runs.why) == (
        True, True, True, 42, 2, "",
    )  # fmt: skip
    failed = systemd_state(True, SHOWN.format(active="failed", pid=0, result="watchdog"))
    assert (failed.running, failed.pid) == (False, 0)
    assert "watchdog" in failed.why
    assert systemd_state(False, "").loaded is False


# -- the command -----------------------------------------------------------------------------------------------------


def scripted(folder: Path, programs: Mapping[str, str]) -> str:
    """A PATH with these programs in front."""
    folder.mkdir()
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


linux = pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")


@linux
def test_files_can_be_had_without_a_manager(command: Command, tmp_path: Path) -> None:
    """`service install --no-start` writes the units for this installation with absolute paths and asks nobody."""
    config = tmp_path / "config"
    calls = tmp_path / "calls"
    path = scripted(
        tmp_path / "bin", {"systemctl": f'echo "$@" >> {calls}; echo "Failed to connect to bus" >&2; exit 1'}
    )
    command.extra |= {"XDG_CONFIG_HOME": str(config), "PATH": path}
    command.run("service", "install", "--no-start", code=0)
    unit = (config / "systemd/user/vaultrag.service").read_text()
    said = directives(unit)
    assert said["ExecStart"] == [f"{sys.executable} -P -m vaultrag serve"]
    assert f"VAULTRAG_HOME={command.home}" in unit
    assert all(value.startswith(("/", "-/")) for value in said["ReadWritePaths"])
    assert directives((config / "systemd/user/vaultrag.socket").read_text())["ListenStream"] == [
        str(command.places.socket)
    ]
    assert "show" in calls.read_text()
    assert "enable" not in calls.read_text()
    command.run("service", "uninstall", code=0)
    assert not list((config / "systemd/user").iterdir())
    assert "none was there" in command.run("service", "uninstall", code=0).stdout


@linux
def test_no_manager_is_told(command: Command, tmp_path: Path) -> None:
    """Where systemd cannot be reached, the sentence says so and names the way without it; nothing is a traceback."""
    failing = scripted(tmp_path / "bin", {"systemctl": 'echo "Failed to connect to bus: No medium found" >&2; exit 1'})
    command.extra |= {"XDG_CONFIG_HOME": str(tmp_path / "config"), "PATH": failing}
    done = command.run("service", "status", code=1)
    assert "no service is installed" in done.stdout
    command.run("service", "install", "--no-start", code=0)
    assert "it cannot be said how it fares" in command.run("service", "status", code=1).stdout
    assert command.json("service", "status", code=1)["installed"] is True
    command.extra["PATH"] = "/nonexistent"
    done = command.run("service", "install", code=2)
    assert "there is no systemd here" in done.stderr
    assert "try: vaultrag up" in done.stderr


@linux
def test_the_log_is_the_managers(command: Command, tmp_path: Path) -> None:
    """`service logs` asks the journal for this service, with what was wished for."""
    path = scripted(tmp_path / "bin", {"systemctl": "exit 0", "journalctl": 'echo "journal $@"'})
    command.extra["PATH"] = path
    said = command.run("service", "logs", "-n", "7", "--follow", code=0).stdout
    assert said.startswith("journal --user --unit vaultrag.service")
    assert "--lines=7" in said
    assert "--follow" in said


def test_the_units_of_the_folder_are_for_any_home() -> None:
    """The units that lie in `systemd/` name no home but by systemd's own word for it."""
    unit = (REPOSITORY / "systemd/vaultrag.service").read_text()
    assert directives(unit)["ExecStart"] == ["%h/.local/bin/vaultrag serve"]
    assert "/home/" not in unit
