"""What differs between the disk and the index, decided purely: a scan and the index's memory in, a plan out.

"Cannot read" is never "gone": what lies at or below something unreadable stays as it is, and nothing at all is deleted
while the vault's own folder is away. A plan that would delete much is marked, so that its owner looks again before
believing it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vaultrag.domain import DiskEntry, IndexedEntry, NotePath, Scan, Skipped

DELETE_SHARE = 0.2
"""A scan that misses more than this share of the notes must be confirmed by a second one."""

DELETE_FEW = 5
"""So many may go at once without a second look, in a vault however small."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The files to read and the notes to delete.

    Attributes:
        read: Files to read: new, or not as remembered.
        delete: Notes that are not on the disk any more.
        doubtful: Why the deletions should be confirmed first; empty when they are plausible.
        moved: Notes among ``delete`` that stand elsewhere now, by all that a stat can tell: never doubtful.
        away: The vault's folder cannot be looked at; nothing is to be done.
        kept: Notes kept because their file or folder cannot be read now.
    """

    read: tuple[DiskEntry, ...] = ()
    delete: tuple[IndexedEntry, ...] = ()
    doubtful: str = ""
    moved: tuple[IndexedEntry, ...] = ()
    away: bool = False
    kept: int = 0

    def __bool__(self) -> bool:
        return bool(self.read or self.delete)


def plan(
    scan: Scan,
    indexed: Mapping[NotePath, IndexedEntry],
    *,
    known: int | None = None,
    skipped: Mapping[NotePath, Skipped] | None = None,
    read_all: bool = False,
) -> Plan:
    """Compare a scan with the index.

    Files that the scan was asked for by name are read whatever their times say: an event named them, and two writes
    within one tick of the file system's clock look alike.

    Args:
        scan: What is on the disk, in the whole vault or in the scan's scopes.
        indexed: What the index remembers of the same part.
        known: Notes in the whole index; as many as ``indexed`` where it is not said.
        skipped: Files that were read before and found to be no notes: not read again while they stay as they are.
        read_all: Read every file, for a stat cannot tell a change that kept size, time and inode.
    """
    if not scan.root_ok:
        return Plan(away=True)
    named = {scope for scope in scan.scopes if scope in scan.entries}
    passed_by = skipped or {}
    read = tuple(
        entry
        for path, entry in scan.entries.items()
        if read_all
        or path in named
        or (_differs(entry, indexed.get(path)) and not same_as_skipped(entry, passed_by.get(path)))
    )
    unreadable = sorted(scan.unreadable)
    missing, kept = [], 0
    for entry in _in_scope(indexed, scan.scopes):
        if entry.path in scan.entries:
            continue
        if _at_or_below(entry.path, unreadable):
            kept += 1
        else:
            missing.append(entry)
    moved = _moved(missing, read, indexed)
    doubt = _doubt(len(missing) - len(moved), len(indexed) if known is None else known, scan)
    return Plan(read, tuple(missing), doubt, moved, kept=kept)


def same_as_skipped(entry: DiskEntry, known: Skipped | None) -> bool:
    """Return whether this is the very file that was read and passed by."""
    return known is not None and known.mtime_ns != 0 and (known.size, known.mtime_ns) == (entry.size, entry.mtime_ns)


def without_doubtful(doubted: Plan) -> Plan:
    """Return the part of a doubtful plan that can be carried out at once."""
    kept = doubted.kept + len(doubted.delete) - len(doubted.moved)
    return Plan(doubted.read, doubted.moved, doubted.doubtful, doubted.moved, kept=kept)


def _moved(
    missing: Sequence[IndexedEntry], read: Sequence[DiskEntry], indexed: Mapping[NotePath, IndexedEntry]
) -> tuple[IndexedEntry, ...]:
    new = {(entry.inode, entry.size, entry.mtime_ns) for entry in read if entry.path not in indexed}
    return tuple(entry for entry in missing if (entry.inode, entry.size, entry.mtime_ns) in new)


def _differs(entry: DiskEntry, known: IndexedEntry | None) -> bool:
    # The inode tells an atomic save that kept size and time, the ctime a save in place whose time was set back.
    return (
        known is None
        or not known.content_hash
        or (entry.size, entry.mtime_ns, entry.inode) != (known.size, known.mtime_ns, known.inode)
        or bool(known.ctime_ns and entry.ctime_ns and known.ctime_ns != entry.ctime_ns)
    )


def _in_scope(indexed: Mapping[NotePath, IndexedEntry], scopes: Sequence[NotePath]) -> Iterator[IndexedEntry]:
    if not scopes or "" in scopes:
        yield from indexed.values()
        return
    seen: set[NotePath] = set()
    folders: list[str] = []
    for scope in scopes:
        if scope in indexed and scope not in seen:
            seen.add(scope)
            yield indexed[scope]
        if scope not in indexed:
            folders.append(f"{scope}/")
    # One look at each entry, however many folders changed.
    if folders:
        prefixes = tuple(folders)
        for path, entry in indexed.items():
            if path not in seen and path.startswith(prefixes):
                yield entry


def _at_or_below(path: str, places: Sequence[str]) -> bool:
    return any(place == "" or path == place or path.startswith(f"{place}/") for place in places)


def _doubt(missing: int, known: int, scan: Scan) -> str:
    if missing <= DELETE_FEW and missing < known:
        return ""
    if not scan.scopes and not scan.entries and known:
        return "the vault's folder is empty"
    if missing > max(DELETE_FEW, DELETE_SHARE * known):
        return f"{missing} of {known} notes are missing"
    return ""
