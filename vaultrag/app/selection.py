"""Which notes a folder or a tag names, and how a note stands."""

from __future__ import annotations

from collections.abc import Mapping
from unicodedata import normalize

from vaultrag.domain import Filters, NoteId, NoteValidity, Validity
from vaultrag.protocols import NoteTable


def in_folder(table: NoteTable, folder: str) -> frozenset[NoteId]:
    """Ids of the notes in this folder or below it; the filter of the query language takes more than that."""
    rows = table.by_ids(table.matching(Filters(paths=(_inside(folder),))) or ())
    return frozenset(note_id for note_id, row in rows.items() if lies_in(row.path, folder))


def lies_in(path: str, folder: str) -> bool:
    """Return True if a note lies in this folder or below it, letter case aside."""
    return normalize("NFC", path).casefold().startswith(_inside(folder))


def _inside(folder: str) -> str:
    return normalize("NFC", folder.strip("/")).casefold() + "/"


def tagged(table: NoteTable, tag: str) -> frozenset[NoteId]:
    """Ids of the notes with this tag, or one below it."""
    return table.matching(Filters(tags=(tag.strip().removeprefix("#"),))) or frozenset()


def selected(table: NoteTable, folder: str, tag: str) -> frozenset[NoteId] | None:
    """Ids of the notes that are in the folder and have the tag, whichever is named; None where neither is."""
    found = in_folder(table, folder) if folder.strip("/") else None
    if tag.strip().strip("#"):
        with_tag = tagged(table, tag)
        found = with_tag if found is None else found & with_tag
    return found


def standing_of(aged: Mapping[NoteId, NoteValidity], note_id: NoteId) -> Validity | None:
    """Return the validity of a note; None where it simply holds."""
    one = aged.get(note_id)
    return one.standing if one is not None else None
