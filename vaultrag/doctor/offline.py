"""Where a note stands, asked of the files themselves: for ``vaultrag why`` while no daemon runs. Nothing is written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from vaultrag.app.diagnosis import DiagnosisSources, VectorLookup
from vaultrag.config import Places, Settings, vault_id
from vaultrag.daemon.agent_privacy import private_rules
from vaultrag.domain import HeldVector, NoteId
from vaultrag.errors import StoreError
from vaultrag.sources import read_kinds
from vaultrag.storage.inspection import NOTES_FILE, NotesFile, VectorsFile
from vaultrag.storage.notes.note_rows import NoteRows
from vaultrag.watcher import DiskReader


@contextlib.contextmanager
def sources(root: Path, places: Places, settings: Settings) -> Iterator[DiagnosisSources]:
    """Return what can be asked of a vault's files.

    Raises:
        StoreError: There is no index, or it cannot be read.
        ConfigError: What the settings keep from agents makes no sense.
    """
    name = vault_id(root)
    folder = places.vault_folder(name)
    if not (folder / NOTES_FILE).exists():
        raise StoreError(f"{root.name} has no index yet", hint=f"vaultrag up '{root}'")
    rules = private_rules(settings.privacy)
    notes, vectors = NotesFile(folder), VectorsFile(folder)

    def standing(note_id: NoteId) -> VectorLookup:
        held = vectors.holding(note_id, notes.text_hash(note_id))
        if isinstance(held, HeldVector):
            return VectorLookup("", held.covered, held.lines)
        if settings.embedder.provider == "off":
            return VectorLookup("meaning search is switched off")
        return VectorLookup(f"it has no vector: {held}" if held else "it is not embedded yet: found by its words only")

    reader = DiskReader(root, settings.notes, kinds=read_kinds(settings.sources))
    try:
        yield DiagnosisSources(
            vault=name,
            table=NoteRows(notes),
            reader=reader,
            skipped=notes.skipped,
            why_excluded=reader.why_excluded,
            private=lambda row: rules.reason(row.path, row.properties, row.tags),
            vectors=standing,
            is_there=reader.is_there,
            running=False,
        )
    finally:
        notes.close()
