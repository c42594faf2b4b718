"""``vaultrag`` with a curse on it, for ``python -m``. The process is the real one; ``VICTIM`` says what befalls it.

A JSON table:

``kill_at``: kill -9 itself before its n-th step. A step is a statement of a writing connection, or the renaming or
removal of a file.
``kill_at_rename``: the same, counting renamings and removals only.
``count_to``: write the steps taken and the renamings among them to this file when it ends in good order.
``no_override``: give up root's right to read and write whatever the modes of files forbid.
``fsize``, ``nofile``: soft limits of the size of files, and of their number.
``clock_runs_back``: the wall clock does, a day every second.
``proc``: a folder to read instead of /proc where the watches of the system are counted.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

_DAC_RIGHTS = 0b110
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""


def main() -> None:
    curse = json.loads(os.environ["VICTIM"])
    for name, number in (("fsize", resource.RLIMIT_FSIZE), ("nofile", resource.RLIMIT_NOFILE)):
        if name in curse:
            resource.setrlimit(number, (curse[name], resource.getrlimit(number)[1]))
    if curse.get("no_override"):
        give_up_override()
    if {"kill_at", "kill_at_rename", "count_to"} & set(curse):
        Steps(curse).count()
    if curse.get("clock_runs_back"):
        start, started = time.time(), time.monotonic()
        time.time = lambda: start - 86_400 * (time.monotonic() - started)
        time.time_ns = lambda: int(time.time() * 1e9)
    if "proc" in curse:
        from vaultrag.watcher import limits

        for judge in (limits.obstacle, limits.exhausted):
            judge.__defaults__ = (Path(curse["proc"]),)
    from vaultrag.cli import main as vaultrag

    sys.argv[0] = "vaultrag"
    vaultrag()


class Steps:
    """Counts what changes files, and ends the process at one of them."""

    def __init__(self, curse: dict[str, Any]) -> None:
        self._end = curse.get("kill_at", 0)
        self._end_at_rename = curse.get("kill_at_rename", 0)
        self._target = curse.get("count_to", "")
        self._steps = itertools.count(1)
        self._renames = itertools.count(1)

    def count(self) -> None:
        apsw.connection_hooks.append(self._trace)
        for name in ("replace", "rename", "unlink"):
            setattr(Path, name, self._counted(getattr(Path, name)))
        if self._target:
            atexit.register(self._tell)

    def _trace(self, connection: apsw.Connection) -> None:
        if not connection.open_flags & apsw.SQLITE_OPEN_READONLY:  # those answer questions
            connection.exec_trace = self._statement

    def _statement(self, *_: object) -> bool:
        self._step()
        return True

    def _counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(path: Path, *args: Any, **named: Any) -> Any:
            if path.parent.parent.name == "data":  # a vault's own folder
                self._step()
                if next(self._renames) == self._end_at_rename:
                    os.kill(os.getpid(), signal.SIGKILL)
            return real(path, *args, **named)

        return counted

    def _step(self) -> None:
        if next(self._steps) == self._end:
            os.kill(os.getpid(), signal.SIGKILL)

    def _tell(self) -> None:
        Path(self._target).write_text(json.dumps([next(self._steps) - 1, next(self._renames) - 1]))


def give_up_override() -> None:
    """Obey the modes of files, as any user but root does. Threads started later inherit it."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    for at in (0, 1, 2):  # effective, permitted, inheritable
        sets[at] &= ~_DAC_RIGHTS
    if libc.capset(header, sets) != 0:
        raise OSError(ctypes.get_errno(), "capset")


if __name__ == "__main__":
    main()
