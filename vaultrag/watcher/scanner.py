"""One look at the vault: finds paths, follows links with care, walks folders. ``DiskReader`` makes a new one each time.

Three outcomes are kept apart for every path. It is *there*; it is *surely not there* (the folder that would hold it was
listed and does not); or it *cannot be said*, which is never taken for the second.
"""

from __future__ import annotations

import errno
import os
import platform
import stat
from collections.abc import Callable
from contextlib import suppress

from vaultrag.domain import DiskEntry, NotePath, Skipped, Unreadable
from vaultrag.domain.kinds import kind_of
from vaultrag.watcher.disk import Disk, absolute, inside, retried, why
from vaultrag.watcher.filters import CONFLICT_COPY, Exclusion, VaultFilter, copied_notes
from vaultrag.watcher.paths import ROOT, join, shown
from vaultrag.watcher.stat_check import judge, shows_blocks

SOME = 128
"""Files that are looked at before the processor is offered to whoever waits for an answer: a millisecond's work."""

_THIS_COMPUTER = platform.node().partition(".")[0]

_BAD_NAME = "the {} name is not valid UTF-8"
_VANISHED = "it went away while it was being looked at"


class RootAway(Exception):
    """The vault's own folder cannot be listed."""


class Scanner:
    """Collects ``entries``, ``skipped`` and ``unreadable`` of the parts of the vault it is sent to."""

    def __init__(
        self,
        disk: Disk,
        root: str,
        rules: VaultFilter,
        limit: Callable[[str], int],
        counts_blocks: bool,
        yield_to_queries: Callable[[], None] = lambda: None,
    ) -> None:
        self._give_way = yield_to_queries
        self.entries: dict[NotePath, DiskEntry] = {}
        self.skipped: dict[NotePath, Skipped] = {}
        self.unreadable: dict[NotePath, str] = {}
        self.counts_blocks = counts_blocks
        self._disk = disk
        self._root = root
        self._rules = rules
        self._limit = limit
        self._names: dict[str, frozenset[str] | OSError] = {}
        self._blockless: list[tuple[NotePath, os.stat_result]] = []

    # -- one path ----------------------------------------------------------------------------------------------------

    def locate(self, path: NotePath) -> os.stat_result | Unreadable | None:
        """Return the path's own stat (a link's, not its target's), or None when it is surely not there.

        Names are compared with the listings, letter by letter: a file system that ignores case or Unicode form would
        say yes to the old name of a renamed note. What lies behind a linked folder is not there.

        Raises:
            RootAway
        """
        folder, found = "", None
        for name in path.split("/"):
            if found is not None and not stat.S_ISDIR(found.st_mode):
                return None
            names = self._listed(folder)
            if isinstance(names, OSError):
                return Unreadable(shown(folder), why(names))
            if name not in names:
                return None
            folder = join(folder, name)
            try:
                found = self._disk.lstat(absolute(self._root, folder))
            except OSError as error:
                return Unreadable(shown(folder), _reason(error))
        return found

    def target(self, path: NotePath) -> str | Skipped | Unreadable:
        """Return where a linked note really lies; only a place inside the vault that is not excluded will do."""
        try:
            resolved = self._disk.realpath(absolute(self._root, path))
        except OSError as error:
            if error.errno == errno.ENOENT:
                return Skipped(path, "a link whose target does not exist")
            if error.errno == errno.ELOOP:
                return Skipped(path, "a link that leads back to itself")
            return Unreadable(path, why(error))
        within = inside(self._root, resolved)
        if within is None:
            return Skipped(path, "a link out of the vault")
        if self._rules.hides(within):
            return Skipped(path, "a link to an excluded file")
        return resolved

    def judge(self, path: NotePath, found: os.stat_result) -> DiskEntry | Skipped | Unreadable:
        self.counts_blocks = self.counts_blocks or shows_blocks(found)
        return judge(path, found, self._limit(path), self.counts_blocks)

    def _listed(self, folder: str) -> frozenset[str] | OSError:
        if folder not in self._names:
            try:
                entries = retried(lambda: self._disk.listing(absolute(self._root, folder)))
                self._names[folder] = frozenset(entry.name for entry in entries)
            except OSError as error:
                if not folder:
                    raise RootAway from error
                self._names[folder] = error
        return self._names[folder]

    # -- many paths --------------------------------------------------------------------------------------------------

    def everything(self) -> None:
        """Walk the whole vault.

        Raises:
            RootAway
        """
        self._walk(ROOT)

    def at(self, scope: NotePath) -> None:
        """Look at one file, or walk one folder. A scope that is not there, or excluded, gives nothing.

        Raises:
            RootAway
        """
        found = self.locate(scope)
        if isinstance(found, Unreadable):
            self.unreadable[found.path] = found.reason
        elif found is not None:
            is_dir = stat.S_ISDIR(found.st_mode)
            if exclusion := self._rules.exclusion(scope, is_dir) or self._copy(scope):
                if exclusion.told:
                    self.skipped[scope] = Skipped(scope, exclusion.reason)
                if stat.S_ISLNK(found.st_mode):
                    self._linked_folder(scope)
            elif is_dir:
                self._walk(scope)
            else:
                self._note(scope, found)

    def settle(self) -> None:
        """Decide about files without blocks, now that the whole look may have shown whether blocks are counted here."""
        for path, found in self._blockless:
            self._keep(path, judge(path, found, self._limit(path), self.counts_blocks))

    def _walk(self, start: NotePath) -> None:
        waiting = [start]
        while waiting:
            folder = waiting.pop()
            try:
                entries = retried(lambda: self._disk.listing(absolute(self._root, folder)))  # noqa: B023 - called at once
            except OSError as error:
                if not folder:
                    raise RootAway from error
                self.unreadable[folder] = _reason(error)
                continue
            for number, entry in enumerate(entries):
                if number % SOME == 0:
                    self._give_way()
                self._entry(join(folder, entry.name), entry, waiting)

    def _entry(self, path: NotePath, entry: os.DirEntry[str], waiting: list[NotePath]) -> None:
        try:
            is_link = entry.is_symlink()
            is_dir = not is_link and entry.is_dir(follow_symlinks=False)
            if exclusion := self._rules.step(path, is_dir) or self._copy(path):
                if exclusion.told:
                    self.skipped[shown(path)] = Skipped(shown(path), exclusion.reason)
                elif is_link:
                    self._linked_folder(path)
            elif shown(path) != path:
                self._bad_name(path, "folder" if is_dir else "file")
            elif is_dir:
                waiting.append(path)
            else:
                self._note(path, self._disk.entry_stat(entry))
        except OSError as error:
            self.unreadable[shown(path)] = _reason(error)

    def _copy(self, path: NotePath) -> Exclusion | None:
        return conflict_copy(self._disk, self._root, path)

    def _note(self, path: NotePath, found: os.stat_result) -> None:
        if stat.S_ISLNK(found.st_mode):
            target = self.target(path)
            if not isinstance(target, str):
                self._keep(path, target)
                return
            try:
                found = self._disk.lstat(target)
            except OSError as error:
                self.unreadable[path] = _reason(error)
                return
        verdict = self.judge(path, found)
        if isinstance(verdict, DiskEntry) and verdict.size and not shows_blocks(found):
            self._blockless.append((path, found))
        self._keep(path, verdict)

    def _linked_folder(self, path: NotePath) -> None:
        """Report a linked folder, which may hold many notes; a link to another file is passed over in silence."""
        if kind_of(path) is not None or self._rules.exclusion(path, is_dir=True):
            return
        if os.path.isdir(absolute(self._root, path)):  # noqa: PTH112 - a str all the way, this is the hot path
            self.skipped[shown(path)] = Skipped(shown(path), "a link to a folder: linked folders are not followed")

    def _bad_name(self, path: NotePath, kind: str) -> None:
        self.skipped[shown(path)] = Skipped(shown(path), _BAD_NAME.format(kind))

    def _keep(self, path: NotePath, verdict: DiskEntry | Skipped | Unreadable) -> None:
        self.entries.pop(path, None)
        if isinstance(verdict, DiskEntry):
            self.entries[path] = verdict
        elif isinstance(verdict, Skipped):
            self.skipped[path] = verdict
        else:
            self.unreadable[path] = verdict.reason


def conflict_copy(disk: Disk, root: str, path: str) -> Exclusion | None:
    """Return why a note is left out that another computer's sync client has put beside the one it is a copy of."""
    for original in copied_notes(path, _THIS_COMPUTER):
        with suppress(OSError):
            disk.lstat(absolute(root, original))
            return CONFLICT_COPY
    return None


def _reason(error: OSError) -> str:
    return _VANISHED if error.errno in (errno.ENOENT, errno.ENOTDIR) else why(error)
