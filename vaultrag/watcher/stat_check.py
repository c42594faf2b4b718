"""What one ``stat`` says of a would-be note: worth reading, to be skipped, or not readable now. Pure."""

from __future__ import annotations

import os
import stat

from vaultrag.domain import DiskEntry, NotePath, Skipped, Unreadable
from vaultrag.domain.kinds import is_converted

PLACEHOLDER_BYTES = 4096
"""A file under this size may lie inside its inode or its directory and own no block at all (ext4 inline_data, btrfs
inline extents, NTFS resident files, ZFS embedded blocks; none of them reaches one 4 KiB page)."""

_SF_DATALESS = 0x40000000  # macOS: the name is here, the content is in the cloud; opening would fetch it

NOT_DOWNLOADED = "not downloaded yet"

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link"),
)


def judge(
    path: NotePath, found: os.stat_result, max_bytes: int, counts_blocks: bool
) -> DiskEntry | Skipped | Unreadable:
    """Decide by the stat alone, before anything is opened.

    Args:
        counts_blocks: This file system is known to fill in ``st_blocks``. Some (FUSE drivers, mostly) leave it 0 for
            every file; there, no blocks means nothing.
    """
    if not stat.S_ISREG(found.st_mode):
        return Skipped(path, f"not a regular file: {_kind(found.st_mode)}")
    if found.st_size > max_bytes:
        why = f"{size_words(found.st_size)}, over the limit of {size_words(max_bytes)} ({limit_setting(path)})"
        return Skipped(path, why, found.st_size, found.st_mtime_ns)
    if is_placeholder(found, counts_blocks):
        return Unreadable(path, NOT_DOWNLOADED)
    return disk_entry(path, found)


def limit_setting(path: str) -> str:
    """Return the setting that bounds the size of this file."""
    return "sources.max_bytes" if is_converted(path) else "notes.max_bytes"


def disk_entry(path: NotePath, found: os.stat_result) -> DiskEntry:
    """Return what a stat tells of a note."""
    birth_ns = int(getattr(found, "st_birthtime", 0) * 1e9)  # macOS and Windows; Linux does not say
    return DiskEntry(path, found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns, birth_ns)


def is_placeholder(found: os.stat_result, counts_blocks: bool) -> bool:
    """Return whether the content is elsewhere, so that opening would fail, hang or download."""
    if getattr(found, "st_flags", 0) & _SF_DATALESS:
        return True
    return counts_blocks and found.st_size >= PLACEHOLDER_BYTES and getattr(found, "st_blocks", 1) == 0


def shows_blocks(found: os.stat_result) -> bool:
    """Return whether this stat proves that the file system counts blocks."""
    return getattr(found, "st_blocks", 0) > 0


def size_words(count: int) -> str:
    """``12.3 MB``; exact below 1,000 bytes."""
    size, unit = float(count), "bytes"
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{count} bytes" if unit == "bytes" else f"{size:.1f}".removesuffix(".0") + f" {unit}"


def _kind(mode: int) -> str:
    return next((words for is_kind, words in _KINDS if is_kind(mode)), "something else")
