"""The vault's files as notes, of whatever kind: a note is read from the disk, any other file from what was made of it.

What is not made yet, or is older than its file, is asked for, and what is known meanwhile is returned: at first nothing
but the name, later the text of the file as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from vaultrag.domain import Content, DiskEntry, NotePath, ReadResult, Scan
from vaultrag.domain.kinds import is_converted
from vaultrag.domain.sources import SourceRecord
from vaultrag.protocols import SourceStore, VaultFiles


class SourceReader:
    """Fits ``protocols.VaultReader``. Callable from any thread."""

    def __init__(self, disk: VaultFiles, texts: SourceStore, version: int, ask: Callable[[DiskEntry], None]) -> None:
        """Read this vault.

        Args:
            disk: Its files.
            texts: What was made of those that are no notes.
            version: Of the readers that make it.
            ask: Has a text made; the path is noticed as changed when it is there.
        """
        self._disk = disk
        self._texts = texts
        self._version = version
        self._ask = ask
        self._present: frozenset[NotePath] = frozenset()

    def scan(self, scopes: Sequence[NotePath] = ()) -> Scan:
        """Look at the vault; see ``DiskReader.scan``. What is not made yet is asked for."""
        scan = self._disk.scan(scopes)
        files = {path: entry for path, entry in scan.entries.items() if is_converted(path)}
        for path, entry in files.items():
            if not is_current(self._texts.record(path), entry, self._version):
                self._ask(entry)
        if scan.root_ok and not scan.scopes:
            self._forget(frozenset(files), scan)
        return scan

    def read(self, path: NotePath, known: Content | None = None) -> ReadResult:
        """Read one note; see ``DiskReader.read``."""
        if not is_converted(path):
            return self._disk.read(path, known)
        entry = self._disk.entry(path)
        if not isinstance(entry, DiskEntry):
            return entry
        record = self._texts.record(entry.path)
        text = self._texts.text(entry.path) if record is not None else None
        waits = text is None or not is_current(record, entry, self._version)
        if waits:
            self._ask(entry)
        problem = record.problem if record is not None and text is not None else ""
        return Content(entry, (text or "").encode(), problem, waits)

    def _forget(self, present: frozenset[NotePath], scan: Scan) -> None:
        """Drop the texts of files that two looks in a row did not find: one that was moved is made of its old text."""
        if not scan.unreadable:
            with suppress(OSError):
                self._texts.keep_only(present | self._present)
        self._present = present


def is_current(record: SourceRecord | None, entry: DiskEntry, version: int) -> bool:
    """Return whether a text was made of this very file, by the readers of this version."""
    return record is not None and record.entry == entry and record.version == version
