"""watchdog, fenced in: the system's own file events as (vault-relative path, is it a folder), nothing else.

Its traps, as of 7.1, and what is done about them:

- Events for opening and for closing without a write would make our own reading look like a change: a white list.
- ``DirModified`` comes with every save of a file in the folder and would have the whole folder read again: left out;
  folders are heard of when they are made, moved and removed.
- When the kernel's queue overflows, events are lost and only a log record says so: a log handler listens.
- A folder that is moved out and in again raises a RuntimeWarning in its thread, which ends the thread where warnings
  are errors: that one is silenced; and all its threads are asked whether they live.
- A save by "write aside, then rename" shows the note's name only as the destination: both ends of a move count.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
import warnings
from collections.abc import Callable

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from vaultrag.watcher.disk import inside
from vaultrag.watcher.limits import count_watchable, watches_here

_EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    FileClosedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]
_STOP_S = 5.0

OnPath = Callable[[str, bool], None]
OnLost = Callable[[str], None]


class NativeEvents:
    """A running watch. ``on_path`` and ``on_lost`` are called from watchdog's threads and must be quick."""

    def __init__(self, observer: BaseObserver, listener: _OverflowListener) -> None:
        self._observer = observer
        self._listener = listener

    @classmethod
    def open(cls, root: str, on_path: OnPath, on_lost: OnLost) -> NativeEvents:
        """Watch the folder and all under it; when this returns, the watches are in place.

        Raises:
            OSError: No watch, or no instance, to be had (ENOSPC, EMFILE), or no such folder.
        """
        listener = _OverflowListener(on_lost)
        observer = Observer()
        logging.getLogger("watchdog").addHandler(listener)
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        opened = cls(observer, listener)
        try:
            with _OPENING:
                before = watches_here()
                observer.schedule(_Handler(root, on_path), root, recursive=True, event_filter=_EVENTS)
                observer.start()
                _check_watches(root, watches_here() - before)
        except BaseException:
            opened.close()
            raise
        return opened

    @property
    def alive(self) -> bool:
        """False once a thread of it has ended: the folder was removed, or watchdog failed."""
        emitters = list(self._observer.emitters)
        # The thread that reads inotify is not in the public interface; where there is none, nothing is missing.
        reader = getattr(self._observer, "_inotify_fd", self._observer)
        return bool(emitters) and all(thread.is_alive() for thread in (self._observer, reader, *emitters))

    def close(self) -> None:
        """End the threads and give the watches back. Safe to call twice."""
        logging.getLogger("watchdog").removeHandler(self._listener)
        # Also when it was never started: its inotify thread runs from the constructor on.
        self._observer.stop()
        if self._observer.ident is not None:
            self._observer.join(_STOP_S)


_OPENING = threading.Lock()  # the watches of one vault are counted at a time


def _check_watches(root: str, made: int) -> None:
    """See that every folder got its watch. watchdog passes over those that the system refuses, in silence.

    The limit that the system tells may be another than the one that holds, in a container for one: what counts is what
    there is.

    Raises:
        OSError: Some are missing (ENOSPC).
    """
    if made <= 0:
        return  # not Linux, or its /proc cannot be read
    wanted = count_watchable(root)
    if made < wanted:
        raise OSError(errno.ENOSPC, f"{wanted - made:,} of {wanted:,} folders got no watch")


class _Handler(FileSystemEventHandler):
    def __init__(self, root: str, on_path: OnPath) -> None:
        self._root = root
        self._on_path = on_path

    def dispatch(self, event: FileSystemEvent) -> None:
        for end in (event.src_path, event.dest_path):
            if end and (path := inside(self._root, os.fsdecode(end))) is not None:
                self._on_path(path, event.is_directory)


class _OverflowListener(logging.Handler):
    def __init__(self, on_lost: OnLost) -> None:
        super().__init__(logging.WARNING)
        self._on_lost = on_lost

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in str(record.msg).lower():
            self._on_lost("the system lost file events: its queue overflowed")
