"""The few system calls the reader makes, in one object, so that a test can make the disk fail. Nothing is written.

``grab`` is the one way a file's bytes get in: it opens without waiting (a FIFO has no writer) and without following a
link that was slipped in, and takes the stat from the open file.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_RETRY_PAUSE_S = 0.05
_CHUNK, _AT_LEAST = 1 << 20, 1 << 16


class Disk:
    """The real one. Every method may raise OSError."""

    def listing(self, folder: str) -> list[os.DirEntry[str]]:
        """Return the whole listing or none: a half one would make files look gone."""
        with os.scandir(folder) as entries:
            return list(entries)

    def entry_stat(self, entry: os.DirEntry[str]) -> os.stat_result:
        return entry.stat(follow_symlinks=False)

    def lstat(self, path: str) -> os.stat_result:
        return os.lstat(path)

    def realpath(self, path: str) -> str:
        return os.path.realpath(path, strict=True)

    def open(self, path: str) -> int:
        return os.open(path, _OPEN_FLAGS)

    def fstat(self, descriptor: int) -> os.stat_result:
        return os.fstat(descriptor)

    def read(self, descriptor: int, count: int) -> bytes:
        return os.read(descriptor, count)


class NotRegular(OSError):
    """The path is no regular file."""


def grab(disk: Disk, path: str, max_bytes: int) -> tuple[os.stat_result, bytes]:
    """Return a regular file's stat and bytes, at most one byte more than ``max_bytes``.

    Raises:
        OSError: As the system says; ``NotRegular`` when the path names something else.
    """
    descriptor = retried(lambda: disk.open(path))
    try:
        found = disk.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise NotRegular(errno.EINVAL, "not a regular file")
        chunks: list[bytes] = []
        left = max_bytes + 1
        # To ask for much more than there is costs more than to read it: a buffer of that size is made first.
        enough = min(_CHUNK, max(found.st_size + 1, _AT_LEAST))
        while left > 0 and (chunk := disk.read(descriptor, wanted := min(left, enough))):
            chunks.append(chunk)
            left -= len(chunk)
            if len(chunk) < wanted and max_bytes + 1 - left >= found.st_size:
                break  # a short read with all of the file in it: no need to be told so by an empty one
        return found, b"".join(chunks)
    finally:
        os.close(descriptor)


def retried(call: Callable[[], T]) -> T:
    """Once more after a moment, when only the process's or the system's open files ran out."""
    try:
        return call()
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
    time.sleep(_RETRY_PAUSE_S)
    return call()


def why(error: OSError) -> str:
    """Return an OSError in words for a person, without the path."""
    if error.errno in (errno.EAGAIN, errno.EDEADLK):
        return "not downloaded yet: its sync service holds the content"
    return (error.strerror or type(error).__name__).lower()


def absolute(root: str, path: str) -> str:
    return f"{root.rstrip(os.sep)}{os.sep}{path}" if path else root


def inside(root: str, resolved: str) -> str | None:
    """Return the vault-relative path of a resolved absolute one; None when it lies outside."""
    if resolved == root:
        return ""
    prefix = root.rstrip(os.sep) + os.sep
    return resolved[len(prefix) :].replace(os.sep, "/") if resolved.startswith(prefix) else None


def resolved_root(root: Path) -> str:
    """Return the vault's folder with every link in it followed: what all other paths are compared with."""
    return os.path.realpath(root)
