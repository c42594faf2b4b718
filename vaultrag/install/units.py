"""What a service manager reads, as text: systemd's units, launchd's property list, the Windows task. Pure.

The systemd units are tried on a real user manager. The other two are tested as text, and have not run on their systems.
"""

from __future__ import annotations

import plistlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape  # of the standard library's ways to escape, the one that loads nothing

LABEL = "vaultrag"
"""The service's name on every system."""

MEMORY_HIGH, MEMORY_MAX = "1500M", "3G"
"""Above the first the daemon is slowed and its caches are taken back, at the second it is ended. 10,000 notes take 200
MB at rest and the builtin model some 100 MB at work; 100,000 notes take a gigabyte."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The program to start, and its paths.

    Attributes:
        program: Absolute, with its arguments.
        data: The folder that the daemon writes to.
        runtime: The folder of its socket.
        socket: Where clients knock; empty where there are no Unix sockets.
        log: The file for what it says, where the manager keeps no log of its own.
        environment: What it is told besides.
        servers: IP addresses that the settings name and that it may connect to; None for a name that only a look-up
            could tell, and then it may connect anywhere.
    """

    program: tuple[str, ...]
    data: str
    runtime: str
    socket: str
    log: str
    environment: Mapping[str, str] = field(default_factory=dict)
    servers: tuple[str, ...] | None = ()


def socket_unit(launch: Launch) -> str:
    """Return the socket unit: systemd listens before the daemon runs, and while it restarts, so that clients wait."""
    return f"""[Unit]
Description=vaultrag, the socket of the local search for your notes

[Socket]
ListenStream={systemd_path(launch.socket)}
SocketMode=0600
DirectoryMode=0700
Backlog=1024
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
"""


def service_unit(launch: Launch) -> str:
    """Return the daemon as a service of one user's own systemd."""
    program = " ".join(systemd_word(word).replace("$", "$$") for word in launch.program)
    told = "".join(
        f"Environment={systemd_word(f'{name}={value}')}\n" for name, value in sorted(launch.environment.items())
    )
    writes = "\n".join(f"ReadWritePaths=-{systemd_word(path)}" for path in dict.fromkeys((launch.data, launch.runtime)))
    network = ""
    if launch.servers is not None:
        allowed = " ".join(("localhost", *launch.servers))
        network = (
            "# It speaks to this machine only (a local Ollama), and to the server that the settings name. Held by the\n"
            "# kernel where the user's manager may load such filters.\n"
            f"IPAddressDeny=any\nIPAddressAllow={allowed}\n"
        )
    return f"""[Unit]
Description=vaultrag, local search for your notes
Documentation=https://github.com/vaultrag/vaultrag
Requires={LABEL}.socket
After={LABEL}.socket
StartLimitIntervalSec=120
StartLimitBurst=5

[Service]
# It reports when it serves, and gives a sign of life; without one for so long it is started again.
Type=notify
WatchdogSec=60
ExecStart={program}
SyslogIdentifier={LABEL}
{told}WorkingDirectory={systemd_path(launch.data)}
Restart=on-failure
RestartSec=5
TimeoutStopSec=40

# Indexing gives way to whatever you are doing, but goes on.
Nice=5
IOSchedulingClass=best-effort
IOSchedulingPriority=7
CPUWeight=50
MemoryHigh={MEMORY_HIGH}
MemoryMax={MEMORY_MAX}
TasksMax=256

# It reads notes and writes its own index and socket; nothing else. The vault, too, is read-only. (Without a user
# namespace one's own systemd would pass over all that concerns the disk, and say nothing.)
PrivateUsers=yes
ProtectSystem=strict
ProtectHome=read-only
{writes}
RuntimeDirectory={LABEL}
RuntimeDirectoryMode=0700
# The socket lies in there, and is systemd's.
RuntimeDirectoryPreserve=yes
PrivateTmp=yes
UMask=0077
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
{network}RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=default.target
Also={LABEL}.socket
"""


def systemd_word(text: str) -> str:
    """One word of a systemd setting: quoted where need be, with nothing left in it that means something to systemd."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text}"' if not text or any(sign in text for sign in " \t'\"\\;#") else text


def systemd_path(text: str) -> str:
    """Return a setting that is one path to its end, in which only ``%`` has a meaning."""
    return text.replace("%", "%%")


def launchd_plist(launch: Launch) -> str:
    """Return the agent as launchd reads it on macOS."""
    table = {
        "Label": LABEL,
        "ProgramArguments": list(launch.program),
        "WorkingDirectory": launch.data,
        "EnvironmentVariables": dict(launch.environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ProcessType": "Adaptive",
        "Nice": 5,
        "LowPriorityIO": True,
        "Umask": 0o077,
        "StandardOutPath": launch.log,
        "StandardErrorPath": launch.log,
    }
    return plistlib.dumps(table, sort_keys=False).decode()


def windows_task(launch: Launch, user: str) -> str:
    """Return the task as Windows' scheduler reads it: at logon, without special rights, and with no time limit.

    A task cannot keep what its program says: the command should be one that starts the daemon in the background.
    """
    command, arguments = launch.program[0], windows_arguments(launch.program[1:])
    return f"""<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>vaultrag, local search for your notes</Description>
    <URI>\\{LABEL}</URI>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>{escape(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{escape(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
    <Priority>7</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>3</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{escape(command)}</Command>
      <Arguments>{escape(arguments)}</Arguments>
      <WorkingDirectory>{escape(launch.data)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
"""


def windows_arguments(words: Sequence[str]) -> str:
    """Arguments on one line, as a program of Windows takes them apart again."""
    return " ".join(f'"{word}"' if not word or " " in word or "\t" in word else word for word in words)
