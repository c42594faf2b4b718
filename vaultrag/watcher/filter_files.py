"""Reads the files in the vault that say what is no note: ``.vaultragignore``, and settings of Obsidian and Templater.

A file that is there but cannot be read or understood leaves in force what was last read from it: a moment's fault must
not put into the index what a person asked to leave out. These may be links to anywhere (people keep their settings
in one place): they are settings, not notes, and ignoring them would be the greater harm.
"""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass
from typing import Any

from vaultrag.watcher.disk import Disk, absolute, grab, why
from vaultrag.watcher.filters import IGNORE_FILE, OBSIDIAN_FILE, TEMPLATE_FILES
from vaultrag.watcher.paths import clean, is_text

_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class FilterFiles:
    """The rules of these files.

    Attributes:
        templates: Folders of templates, each with the file that names it; the empty text for none.
        problems: Sentences for ``status`` and ``doctor``.
    """

    ignore_text: str = ""
    obsidian: tuple[str, ...] = ()
    templates: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()


def load(disk: Disk, root: str, *, obsidian: bool, templates: bool, before: FilterFiles | None = None) -> FilterFiles:
    """Read the files; what fails keeps its state of ``before``. Never raises.

    Args:
        disk: Reads files.
        root: The vault's folder.
        obsidian: Read Obsidian's excluded files.
        templates: Read the folders of templates.
        before: What was read last.
    """
    known = before or FilterFiles()
    problems: list[str] = []
    text = _ignore_text(disk, root, known.ignore_text, problems)
    entries = _obsidian_entries(disk, root, known.obsidian, problems) if obsidian else ()
    known_folders = {file: folder for folder, file in known.templates}
    folders = [
        (_template_folder(disk, root, file, key, known_folders.get(file, ""), problems), file)
        for file, key in (TEMPLATE_FILES.items() if templates else ())
    ]
    return FilterFiles(text, entries, tuple(folders), tuple(problems))


def _ignore_text(disk: Disk, root: str, before: str, problems: list[str]) -> str:
    data = vault_file(disk, root, IGNORE_FILE, problems)
    if data is None:
        return before
    text = data.decode("utf-8-sig", "replace")
    if "\ufffd" in text:
        problems.append(f"{IGNORE_FILE} is not valid UTF-8; lines with such bytes match nothing")
    return text


def _obsidian_entries(disk: Disk, root: str, before: tuple[str, ...], problems: list[str]) -> tuple[str, ...]:
    table = _table(disk, root, OBSIDIAN_FILE, "Obsidian's excluded files are", problems)
    if table is None:
        return before
    entries = table.get("userIgnoreFilters")
    if entries is None:
        return ()
    if not isinstance(entries, list):
        problems.append(f"{OBSIDIAN_FILE}: userIgnoreFilters is not a list")
        return before
    return tuple(entry for entry in entries if isinstance(entry, str) and is_text(entry))


def _template_folder(disk: Disk, root: str, file: str, key: str, before: str, problems: list[str]) -> str:
    table = _table(disk, root, file, "the folder of templates is", problems)
    if table is None:
        return before
    folder = table.get(key)
    if not isinstance(folder, str) or not is_text(folder):
        return ""
    return clean(folder.strip().strip("/")) or ""  # "/" is the whole vault: no folder of templates


def _table(disk: Disk, root: str, file: str, what: str, problems: list[str]) -> dict[str, Any] | None:
    """Return a file's JSON object, empty without the file; None where it cannot be read or understood."""
    data = vault_file(disk, root, file, problems)
    if data is None:
        return None
    if not data.strip():
        return {}
    try:
        table = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        problems.append(f"{file} is not valid JSON, so {what} as last read: {error}")
        return None
    return table if isinstance(table, dict) else {}


def vault_file(disk: Disk, root: str, path: str, problems: list[str]) -> bytes | None:
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
