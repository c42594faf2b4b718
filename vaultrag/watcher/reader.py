"""The disk behind ``ports.VaultReader``: looks at a vault's files, reads one note, and knows why others are left out.

The vault's folder is resolved once, when the reader is made; everything is compared with that. The rules (which files
are notes) are read from the vault at the first look and at every look at the whole vault, so that no lost event leaves
them old; ``reload_filters`` reads them at once.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from vaultrag.config import NoteSettings
from vaultrag.domain import Content, DiskEntry, Gone, NotePath, ReadResult, Scan, Skipped, Unreadable
from vaultrag.domain.kinds import ONLY_NOTES, ReadKinds, is_converted
from vaultrag.markdown import looks_binary
from vaultrag.watcher.disk import Disk, NotRegular, absolute, grab, resolved_root, retried, why
from vaultrag.watcher.filter_files import FilterFiles, load
from vaultrag.watcher.filters import Exclusion, VaultFilter
from vaultrag.watcher.paths import ROOT, clean, is_text, nearest_text, outermost, shown
from vaultrag.watcher.scanner import RootAway, Scanner, conflict_copy
from vaultrag.watcher.stat_check import (
    NOT_DOWNLOADED,
    disk_entry,
    is_placeholder,
    limit_setting,
    shows_blocks,
    size_words,
)

_CHANGED = "it changed while it was being opened"


class _Found(NamedTuple):
    """A file that may be read, and where it really lies."""

    entry: DiskEntry
    place: str
    stat: os.stat_result


class DiskReader:
    """Fits ``ports.VaultReader``. May be called from any thread."""

    def __init__(
        self,
        root: Path,
        settings: NoteSettings,
        disk: Disk | None = None,
        yield_to_queries: Callable[[], None] = lambda: None,
        kinds: ReadKinds = ONLY_NOTES,
    ) -> None:
        """Read this folder.

        Args:
            kinds: The kinds of file that are read. Of those that are converted, the bytes are returned.
            yield_to_queries: Called between some files of a scan; waits while somebody waits for an answer.
        """
        self._give_way = yield_to_queries
        self.root = resolved_root(root)
        self._settings = settings
        self._kinds = kinds
        self._disk = disk or Disk()
        self._files: FilterFiles | None = None
        self._rules: VaultFilter | None = None
        self._counts_blocks = False
        self._root_seen: tuple[int, int] | None = None

    # -- rules -------------------------------------------------------------------------------------------------------

    def reload_filters(self) -> None:
        """Read the files that say what is no note again. Never raises; see ``filter_problems``."""
        settings = self._settings
        self._files = files = load(
            self._disk,
            self.root,
            obsidian=settings.obsidian_excluded,
            templates=settings.obsidian_templates,
            before=self._files,
        )
        self._rules = VaultFilter.build(
            settings.ignore, files.ignore_text, files.obsidian, files.templates, self._kinds
        )

    @property
    def filter_problems(self) -> tuple[str, ...]:
        """Return what is wrong with the files that say what is no note, in sentences."""
        problems = self.rules.problems
        return (self._files.problems if self._files else ()) + problems

    @property
    def rules(self) -> VaultFilter:
        if self._rules is None:
            self.reload_filters()
        assert self._rules is not None
        return self._rules

    def why_excluded(self, path: str) -> str | None:
        """Return why this path would not be indexed even if it exists, in words; None when nothing is against it."""
        cleaned = clean(path)
        if not cleaned:
            return "not a path in the vault"
        if not is_text(cleaned):
            return "the file name is not valid UTF-8"
        exclusion = self.rules.exclusion(cleaned, self._is_folder(cleaned)) or self._conflict_copy(cleaned)
        return exclusion.reason if exclusion else None

    def _conflict_copy(self, path: str) -> Exclusion | None:
        return conflict_copy(self._disk, self.root, path)

    def is_there(self, path: str) -> str:
        """Return what stands at a path in the vault: ``file``, ``folder`` or nothing. Follows no link."""
        cleaned = clean(path)
        if not cleaned or not is_text(cleaned):
            return ""
        try:
            found = self._disk.lstat(absolute(self.root, cleaned))
        except OSError:
            return ""
        return "folder" if stat.S_ISDIR(found.st_mode) else "file"

    def names_in(self, folder: str) -> list[tuple[str, bool]]:
        """Names in a folder of the vault, and whether each is a folder; none if it cannot be listed."""
        try:
            listing = self._disk.listing(absolute(self.root, folder))
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
        except OSError:
            return []

    def _is_folder(self, path: str) -> bool:
        try:
            return stat.S_ISDIR(self._disk.lstat(absolute(self.root, path)).st_mode)
        except OSError:
            return False

    # -- many --------------------------------------------------------------------------------------------------------

    def scan(self, scopes: Sequence[NotePath] = ()) -> Scan:
        """Look at the whole vault (also ``""``), or at these files and folders. Never raises for the disk."""
        wanted = outermost([nearest_text(scope) for scope in scopes])
        # A scope that is no path in the vault stays listed, and nothing is found there; if it were dropped, an empty
        # list would be left, which means "everything".
        parts = tuple(wanted) if "" not in wanted else ()
        try:
            if not self._root_there(parts):
                raise RootAway
            if not parts:
                self.reload_filters()
            look = self._look()
            if not parts:
                look.everything()
            for scope in parts:
                if cleaned := clean(scope):
                    look.at(cleaned)
            look.settle()
            if not self._root_there(scopes=parts or (ROOT,)):  # it went meanwhile: what looked gone may not be
                raise RootAway
        except RootAway:
            return Scan({}, scopes=parts, root_ok=False)
        self._counts_blocks = self._counts_blocks or look.counts_blocks
        return Scan(look.entries, look.skipped, look.unreadable, parts)

    def _root_there(self, scopes: Sequence[NotePath]) -> bool:
        """Return True if the vault's folder is there.

        A scan of parts wants the very folder that the last whole scan saw: in another one, or with the disk away,
        nothing is where it was.
        """
        try:
            found = self._disk.lstat(self.root)
        except OSError:
            return False
        self._counts_blocks = self._counts_blocks or shows_blocks(found)
        if not scopes or self._root_seen is None:
            self._root_seen = (found.st_dev, found.st_ino)
        return stat.S_ISDIR(found.st_mode) and self._root_seen == (found.st_dev, found.st_ino)

    def _look(self) -> Scanner:
        return Scanner(self._disk, self.root, self.rules, self._limit, self._counts_blocks, self._give_way)

    def _limit(self, path: str) -> int:
        return self._kinds.max_bytes if is_converted(path) else self._settings.max_bytes

    # -- one ---------------------------------------------------------------------------------------------------------

    def read(self, path: NotePath, known: Content | None = None) -> ReadResult:
        """Read one note. Never raises for the disk; never leaves the vault; never opens an excluded file.

        Args:
            path: Of the note, in the vault.
            known: What was read of it before: returned where the file's stat is still the same.
        """
        found = self._found(path)
        if not isinstance(found, _Found):
            return found
        if known is not None and known.entry == found.entry:
            return known
        try:
            return self._content(found.entry.path, found.place, found.stat)
        except OSError as error:
            return self._fault(found.entry.path, error)

    def entry(self, path: NotePath) -> DiskEntry | Gone | Skipped | Unreadable:
        """Return a note's stat, by the same rules as ``read``, without opening it."""
        found = self._found(path)
        return found.entry if isinstance(found, _Found) else found

    def _found(self, path: NotePath) -> _Found | Gone | Skipped | Unreadable:
        cleaned = clean(path)
        if not cleaned:
            return Skipped(shown(path), "not a path in the vault")
        if not is_text(cleaned):
            return Skipped(shown(cleaned), "the file name is not valid UTF-8")
        if exclusion := self.rules.exclusion(cleaned) or self._conflict_copy(cleaned):
            return Skipped(cleaned, exclusion.reason)
        try:
            return self._judged(cleaned)
        except OSError as error:
            return self._fault(cleaned, error)

    def _fault(self, path: NotePath, error: OSError) -> Gone | Unreadable:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return self._missing(path)
        return Unreadable(path, _CHANGED if error.errno == errno.ELOOP else why(error))

    def _judged(self, path: NotePath) -> _Found | Skipped | Unreadable:
        look = self._look()
        place = absolute(self.root, path)
        found = retried(lambda: self._disk.lstat(place))
        if stat.S_ISLNK(found.st_mode):
            target = look.target(path)
            if not isinstance(target, str):
                return target
            place = target
            found = self._disk.lstat(place)
        elif self._linked(place):
            return Skipped(path, "it lies behind a linked folder")
        verdict = look.judge(path, found)
        return _Found(verdict, place, found) if isinstance(verdict, DiskEntry) else verdict

    def _content(self, path: NotePath, place: str, seen: os.stat_result) -> ReadResult:
        limit = self._limit(path)
        try:
            opened, data = grab(self._disk, place, limit)
        except NotRegular:
            return Unreadable(path, _CHANGED)
        # What was opened must be what the name led to, before and after: a folder swapped for a link in between would
        # otherwise lead out of the vault. A file that was only replaced by a newer one gets its turn at the next look.
        if not os.path.samestat(opened, seen) or self._linked(place):
            return Unreadable(path, _CHANGED)
        if len(data) > limit:
            return Skipped(path, f"over the limit of {size_words(limit)} ({limit_setting(path)})")
        if is_placeholder(opened, self._counts_blocks):
            return Unreadable(path, NOT_DOWNLOADED)
        if not is_converted(path) and looks_binary(data):
            return Skipped(path, "binary content", opened.st_size, opened.st_mtime_ns)
        # The stat from before the reading: if the file is written to meanwhile, the next look finds a newer one.
        return Content(disk_entry(path, opened), data)

    def _linked(self, place: str) -> bool:
        """Return True if a folder between the root and this place is a link.

        It runs for every hit that is shown: a stat a folder takes a fifth of the time of resolving the whole path.
        """
        if os.name == "nt":  # a junction is a link, but not to a stat
            return self._disk.realpath(place) != place
        end = place.find(os.sep, len(self.root.rstrip(os.sep)) + 1)
        while end > 0:
            if stat.S_ISLNK(self._disk.lstat(place[:end]).st_mode):
                return True
            end = place.find(os.sep, end + 1)
        return False

    def _missing(self, path: NotePath) -> Gone | Unreadable:
        try:
            found = self._look().locate(path)
        except RootAway:
            return Unreadable(path, "the vault's folder is away")
        if found is None:
            return Gone(path)
        return Unreadable(path, found.reason if isinstance(found, Unreadable) else _CHANGED)
