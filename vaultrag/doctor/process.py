"""The daemon, how clients find it, and the service that starts it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from vaultrag import __version__
from vaultrag.build import build_id
from vaultrag.config import SOCKET_PATH_LIMIT
from vaultrag.doctor.findings import Case, Finding, ok
from vaultrag.errors import ServiceError
from vaultrag.install.plans import Where, texts
from vaultrag.install.service_managers import launch, state, where
from vaultrag.rpc.discovery import Address, alive

_SILENT = "a daemon is there and does not answer"
_BROKEN_FILE = "the discovery file cannot be read"
_AGAIN = "vaultrag stop && vaultrag up"
_TEMPORARY = ("/tmp", "/var/tmp")


def check(case: Case) -> Iterator[Finding]:
    yield _daemon(case)
    yield _discovery(case)
    yield from _service(case)
    yield _path(case)


def _daemon(case: Case) -> Finding:
    status = case.status
    if status is None:
        holder = _holder(case)
        if case.why_silent or holder:
            why = case.why_silent or "it does not answer"
            who = f" (process {holder})" if holder else ""
            repair = f"kill {holder}; vaultrag up" if holder else _AGAIN
            return Finding("daemon", "fault", f"a daemon is there{who}, but: {why}", _SILENT, repair)
        return Finding("daemon", "warning", "none runs", "none runs", "vaultrag up")
    text = f"process {status.pid}, {status.state}, {len(status.vaults)} vaults, {status.notes:,} notes"
    if (status.version, status.build) != (__version__, build_id()):
        older = f"it is another build than this command: version {status.version}, build {status.build or 'unknown'}"
        return Finding("daemon", "warning", f"{text}; {older}", older, _AGAIN)
    missing = [vault for vault in status.vaults if vault.state in ("away", "broken", "refused")]
    if missing:
        text = "; ".join(f"{vault.name} is {vault.state}: {vault.why}" for vault in missing)
        return Finding("daemon", "fault", text, f"{len(missing)} vaults are away or broken", missing[0].hint)
    return ok("daemon", text, f"{status.state}, {len(status.vaults)} vaults, {status.notes:,} notes")


def _holder(case: Case) -> int:
    """Return the process that holds the lock; 0 for none."""
    try:
        pid = int(case.places.lock.read_text("ascii").strip() or 0)
    except (OSError, ValueError):
        return 0
    return pid if pid and alive(pid) else 0


def _discovery(case: Case) -> Finding:
    """Return the file by which clients find the daemon."""
    file, places = case.places.discovery, case.places
    if not file.exists():
        if case.status is None:
            return ok(
                "discovery", f"{places.socket} is where a daemon will answer", "no daemon, and no file that says so"
            )
        text = f"{file} is missing, so that the plugin may not find the daemon"
        return Finding("discovery", "warning", text, "the discovery file is missing", _AGAIN)
    try:
        address = msgspec.json.decode(file.read_bytes(), type=Address)
    except (OSError, msgspec.DecodeError) as error:
        fix = None if case.status else file.unlink
        return Finding("discovery", "fault", f"{file} cannot be read: {error}", _BROKEN_FILE, _AGAIN, fix)
    if case.status is None:
        if address.pid and alive(address.pid):
            text = f"{file} names process {address.pid}, which does not answer"
            return Finding(
                "discovery", "fault", text, "the discovery file names a process that does not answer", _AGAIN
            )
        text = f"{file} was left behind by a daemon that has ended"
        return Finding("discovery", "warning", text, "a discovery file was left behind", f"rm '{file}'", file.unlink)
    if address.pid != case.status.pid:
        text = f"{file} names process {address.pid}, but process {case.status.pid} answers"
        return Finding("discovery", "fault", text, "the discovery file names another process", _AGAIN)
    where_to = ", ".join(address.sockets) or f"port {address.tcp_port} of 127.0.0.1"
    if any(len(os.fsencode(path)) > SOCKET_PATH_LIMIT for path in address.sockets):
        long = "the socket's path is too long"
        return Finding("discovery", "fault", f"{long}: {where_to}", long, "set VAULTRAG_HOME to a shorter folder")
    return ok("discovery", f"clients are sent to {where_to}", "clients find the daemon")


def _service(case: Case) -> Iterator[Finding]:
    """Yield the service, if one is installed: that it runs, and starts what is installed here."""
    try:
        place = where(case.environ, case.places)
    except ServiceError as error:
        yield ok("service", f"none: {error.message}", "no service manager")
        return
    fares = state(place)
    if not fares.installed:
        yield ok("service", "none is installed; the daemon starts when it is needed", repair="vaultrag service install")
        return
    if hidden := [root for root in case.roots if str(root).startswith(tuple(f"{t}/" for t in _TEMPORARY))]:
        text = f"it does not see {hidden[0]}: temporary folders are its own"
        yield Finding("service", "fault", text, f"it does not see {case.number(hidden[0])}", "move the vault elsewhere")
    yield from _units(case, place)
    if not fares.loaded or fares.why:
        text = fares.why or "the service manager does not know it"
        yield Finding("service", "fault", text, "the service is not loaded, or failed", "vaultrag service logs")
    elif not fares.running and case.status is not None:
        text = f"a daemon runs without it (process {case.status.pid})"
        yield Finding("service", "warning", text, "a daemon runs without it", "vaultrag service install")
    elif not fares.running:
        yield Finding("service", "warning", "it is installed, and does not run", "it does not run", "vaultrag up")
    elif not fares.enabled:
        text = "it runs, but does not start with your session"
        yield Finding("service", "warning", text, text, "vaultrag service install")
    else:
        restarts = f"; started again after a fault {fares.restarts} times" if fares.restarts else ""
        yield ok("service", f"runs (process {fares.pid}){restarts}", f"runs{restarts}")


def _units(case: Case, place: Where) -> Iterator[Finding]:
    try:
        wanted = texts(place, launch(case.environ, case.places, place.system))
        encoding = "utf-16" if place.system == "windows" else "utf-8"
        differing = [path for path, text in wanted.items() if Path(path).read_text(encoding) != text]
    except (OSError, ServiceError, UnicodeError) as error:
        plain = "the service's files cannot be read"
        yield Finding("service files", "fault", f"{plain}: {error}", plain, "vaultrag service install")
        return
    if differing:
        text = f"{differing[0]} is not what this vaultrag writes: of another installation or version, or edited"
        yield Finding("service files", "warning", text, "the service's files are of another installation or version",
                      "vaultrag service install")  # fmt: skip


def _path(case: Case) -> Finding:
    """Programs with a window have a bare PATH of their own; what they can be told is where the command is."""
    found = shutil.which("vaultrag", path=case.environ.get("PATH"))
    own = Path(sys.executable).parent / "vaultrag"
    if found is None:
        text = (
            f"the command vaultrag is not on your PATH ({own} is it)"
            if own.exists()
            else "there is no command vaultrag"
        )
        return Finding("PATH", "warning", text, "the command is not on the PATH", f'export PATH="{own.parent}:$PATH"')
    if own.exists() and not Path(found).samefile(own) and _interpreter(found) not in ("", sys.executable):
        text = f"{found} comes first, and is another installation than this one ({own})"
        return Finding(
            "PATH", "warning", text, "another installation comes first on the PATH", f"which -a vaultrag; {own}"
        )
    return ok("PATH", f"{found} (for the plugin's settings, if it does not find it)", "the command is on the PATH")


def _interpreter(script: str) -> str:
    """Return what runs a script, by its first line; empty where it does not say."""
    try:
        first = Path(script).read_bytes()[:300].splitlines()[0]
    except (OSError, IndexError):
        return ""
    return first[2:].decode("utf-8", "replace").strip() if first.startswith(b"#!/") and b"python" in first else ""
