"""Every file of a vault and the rule that leaves it out: for a person who wonders what becomes of it all."""

from __future__ import annotations

from collections.abc import Iterator

from vaultrag.domain.kinds import kind_of
from vaultrag.watcher.paths import join, shown
from vaultrag.watcher.reader import DiskReader

MAX_LOOKED_AT = 200_000
"""Files and folders looked at; beyond, the list ends early."""

HIDDEN = "hidden: not looked into"
"""Why hidden files and folders are left out, whatever the rules say."""


def every_file(reader: DiskReader) -> Iterator[tuple[str, str]]:
    """Yield the path of each file, and why it is left out; empty for a note.

    A hidden folder counts as one file. Nothing is opened.
    """
    waiting: list[tuple[str, str]] = [("", "")]
    looked_at = 0
    while waiting and looked_at < MAX_LOOKED_AT:
        folder, inherited = waiting.pop()
        for name, is_dir in reader.names_in(folder):
            looked_at += 1
            path = join(folder, name)
            if name.startswith("."):
                yield shown(path), HIDDEN
                continue
            reason = inherited
            if not reason and (exclusion := reader.rules.step(path, is_dir)):
                reason = exclusion.reason
            if is_dir:
                waiting.append((path, reason))
            else:
                yield shown(path), reason


def excluded_notes(reader: DiskReader) -> dict[str, str]:
    """Return the notes that rules leave out, each with its rule."""
    return {path: why for path, why in every_file(reader) if why and why != HIDDEN and kind_of(path) is not None}
