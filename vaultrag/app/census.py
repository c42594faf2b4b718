"""What has become of everything in a vault: each file is counted once, under its fate and the reason for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from vaultrag.app.context import LISTED, VaultContext
from vaultrag.domain import FileCount, NotePath
from vaultrag.domain.kinds import kind_of

FATES = ("indexed", "waiting", "unreadable", "skipped", "excluded", "other", "hidden")
"""In the order in which they are told."""


def file_counts(parts: VaultContext, *, listed: bool) -> tuple[FileCount, ...]:
    """Walk the vault and count its files by what became of them.

    Args:
        parts: The vault's; for agents nothing is counted, because a file that was not read may be private.
        listed: Name the files too, the first ``LISTED`` of each count; never those that are indexed.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for path, fate, why in _fates(parts):
        found.setdefault((fate, why), []).append(path)
    counts = [
        FileCount(fate, why, len(paths), tuple(sorted(paths)[:LISTED]) if listed and fate != "indexed" else ())
        for (fate, why), paths in found.items()
    ]
    return tuple(sorted(counts, key=lambda one: (FATES.index(one.fate), -one.files, one.why)))


def _fates(parts: VaultContext) -> Iterator[tuple[str, str, str]]:
    indexed, skipped, unread = parts.indexed(), parts.index.skipped(), dict(parts.worker.unread)
    for name, why in parts.files():
        path = NotePath(name)
        if path in indexed:
            yield path, "indexed", kind_of(path) or ""
        elif (reason := unread.pop(path, None)) is not None:
            yield path, "unreadable", reason
        elif path in skipped:
            yield path, "skipped", skipped[path].reason
        elif not why:
            yield path, "waiting", "not read yet"
        elif why.startswith("hidden"):
            yield path, "hidden", why
        elif why.startswith("not a note"):
            yield path, "other", PurePosixPath(name).suffix.lower() or "no suffix"
        else:
            yield path, "excluded", why
    for path, reason in unread.items():  # folders that cannot be listed
        if path not in indexed:
            yield path, "unreadable", reason
