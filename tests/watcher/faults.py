"""A disk that fails on demand: the tests run as root here, whom no file mode stops."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

from vaultrag.watcher.disk import Disk


class FaultyDisk(Disk):
    """Fails for the paths it is told to, as often as it is told to; ``opened`` lists what was opened."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.before_open: Callable[[str], None] = lambda path: None
        self._faults: dict[str, tuple[int, float]] = {}
        self._stats: dict[str, dict[str, int]] = {}

    def fail(self, path: Path, number: int = errno.EACCES, times: float = float("inf")) -> None:
        self._faults[str(path)] = (number, times)

    def heal(self, path: Path) -> None:
        self._faults.pop(str(path), None)

    def pretend(self, path: Path, **fields: int) -> None:
        """Change fields of a path's stat, e.g. ``st_blocks=0``."""
        self._stats[str(path)] = fields

    def _check(self, path: str) -> None:
        if path in self._faults:
            number, times = self._faults[path]
            if times > 0:
                self._faults[path] = (number, times - 1)
                raise OSError(number, os.strerror(number), path)

    def listing(self, folder: str) -> list[os.DirEntry[str]]:
        self._check(folder)
        return super().listing(folder)

    def entry_stat(self, entry: os.DirEntry[str]) -> os.stat_result:
        self._check(entry.path)
        return self._changed(entry.path, super().entry_stat(entry))

    def lstat(self, path: str) -> os.stat_result:
        return self._changed(path, super().lstat(path))

    def open(self, path: str) -> int:
        self.opened.append(path)
        self._check(path)
        self.before_open(path)
        return super().open(path)

    def _changed(self, path: str, found: os.stat_result) -> os.stat_result:
        if path not in self._stats:
            return found
        named = {name: getattr(found, name) for name in dir(found) if name.startswith("st_")}
        return os.stat_result(tuple(found), named | self._stats[path])
