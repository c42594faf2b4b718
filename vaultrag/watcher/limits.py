"""Whether the system has a watch left for every folder of the vault. Linux only; elsewhere there is no such limit.

inotify wants one watch a folder, hidden ones too, and the library that adds them passes over the ones that fail in
silence. So the folders are counted against the limit, less what this user's processes hold already.
"""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")


def obstacle(root: str, proc: Path = PROC) -> str | None:
    """Return why native events cannot cover this vault, as a sentence with its cure; None when they can."""
    limit = watch_limit(proc)
    if limit is None:
        return None
    folders = count_folders(root)
    used = watches_in_use(proc)
    if folders <= limit - used:
        return None
    in_use = f", {used:,} of them in use" if used else ""
    return (
        f"{folders:,} folders need more watches than the system allows ({limit:,}{in_use}); "
        "raise fs.inotify.max_user_watches"
    )


def watches_here(proc: Path = PROC) -> int:
    """Count the watches that this process holds."""
    return sum(_watches_of(entry) for entry in _listing(str(proc)) if entry.name == str(os.getpid()))


def count_watchable(root: str) -> int:
    """Count the folders from the root down that a watch can be had for: those that may be read."""
    return count_folders(root, readable=True)


def exhausted(proc: Path = PROC) -> str | None:
    """Return whether no watch is left, so that folders made lately may have got none."""
    limit = watch_limit(proc)
    if limit is None or watches_in_use(proc) < limit:
        return None
    return f"all {limit:,} watches the system allows are in use; raise fs.inotify.max_user_watches"


def watch_limit(proc: Path = PROC) -> int | None:
    try:
        return int((proc / "sys/fs/inotify/max_user_watches").read_text())
    except (OSError, ValueError):
        return None


def watches_in_use(proc: Path = PROC) -> int:
    """Watches held by this user's processes, as far as they can be seen. Each is a line of some open file's info."""
    return sum(_watches_of(entry) for entry in _listing(str(proc)) if entry.name.isdigit() and _is_mine(entry))


def count_folders(root: str, *, readable: bool = False) -> int:
    """Folders from the root down, itself and hidden ones included, linked ones not.

    Args:
        readable: Only those that may be read.
    """
    count, waiting = 0, [root]
    while waiting:
        folder = waiting.pop()
        count += not readable or os.access(folder, os.R_OK)
        for entry in _listing(folder):
            try:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
            except OSError:
                continue
    return count


def _listing(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _is_mine(process: os.DirEntry[str]) -> bool:
    try:
        return process.stat().st_uid == os.getuid()
    except OSError:
        return False


def _watches_of(process: os.DirEntry[str]) -> int:
    return sum(
        _watch_lines(Path(process.path, "fdinfo", entry.name))
        for entry in _listing(f"{process.path}/fd")
        if _is_inotify(entry.path)
    )


def _is_inotify(descriptor: str) -> bool:
    try:
        return os.readlink(descriptor) == "anon_inode:inotify"  # noqa: PTH115 - thousands of these
    except OSError:
        return False


def _watch_lines(info: Path) -> int:
    try:
        return info.read_bytes().count(b"inotify wd:")
    except OSError:
        return 0
