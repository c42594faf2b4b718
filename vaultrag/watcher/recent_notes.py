"""The notes that were read for the last answers, so that who types on is not read the same files at every key."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Protocol

from vaultrag.domain import Content, NotePath, ReadResult

NOTES = 256
NOTE_BYTES = 16 << 10
"""Of so many notes, each no longer than this: 4 MB at most."""

SETTLED_NS = 2_000_000_000
"""A file that was changed so shortly before it was read may change again without its times telling so: they are as
coarse as two seconds on some file systems."""


class Rereader(Protocol):
    """Reads a note, or returns what was read of it before."""

    def read(self, path: NotePath, known: Content | None = None) -> ReadResult:
        """See ``DiskReader.read``."""
        ...


class RecentNotes:
    """Fits ``protocols.NoteReader``: reads a file anew only where its stat is another. Callable from any thread."""

    def __init__(self, reader: Rereader) -> None:
        self._reader = reader
        self._kept: OrderedDict[NotePath, Content] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, path: NotePath) -> ReadResult:
        """Read one note; see ``DiskReader.read``, whose rules hold each time."""
        with self._lock:
            known = self._kept.get(path)
        now = time.time_ns()
        result = self._reader.read(path, known)
        if isinstance(result, Content) and result is not known:
            self._keep(path, result, now)
        return result

    def _keep(self, path: NotePath, content: Content, now: int) -> None:
        changed = max(content.entry.mtime_ns, content.entry.ctime_ns)
        with self._lock:
            self._kept.pop(path, None)
            if len(content.data) <= NOTE_BYTES and changed + SETTLED_NS < now:
                self._kept[path] = content
                if len(self._kept) > NOTES:
                    self._kept.popitem(last=False)
