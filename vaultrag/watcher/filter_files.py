"""Reads the two files in the vault that say what is no note: ``.vaultragignore`` and Obsidian's ``app.json``.

A file that is there but cannot be read or understood leaves in force what was last read from it: a moment's fault must
not put into the index what a person asked to leave out. These two may be links to anywhere (people keep their settings
in one place): they are settings, not notes, and ignoring them would be the greater harm.
"""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass

from vaultrag.watcher.disk import Disk, absolute, grab, why
from vaultrag.watcher.filters import IGNORE_FILE, OBSIDIAN_FILE
from vaultrag.watcher.paths import is_text

_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class FilterFiles:
    """The rules of the two files. ``problems`` are sentences for ``status`` and ``doctor``."""

    ignore_text: str = ""
    obsidian: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def load(disk: Disk, root: str, *, obsidian: bool, before: FilterFiles | None = None) -> FilterFiles:
    """Read both files; what fails keeps its state of ``before``. Never raises."""
    known = before or FilterFiles()
    problems: list[str] = []
    text = _ignore_text(disk, root, known.ignore_text, problems)
    entries = _obsidian_entries(disk, root, known.obsidian, problems) if obsidian else ()
    return FilterFiles(text, entries, tuple(problems))


def _ignore_text(disk: Disk, root: str, before: str, problems: list[str]) -> str:
    data = _bytes(disk, root, IGNORE_FILE, problems)
    if data is None:
        return before
    text = data.decode("utf-8-sig", "replace")
    if "\ufffd" in text:
        problems.append(f"{IGNORE_FILE} is not valid UTF-8; lines with such bytes match nothing")
    return text


def _obsidian_entries(disk: Disk, root: str, before: tuple[str, ...], problems: list[str]) -> tuple[str, ...]:
    data = _bytes(disk, root, OBSIDIAN_FILE, problems)
    if data is None:
        return before
    if not data.strip():
        return ()
    try:
        table = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        problems.append(f"{OBSIDIAN_FILE} is not valid JSON, so Obsidian's excluded files are as last read: {error}")
        return before
    entries = table.get("userIgnoreFilters") if isinstance(table, dict) else None
    if entries is None:
        return ()
    if not isinstance(entries, list):
        problems.append(f"{OBSIDIAN_FILE}: userIgnoreFilters is not a list")
        return before
    return tuple(entry for entry in entries if isinstance(entry, str) and is_text(entry))


def _bytes(disk: Disk, root: str, path: str, problems: list[str]) -> bytes | None:
    """Return the file's bytes, empty when there is no such file, None when it cannot be read."""
    try:
        _, data = grab(disk, disk.realpath(absolute(root, path)), _MAX_BYTES)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return b""
        problems.append(f"{path} cannot be read, so what it said before still holds: {why(error)}")
        return None
    if len(data) > _MAX_BYTES:
        problems.append(f"{path} is larger than {_MAX_BYTES:,} bytes, so what it said before still holds")
        return None
    return data
