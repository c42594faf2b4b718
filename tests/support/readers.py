"""``MemoryVault``: a vault in a dictionary. Fits ``ports.VaultReader``; passes the same contract as the disk reader."""

from __future__ import annotations

from collections.abc import Sequence

from vaultrag.config import NoteSettings
from vaultrag.domain import Content, DiskEntry, Gone, NotePath, ReadResult, Scan, Skipped, Unreadable
from vaultrag.markdown import looks_binary
from vaultrag.watcher.filters import VaultFilter
from vaultrag.watcher.paths import clean, covers, outermost


class MemoryVault:
    """Write, move and remove notes, make them fail, take the whole vault away; counts the looks taken at it.

    Attributes:
        away: The vault's folder cannot be found.
        scans: The scopes of every scan so far.
        reads: The path of every read so far.
    """

    def __init__(self, settings: NoteSettings = NoteSettings()) -> None:  # noqa: B008 - frozen
        self.away = False
        self.scans: list[tuple[NotePath, ...]] = []
        self.reads: list[NotePath] = []
        self._settings = settings
        self._rules = VaultFilter.build(settings.ignore)
        self._files: dict[NotePath, tuple[bytes, int, int]] = {}  # bytes, mtime_ns, inode
        self._faults: dict[NotePath, str] = {}
        self._ticks = 0

    # -- what a test does to it --------------------------------------------------------------------------------------

    def write(self, path: str, data: bytes | str) -> NotePath:
        """Make or change a file; its time moves on, its inode stays."""
        self._ticks += 1
        note = NotePath(path)
        inode = self._files[note][2] if note in self._files else self._ticks
        self._files[note] = (data.encode() if isinstance(data, str) else data, self._ticks * 1_000_000_000, inode)
        return note

    def move(self, source: str, target: str) -> None:
        """Rename a file, or a folder with all in it; times and inodes stay."""
        for path in [p for p in self._files if covers(source, p)]:
            self._files[NotePath(target + path[len(source) :])] = self._files.pop(path)

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all in it."""
        for inner in [p for p in self._files if covers(path, p)]:
            del self._files[inner]

    def fail(self, path: str, reason: str = "permission denied") -> None:
        """Let a file or folder be unreadable from now on."""
        self._faults[NotePath(path)] = reason

    def heal(self, path: str) -> None:
        self._faults.pop(NotePath(path), None)

    # -- the port ----------------------------------------------------------------------------------------------------

    def scan(self, scopes: Sequence[NotePath] = ()) -> Scan:
        wanted = outermost(list(scopes))
        parts = tuple(wanted) if "" not in wanted else ()
        self.scans.append(parts)
        if self.away:
            return Scan({}, scopes=parts, root_ok=False)
        entries: dict[NotePath, DiskEntry] = {}
        skipped: dict[NotePath, Skipped] = {}
        unreadable = {p: why for p, why in self._faults.items() if _in(parts, p) and not self._excluded(p)}
        # A look at something inside a folder that fails finds the folder failing.
        unreadable |= {p: why for p, why in self._faults.items() if any(covers(p, part) for part in parts)}
        for path in sorted(self._files):
            if not _in(parts, path) or self._fault(path):
                continue
            verdict = self._judge(path)
            if isinstance(verdict, DiskEntry):
                entries[path] = verdict
            elif isinstance(verdict, Skipped):
                skipped[path] = verdict
        return Scan(entries, skipped, unreadable, parts)

    def read(self, path: NotePath) -> ReadResult:
        self.reads.append(path)
        if not clean(path):
            return Skipped(path, "not a path in the vault")
        if exclusion := self._rules.exclusion(path):
            return Skipped(path, exclusion.reason)
        if self.away:
            return Unreadable(path, "the vault's folder is away")
        if fault := self._fault(path):
            return Unreadable(path, fault)
        if path not in self._files:
            return Gone(path)
        verdict = self._judge(path)
        if not isinstance(verdict, DiskEntry):
            return verdict or Gone(path)
        data = self._files[path][0]
        if looks_binary(data):
            return Skipped(path, "binary content", verdict.size, verdict.mtime_ns)
        return Content(verdict, data)

    def _judge(self, path: NotePath) -> DiskEntry | Skipped | None:
        data, mtime_ns, inode = self._files[path]
        if exclusion := self._rules.exclusion(path):
            return Skipped(path, exclusion.reason) if exclusion.told else None
        if len(data) > self._settings.max_bytes:
            return Skipped(path, f"{len(data)} bytes, over the limit", len(data), mtime_ns)
        return DiskEntry(path, len(data), mtime_ns, inode)

    def _excluded(self, path: NotePath) -> bool:
        return self._rules.exclusion(path, is_dir=path not in self._files) is not None

    def _fault(self, path: str) -> str | None:
        return next((why for place, why in self._faults.items() if covers(place, path)), None)


def _in(scopes: Sequence[str], path: str) -> bool:
    return not scopes or any(covers(scope, path) for scope in scopes)
