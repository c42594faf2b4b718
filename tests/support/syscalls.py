"""What a process and its children ask of the system, seen in a trace: whom they connect to, what they write.

    with watched(folder) as watch:
        subprocess.run([*watch.command("up"), program, "up", vault])
    assert watch.violations(allowed) == []

A promise that nothing leaves the machine can only be broken by a system call, so that is where it is tested: whatever
library, in whatever thread, in whatever language. The trace is text, a call a line; a call that strace shows in two
parts begins with its arguments, which is all that is looked at.
"""

from __future__ import annotations

import ipaddress
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

STRACE = shutil.which("strace")

_CALLS = (
    "trace=connect,sendto,sendmsg,sendmmsg,open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,"
    "renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,truncate,chmod,fchmodat"
)
_LINE = re.compile(r"^(?:\d+ +)?(?P<call>\w+)\((?P<arguments>.*)$")
_FAMILY = re.compile(r"sa_family=(AF_\w+)")
_PORT = re.compile(r"sin6?_port=htons\((\d+)\)")
_ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
_UNIX = re.compile(r'sun_path=@?"([^"]*)"')
_PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<(?P<base>[^>]*)>, )?"(?P<path>(?:[^"\\]|\\.)*)"')
_RESULT = re.compile(r"\) += (-?\d+)")
_DNS = {"53", "853", "5353"}
_RESOLVERS = ("nscd", "resolve")  # sockets of daemons that look names up for others


class Watch:
    """Traces commands into files of one folder."""

    def __init__(self, folder: Path) -> None:
        if STRACE is None:
            raise AssertionError("strace is needed to see what leaves the machine: apt install strace")
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def command(self, name: str) -> list[str]:
        """Return what is put before a command to trace it and all that it starts."""
        return [str(STRACE), "-f", "-y", "-qq", "-s", "4096", "-e", _CALLS, "-o", str(self._folder / f"{name}.trace")]

    def calls(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the arguments, with what came of it, of each call traced so far."""
        for trace in sorted(self._folder.glob("*.trace")):
            for line in trace.read_text("utf-8", "replace").splitlines():
                if (match := _LINE.match(line)) is not None:
                    yield match["call"], match["arguments"]

    def violations(self, allowed: Sequence[Path]) -> list[str]:
        """Return the calls that reach out of the machine or write elsewhere than below these folders."""
        return [
            f"{call}({arguments}"
            for call, arguments in self.calls()
            if (_reaches_out(arguments) if call in _SENDING else _writes_elsewhere(call, arguments, allowed))
        ]


_SENDING = {"connect", "sendto", "sendmsg", "sendmmsg"}
_OPENING = {"open", "openat", "openat2", "creat"}
_DEVICES = ("/dev/", "/proc/")


def _reaches_out(arguments: str) -> bool:
    family = _FAMILY.search(arguments)
    if family is None:
        return False  # on a socket that is connected already
    if family[1] == "AF_UNIX":
        path = _UNIX.search(arguments)
        return path is not None and any(name in path[1] for name in _RESOLVERS)
    if family[1] not in ("AF_INET", "AF_INET6"):
        return False
    port, address = _PORT.search(arguments), _ADDRESS.search(arguments)
    if address is None or (port is not None and port[1] in _DNS):
        return True
    return not ipaddress.ip_address(address[1] or address[2]).is_loopback


def _writes_elsewhere(call: str, arguments: str, allowed: Sequence[Path]) -> bool:
    if call in _OPENING and call != "creat" and not re.search(r"O_WRONLY|O_RDWR|O_CREAT", arguments):
        return False
    result = _RESULT.search(arguments)
    if result is not None and result[1] == "-1":
        return False  # it was refused, or was not there
    for match in _PATH.finditer(arguments.partition(") =")[0]):
        path = Path(match["base"] or "/", match["path"])
        if str(path).startswith(_DEVICES) or "__pycache__" in path.parts:  # compiled modules are the interpreter's
            continue
        above = call.startswith("mkdir") and any(folder.is_relative_to(path) for folder in allowed)
        if not above and not any(path.is_relative_to(folder) for folder in allowed):
            return True
    return False
