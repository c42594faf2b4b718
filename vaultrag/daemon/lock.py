"""One daemon at a time per data folder, by a lock that the system takes back when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from types import TracebackType

from vaultrag.errors import DaemonAlreadyRunning, DaemonFailed


class DaemonLock:
    """Holds the lock while entered. The file carries the holder's process id, for people."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> DaemonLock:
        """Take the lock.

        Raises:
            DaemonAlreadyRunning: Another process holds it.
            DaemonFailed: The folder cannot be written.
        """
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(OSError):  # a file system without modes: nothing to keep private there
                self._path.parent.chmod(0o700)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise DaemonFailed(
                f"the data folder {self._path.parent} cannot be written: {error.strerror or error}",
                hint=f"make {self._path.parent} writable, or set VAULTRAG_HOME",
            ) from error
        try:
            _lock(descriptor)
        except OSError as error:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() if hasattr(os, "pread") else ""
            os.close(descriptor)
            who = f" (process {holder})" if holder.isdigit() else ""
            raise DaemonAlreadyRunning(f"a daemon is running already{who}") from error
        with contextlib.suppress(OSError):  # a full disk: the lock holds without the number in it
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
