"""Carries out the plans: writes the files, runs the service manager's commands, asks how the service fares."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vaultrag.address import is_loopback, split_host
from vaultrag.config import Places, load
from vaultrag.errors import ServiceError
from vaultrag.install.plans import SERVICE, SOCKET, Command, Plan, Where, asking
from vaultrag.install.units import Launch

COMMAND_S = 90.0
"""A service manager waits for the daemon to be ready, or to end."""

Run = Callable[[Command], str]
"""Runs a command of the service manager, and returns what it prints; raises ServiceError."""

_TOLD = ("VAULTRAG_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
"""What decides where vaultrag keeps its files; a service must see what the person's commands see."""


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of the service. ``loaded``: the manager knows it; ``running``: its daemon runs; ``pid``: 0 for none."""

    installed: bool
    loaded: bool = False
    enabled: bool = False
    running: bool = False
    listening: bool = False
    pid: int = 0
    restarts: int = 0
    since: str = ""
    state: str = ""
    why: str = ""


def where(environ: Mapping[str, str], places: Places) -> Where:
    """Return where this system wants the service.

    Raises:
        ServiceError: It has no service manager that is known here.
    """
    home = Path.home()
    if sys.platform == "darwin":
        return Where("launchd", home / "Library/LaunchAgents", str(os.getuid()))
    if sys.platform == "win32":
        return Where("windows", places.data, f"{environ.get('USERDOMAIN', '.')}\\{environ.get('USERNAME', '')}")
    if shutil.which("systemctl") is None:
        raise ServiceError("there is no systemd here, and no other service manager is known", hint="vaultrag up")
    return Where("systemd", Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "systemd/user")


def launch(environ: Mapping[str, str], places: Places, system: str) -> Launch:
    """Return what the service is to start: this very installation, whatever PATH says.

    Raises:
        ServiceError: A path has a sign in it that no service manager's file can hold.
    """
    words = ("up", "--no-wait") if system == "windows" else ("serve",)
    told = {name: environ[name] for name in _TOLD if environ.get(name)}
    made = Launch(
        # -P: no file of the folder it runs in is taken for a module.
        program=(sys.executable, "-P", "-m", "vaultrag", *words),
        data=str(places.data),
        runtime=str(places.socket.parent),
        socket=str(places.socket),
        log=str(places.log),
        environment=told,
        servers=_servers(load(places.config_file).embedder.host),
    )
    for text in (*made.program, made.data, made.socket, *told.values()):
        if any(ord(sign) < 32 for sign in text):
            raise ServiceError(f"the path {text!a} has a control character in it", hint="vaultrag up")
    return made


def _servers(host: str) -> tuple[str, ...] | None:
    """Return the address that the settings name, if it is another machine's; None where it takes a look-up."""
    try:
        name, _ = split_host(host)
        if is_loopback(host):
            return ()
        return (str(ipaddress.ip_address(name)),)
    except ValueError:
        return None


def run_command(command: Command) -> str:
    """Run a manager's command, and return what it prints.

    Raises:
        ServiceError
    """
    shown = " ".join(command.words)
    try:
        done = subprocess.run(
            command.words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=COMMAND_S, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise ServiceError(f"there is no {command.words[0]} here", hint="vaultrag up") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServiceError(f"`{shown}` did not end well: {type(error).__name__}", hint=shown) from error
    if done.returncode and not command.may_fail:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        hint = "vaultrag service logs" if "start" in command.words else shown
        if "connect to bus" in said[0] or "No medium found" in said[0]:
            hint = "vaultrag up (it needs no service manager), or log in so that your own systemd runs"
        raise ServiceError(f"`{shown}` failed: {said[0][:300]}", hint=hint)
    return done.stdout


def carry_out(plan: Plan, run: Run = run_command) -> None:
    """Do what the plan says.

    Raises:
        ServiceError: A file cannot be written, or a command fails that must not.
    """
    for command in plan.before:
        run(command)
    for name, text in plan.written.items():
        _write(Path(name), text.encode(plan.encoding))
    for name in plan.removed:
        _remove(Path(name))
    for command in plan.after:
        run(command)


def state(place: Where, run: Run = run_command) -> ServiceState:
    """Return how the service fares. Never raises: why nothing can be said is in ``why``."""
    installed = Path(place.files[0]).exists()
    try:
        said = run(asking(place))
    except ServiceError as error:
        return ServiceState(installed, why=error.message)
    if place.system != "systemd":
        running = "state = running" in said or "Running" in said
        return ServiceState(installed, loaded=True, enabled=True, running=running, state=said.strip()[:2000])
    return systemd_state(installed, said)


def systemd_state(installed: bool, said: str) -> ServiceState:
    """Return what ``systemctl show`` prints of the two units, as a value. Pure."""
    units: dict[str, dict[str, str]] = {}
    for block in said.split("\n\n"):
        table = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        units[table.get("Id", "")] = table
    service, sock = units.get(SERVICE, {}), units.get(SOCKET, {})
    result = service.get("Result", "success")
    return ServiceState(
        installed=installed,
        loaded=service.get("LoadState") == "loaded",
        enabled=service.get("UnitFileState") == "enabled" or sock.get("UnitFileState") == "enabled",
        running=service.get("ActiveState") == "active",
        listening=sock.get("ActiveState") == "active",
        pid=int(service.get("MainPID") or 0),
        restarts=int(service.get("NRestarts") or 0),
        since=service.get("ActiveEnterTimestamp", ""),
        state=f"{service.get('ActiveState', 'unknown')} ({service.get('SubState', 'unknown')})",
        why="" if result == "success" else f"the last run ended by: {result}",
    )


def log_command(place: Where, lines: int, follow: bool) -> tuple[str, ...]:
    """Return the command that prints what the service has said; empty where that is in vaultrag's own log file."""
    if place.system != "systemd":
        return ()
    shown = ("journalctl", "--user", "--unit", SERVICE, "--no-pager", "--output=short-iso", f"--lines={lines}")
    return (*shown, *(("--follow",) if follow else ()))


def check_visible(place: Where, made: Launch) -> None:
    """Refuse paths in a shared /tmp: a sandbox with a /tmp of its own does not see them.

    Raises:
        ServiceError
    """
    for path in (made.program[0], made.data, made.socket) if place.system == "systemd" else ():
        if path.startswith(("/tmp/", "/var/tmp/")):
            raise ServiceError(f"{path} lies in a temporary folder, which the service does not see", hint="vaultrag up")


def prepare_folders(places: Places) -> None:
    """Make the folders that the service may write to: a sandbox lets it write only to what is there.

    Raises:
        ServiceError
    """
    for folder in (places.data, places.socket.parent):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ServiceError(f"the folder {folder} cannot be made: {error.strerror or error}") from error


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.new")
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as error:
        raise ServiceError(
            f"{path} cannot be written: {error.strerror or error}", hint="vaultrag up (it needs no service)"
        ) from error


def _remove(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        try:
            path.unlink()
        except PermissionError as error:
            raise ServiceError(f"{path} cannot be removed: {error.strerror}", hint=f"rm '{path}'") from error
