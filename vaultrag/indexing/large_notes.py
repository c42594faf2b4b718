"""Queue of large notes: each is parsed in a thread of its own, and written when no small note waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from vaultrag.domain import DiskEntry, IndexedEntry, NotePath
from vaultrag.domain.kinds import is_converted
from vaultrag.indexing.applier import Prepared
from vaultrag.indexing.planner import Plan

LARGE_BYTES = 1_000_000
"""A note of this size takes about a second from file to index; one of 10 MB takes ten."""


@dataclass(frozen=True, slots=True)
class LargeNote:
    """A large file that differs from the index.

    Attributes:
        entry: The file as the scan found it.
        known: The note in the index at the same path.
        origin: The note in the index that was moved here, judged by its stat.
    """

    entry: DiskEntry
    known: IndexedEntry | None = None
    origin: IndexedEntry | None = None


class LargeNotes:
    """Large notes that the index still lacks, smallest and newest first.

    At most one is parsed and held in memory at a time. Only the index worker's thread calls the methods.
    """

    def __init__(
        self,
        prepare: Callable[[LargeNote], Prepared],
        wake: Callable[[], None],
        name: str,
        size_of: Callable[[DiskEntry], int] = lambda entry: entry.size,
    ) -> None:
        """Create an empty queue.

        Args:
            size_of: Bytes of a note's text.
            prepare: Reads and parses a note; called in a thread of its own.
            wake: Called in that thread when a note is ready to be written.
            name: Part of the thread's name.
        """
        self._prepare = prepare
        self._wake = wake
        self._name = name
        self._size_of = size_of
        self._waiting: dict[NotePath, LargeNote] = {}
        self._current: LargeNote | None = None
        self._result: Prepared | Exception | None = None

    def __len__(self) -> int:
        return len(self._waiting) + (self._current is not None)

    @property
    def in_hand(self) -> bool:
        """Return True while a note is prepared, or ready."""
        return self._current is not None

    @property
    def ready(self) -> bool:
        """Return True when a note can be written."""
        return self._result is not None

    def split(self, plan: Plan, indexed: Mapping[NotePath, IndexedEntry]) -> Plan:
        """Queue the plan's large notes and return the plan without them."""
        large = {entry.path: entry for entry in plan.read if self._size_of(entry) > LARGE_BYTES}
        if not large:
            return plan
        moved = {(entry.inode, entry.size, entry.mtime_ns): entry for entry in plan.moved}
        origins = set[NotePath]()
        for path, entry in large.items():
            known = indexed.get(path)
            origin = None if known else moved.pop((entry.inode, entry.size, entry.mtime_ns), None)
            if origin is not None:
                origins.add(origin.path)
            # Of a file that is converted another text may be there by now, though the file is the same.
            if self._current is None or self._current.entry != entry or is_converted(path):
                self._waiting[path] = LargeNote(entry, known, origin)
        return replace(
            plan,
            read=tuple(entry for entry in plan.read if entry.path not in large),
            delete=tuple(entry for entry in plan.delete if entry.path not in origins),
            moved=tuple(entry for entry in plan.moved if entry.path not in origins),
        )

    def start_next(self) -> None:
        """Start to prepare the next note, unless one is in hand."""
        if self._current is not None or not self._waiting:
            return
        note = min(self._waiting.values(), key=lambda note: (self._size_of(note.entry), -note.entry.mtime_ns))
        self._current = self._waiting.pop(note.entry.path)
        threading.Thread(target=self._run, args=(note,), name=f"large-{self._name}", daemon=True).start()

    def take(self) -> tuple[LargeNote, Prepared]:
        """Return the note that is ready; ``start_next`` may be called once it is written.

        Raises:
            Exception: The note could not be prepared.
        """
        note, result = self._current, self._result
        self._current = self._result = None
        if isinstance(result, Exception):
            raise result
        assert note is not None
        assert result is not None
        return note, result

    def _run(self, note: LargeNote) -> None:
        try:
            self._result = self._prepare(note)
        except Exception as fault:  # raised again by ``take``, in the worker's thread
            self._result = fault
        self._wake()
