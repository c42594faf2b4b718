"""The disk, the index, and what differs between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vaultrag.domain.notes import NoteId, NotePath


@dataclass(frozen=True, slots=True)
class DiskEntry:
    """The stat of a note. Times in nanoseconds since the epoch, sizes in bytes."""

    path: NotePath
    size: int
    mtime_ns: int
    inode: int = 0
    ctime_ns: int = 0
    """Of the last change of content or metadata, which no program can set back; 0 where it is not known."""
    birth_ns: int = 0
    """When the file was made, where the system tells it; 0 where it does not."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that would be a note but is not indexed, and why, in words for a person."""

    path: NotePath
    reason: str
    size: int = 0
    mtime_ns: int = 0


@dataclass(frozen=True, slots=True)
class Scan:
    """A look at the vault, or at the part of it under ``scopes`` (empty: all of it).

    ``unreadable`` holds paths of files and folders that could not be looked at, with the reason: whatever the index
    knows at or below them is kept. ``root_ok`` is false when the vault's folder itself is away.
    """

    entries: Mapping[NotePath, DiskEntry]
    skipped: Mapping[NotePath, Skipped] = field(default_factory=dict)
    unreadable: Mapping[NotePath, str] = field(default_factory=dict)
    scopes: tuple[NotePath, ...] = ()
    root_ok: bool = True


@dataclass(frozen=True, slots=True)
class Content:
    """A note's bytes, with the stat taken from the open file, so that both belong together."""

    entry: DiskEntry
    data: bytes
    problem: str = ""
    """What could not be read of a file that ``data`` was made from, in words for a person."""
    waits: bool = False
    """Whether the file is still to be read, and ``data`` is what is known of it meanwhile."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The file is there, or may be; it cannot be read now. Never a reason to forget a note."""

    path: NotePath
    reason: str


@dataclass(frozen=True, slots=True)
class Gone:
    """The file is surely not there: its folder could be read and does not hold it."""

    path: NotePath


ReadResult = Content | Unreadable | Skipped | Gone


@dataclass(frozen=True, slots=True)
class IndexedEntry:
    """The stat and hashes of a note in the index, enough to see whether the disk has moved on.

    Attributes:
        content_hash: Of the file's bytes; empty: it is to be read again, whatever its times say.
        text_hash: Of what is embedded.
    """

    note_id: NoteId
    path: NotePath
    size: int
    mtime_ns: int
    inode: int
    content_hash: str
    text_hash: str
    ctime_ns: int = 0
    birth_ns: int = 0


class NoteValues(NamedTuple):
    """A note as the note index writes it: its rows in each table, without its id.

    Attributes:
        entry: What is to be remembered of its file.
        note: The columns of ``notes``.
        names: (kind, name, key, line, level) each.
        tags: (tag, key) each.
        links: (target, key, kind, alias, heading, block, line) each.
        words: The texts of the full-text columns.
        dates: (kind, first, last, source, line, last_line) each.
    """

    entry: IndexedEntry
    note: tuple[str | int, ...]
    names: list[tuple[str, str, str, int, int]]
    tags: list[tuple[str, str]]
    links: list[tuple[str | int, ...]]
    words: tuple[str, ...]
    dates: list[tuple[str, str, str, str, int, int]]
