"""The vault's folder of database files: opening them, setting a damaged one aside, swapping in a rebuilt one.

hybrid-fts.db                    what exists
obsidian_notes.db                the vectors in use
obsidian_notes.<identity>.db     vectors of another identity: being built, or kept so that going back costs nothing
*.damaged-<date>                 set aside, never deleted by vaultrag
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from vaultrag.domain import Identity
from vaultrag.errors import StoreCorrupt
from vaultrag.markdown.note_dates import DateReader
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.sqlite import CHECKSUM, SUFFIXES, check, forget_damage, listen
from vaultrag.storage.vectors.vector_store import Vectors, stored_identity
from vaultrag.vector_protocols import VectorStore

log = logging.getLogger(__name__)

NOTES_FILE = "hybrid-fts.db"
VECTORS_FILE = "obsidian_notes.db"

_Store = TypeVar("_Store", NoteIndex, Vectors)


class StoreFolder:
    """One vault's two databases. ``events`` gathers sentences about repairs, for the log and the status."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events: list[str] = []
        self._sound: set[Path] = set()  # looked at by this process, which alone writes to them
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(OSError):  # a file system without modes: nothing to keep private there
            folder.chmod(0o700)

    def open_notes(self, dates: DateReader = DateReader()) -> NoteIndex:  # noqa: B008 - frozen
        """Open ``hybrid-fts.db``; a damaged one is set aside and begun anew.

        Args:
            dates: Reads the notes' own dates.
        """
        path = self.folder / NOTES_FILE
        try:
            self._check(path)
            return _private(NoteIndex.open(path, dates))
        except StoreCorrupt as fault:
            self.set_aside(path, fault)
            return _private(NoteIndex.open(path, dates))

    def recorded(self) -> Identity | None:
        """Return the identity of the vectors in use."""
        path = self.folder / VECTORS_FILE
        if not path.exists():
            self._restore(path)
        try:
            self._check(path)
            return stored_identity(path)
        except StoreCorrupt as fault:
            self.set_aside(path, fault)
            return None

    def open_vectors(self, identity: Identity) -> tuple[Vectors, bool]:
        """Open the vectors of this identity: (vectors, whether they are in use or still to be swapped in)."""
        recorded = self.recorded()
        in_use = recorded is None or recorded == identity
        path = self.folder / VECTORS_FILE if in_use else self._aside(identity)
        try:
            self._check(path)
            return self._vectors(path, identity), in_use
        except StoreCorrupt as fault:
            self.set_aside(path, fault)
            return self._vectors(path, identity), in_use

    def swap_in(self, vectors: VectorStore) -> Vectors:
        """Put finished vectors in the place of those in use, which are kept beside."""
        finished = self._aside(vectors.identity)
        vectors.close()
        current = self.folder / VECTORS_FILE
        old = self.recorded()
        if old is not None:
            self._rename(current, self._aside(old))
        self._rename(finished, current)
        self._prune(keep={vectors.identity.key, old.key if old else ""})
        return self._vectors(current, vectors.identity)

    def _vectors(self, path: Path, identity: Identity) -> Vectors:
        vectors = _private(Vectors.open(path, identity))
        vectors.repaired = self._tell
        return vectors

    def _tell(self, event: str) -> None:
        self.events.append(event)
        log.warning("%s", event)

    def set_aside(self, path: Path, fault: StoreCorrupt) -> None:
        """Move a damaged file out of the way, under a name with the date."""
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        aside = path.with_name(f"{path.name}.damaged-{stamp}")
        path.with_name(path.name + CHECKSUM).unlink(missing_ok=True)
        self._rename(path, aside)
        forget_damage(path)
        kept = f"it was set aside as {aside.name} and" if aside.exists() else "it"
        self._tell(f"{fault.message}; {kept} is built again (the notes themselves are safe)")

    def listen(self, listener: Callable[[], None] | None) -> None:
        """Have it called, once and in any thread, when a file proves damaged in use; None: no longer."""
        listen(self.folder, listener)

    def _aside(self, identity: Identity) -> Path:
        return self.folder / f"obsidian_notes.{identity.key}.db"

    def _check(self, path: Path) -> None:
        if path not in self._sound:
            check(path, with_vectors=path.name != NOTES_FILE)
            self._sound.add(path)

    def _restore(self, path: Path) -> None:
        """After a crash between the two renames of a swap, nothing stands at ``path``: put the newer file there."""
        beside = sorted(self.folder.glob("obsidian_notes.*.db"), key=lambda p: p.stat().st_mtime_ns)
        if beside:
            self._rename(beside[-1], path)

    def _rename(self, source: Path, target: Path) -> None:
        self._sound -= {source, target}
        for suffix in SUFFIXES:
            part = source.with_name(source.name + suffix)
            if part.exists():
                part.replace(target.with_name(target.name + suffix))

    def _prune(self, keep: set[str]) -> None:
        for path in self.folder.glob("obsidian_notes.*.db"):
            if path.name.split(".")[1] not in keep:
                for suffix in SUFFIXES:
                    path.with_name(path.name + suffix).unlink(missing_ok=True)


def _private(store: _Store) -> _Store:
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(OSError):
            store.path.with_name(store.path.name + suffix).chmod(0o600)
    return store
