"""The vault's files as notes, of whatever kind: a note is read from the disk, any other file from what was made of it.

What is not made yet, or is older than its file, is asked for, and what is known meanwhile is returned: at first nothing
but the name, later the text of the file as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from vaultrag.domain import Content, DiskEntry, NotePath, ReadResult, Scan
from vaultrag.domain.kinds import is_converted, kind_of
from vaultrag.domain.sources import SourceRecord
from vaultrag.protocols import SourceStore, VaultFiles

TO_RECOGNISE = "{}; it waits for its text to be recognised (OCR)"
NOT_RECOGNISED = "{}; install the extra [attachments] to have it recognised (OCR)"

Ask = Callable[[DiskEntry], None]


class SourceReader:
    """Fits ``protocols.VaultReader``. Callable from any thread."""

    def __init__(
        self, disk: VaultFiles, texts: SourceStore, version: int, ask: Ask, recognise: Ask | None = None
    ) -> None:
        """Read this vault.

        Args:
            disk: Its files.
            texts: What was made of those that are no notes.
            version: Of the readers that make it.
            ask: Has a text made; the path is noticed as changed when it is there.
            recognise: The same of text in pictures; None where nothing can.
        """
        self._disk = disk
        self._texts = texts
        self._version = version
        self._ask = ask
        self._recognise = recognise
        self._present: frozenset[NotePath] = frozenset()

    def scan(self, scopes: Sequence[NotePath] = ()) -> Scan:
        """Look at the vault; see ``DiskReader.scan``. What is not made yet is asked for."""
        scan = self._disk.scan(scopes)
        files = {path: entry for path, entry in scan.entries.items() if is_converted(path)}
        for path, entry in files.items():
            self._waits(entry, self._texts.record(path))
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
        if record is None or text is None:
            self._waits(entry, None)
            return Content(entry, b"", waits=True)
        return Content(entry, text.encode(), self._problem(record), self._waits(entry, record))

    def size_of(self, entry: DiskEntry) -> int:
        """Return the size of a note's text: the file's, or that of what was made of it; 0 for none yet."""
        if not is_converted(entry.path):
            return entry.size
        record = self._texts.record(entry.path)
        return record.chars if record is not None else 0

    def _waits(self, entry: DiskEntry, record: SourceRecord | None) -> bool:
        """Return whether a file, or a part of it, is still to be read; have it read then."""
        current = record is not None and record.entry == entry and record.version == self._version
        if current and record is not None and not record.pictures:
            return False
        only_pictures = current or kind_of(entry.path) == "image"
        ask = self._recognise if only_pictures else self._ask
        if ask is None:
            return False
        ask(entry)
        return True

    def _problem(self, record: SourceRecord) -> str:
        if not record.pictures:
            return record.problem
        return (TO_RECOGNISE if self._recognise is not None else NOT_RECOGNISED).format(record.problem)

    def _forget(self, present: frozenset[NotePath], scan: Scan) -> None:
        """Drop the texts of files that two looks in a row did not find: one that was moved is made of its old text."""
        if not scan.unreadable:
            with suppress(OSError):
                self._texts.keep_only(present | self._present)
        self._present = present
