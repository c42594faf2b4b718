"""The notes that rules leave out, each with its rule: for a person who wonders how much that is."""

from __future__ import annotations

from vaultrag.watch.filters import is_note_name
from vaultrag.watch.paths import is_text, join
from vaultrag.watch.reader import DiskReader

MAX_LOOKED_AT = 200_000
"""Files and folders looked at; beyond, the list ends early."""


def excluded_notes(reader: DiskReader) -> dict[str, str]:
    """Reason by path. Hidden folders are not looked into: they are never notes. Nothing is opened."""
    found: dict[str, str] = {}
    waiting: list[tuple[str, str]] = [("", "")]
    looked_at = 0
    while waiting and looked_at < MAX_LOOKED_AT:
        folder, inherited = waiting.pop()
        for name, is_dir in reader.names_in(folder):
            looked_at += 1
            path = join(folder, name)
            if name.startswith(".") or not is_text(path):
                continue
            reason = inherited
            if not reason and (exclusion := reader.rules.step(path, is_dir)):
                reason = exclusion.reason
            if is_dir:
                waiting.append((path, reason))
            elif reason and is_note_name(name):
                found[path] = reason
    return found
