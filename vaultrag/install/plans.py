"""What installing and removing the service comes to on each system: files, then commands. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal

from vaultrag.install.units import LABEL, Launch, launchd_plist, service_unit, socket_unit, windows_task

System = Literal["systemd", "launchd", "windows"]

SERVICE, SOCKET = f"{LABEL}.service", f"{LABEL}.socket"


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the service manager. ``may_fail``: what it undoes may not be there."""

    words: tuple[str, ...]
    may_fail: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of an installation: commands before, files written, files removed, commands after.

    Attributes:
        written: Text by path; the text's encoding is ``encoding``.
    """

    before: tuple[Command, ...] = ()
    written: Mapping[PurePath, str] = field(default_factory=dict)
    removed: tuple[PurePath, ...] = ()
    after: tuple[Command, ...] = ()
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Where:
    """The place of the service on this system.

    Attributes:
        folder: Of the files that the manager reads: systemd's user units, launchd's agents; for Windows any.
        user: As the system calls the person: a name for Windows, a number for launchd.
    """

    system: System
    folder: PurePath
    user: str = ""

    @property
    def files(self) -> tuple[PurePath, ...]:
        """Return what the manager reads, the service's own first."""
        names = {"systemd": (SERVICE, SOCKET), "launchd": (f"{LABEL}.plist",), "windows": (f"{LABEL}-task.xml",)}
        return tuple(self.folder / name for name in names[self.system])


def texts(where: Where, launch: Launch) -> dict[PurePath, str]:
    """Return the files by their path."""
    if where.system == "systemd":
        made: tuple[str, ...] = (service_unit(launch), socket_unit(launch))
    elif where.system == "launchd":
        made = (launchd_plist(launch),)
    else:
        made = (windows_task(launch, where.user),)
    return dict(zip(where.files, made, strict=True))


def installing(where: Where, launch: Launch, *, start: bool = True) -> Plan:
    """To have the service start with the session, and, if so wished, now."""
    written = texts(where, launch)
    if not start:
        return Plan(written=written, encoding=_encoding(where))
    file = str(where.files[0])
    if where.system == "systemd":
        # A socket does not start while the service holds it.
        after: tuple[Command, ...] = (
            _systemctl("daemon-reload"),
            _systemctl("stop", SERVICE, SOCKET, may_fail=True),
            _systemctl("reset-failed", SERVICE, SOCKET, may_fail=True),
            _systemctl("enable", SOCKET, SERVICE),
            _systemctl("start", SOCKET),
            _systemctl("start", SERVICE),
        )
    elif where.system == "launchd":
        domain = f"gui/{where.user}"
        after = (
            Command(("launchctl", "bootout", f"{domain}/{LABEL}"), may_fail=True),
            Command(("launchctl", "bootstrap", domain, file)),
        )
    else:
        after = (
            Command(("schtasks", "/Create", "/TN", LABEL, "/XML", file, "/F")),
            Command(("schtasks", "/Run", "/TN", LABEL)),
        )
    return Plan(written=written, after=after, encoding=_encoding(where))


def removing(where: Where) -> Plan:
    """To have it start no longer; one that runs is ended. The index and the notes stay."""
    if where.system == "systemd":
        return Plan(
            before=(
                _systemctl("disable", SOCKET, SERVICE, may_fail=True),
                _systemctl("stop", SERVICE, SOCKET, may_fail=True),
            ),
            removed=where.files,
            after=(_systemctl("daemon-reload", may_fail=True),),
        )
    if where.system == "launchd":
        before: tuple[Command, ...] = (Command(("launchctl", "bootout", f"gui/{where.user}/{LABEL}"), may_fail=True),)
    else:
        before = (
            Command(("schtasks", "/End", "/TN", LABEL), may_fail=True),
            Command(("schtasks", "/Delete", "/TN", LABEL, "/F"), may_fail=True),
        )
    return Plan(before=before, removed=where.files)


def asking(where: Where) -> Command:
    """To learn how the service fares."""
    if where.system == "systemd":
        wanted = "Id,LoadState,ActiveState,SubState,UnitFileState,MainPID,NRestarts,ActiveEnterTimestamp,Result"
        return _systemctl("show", SERVICE, SOCKET, f"--property={wanted}")
    if where.system == "launchd":
        return Command(("launchctl", "print", f"gui/{where.user}/{LABEL}"))
    return Command(("schtasks", "/Query", "/TN", LABEL, "/FO", "LIST"))


def _systemctl(*words: str, may_fail: bool = False) -> Command:
    return Command(("systemctl", "--user", *words), may_fail)


def _encoding(where: Where) -> str:
    return "utf-16" if where.system == "windows" else "utf-8"
