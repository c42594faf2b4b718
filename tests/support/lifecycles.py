"""The vectors of a vault without its threads: a ``VectorLifecycle`` over real files, its texts in a dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.embedders import HashEmbedder
from vaultrag.domain import Identity, NoteId, NoteText
from vaultrag.indexing.vector_lifecycle import VectorLifecycle
from vaultrag.storage.folder import StoreFolder


class Lifecycle:
    """One vault's vectors, driven step by step.

    Attributes:
        texts: The notes' texts; a test changes them.
        recorded: The identity that was found in the files, at each opening.
        read: Every note whose text was asked for.
    """

    def __init__(self, folder: Path, embedder: HashEmbedder) -> None:
        self.folder = folder
        self.embedder = embedder
        self.texts: dict[NoteId, NoteText] = {}
        self.recorded: list[Identity | None] = []
        self.read: list[NoteId] = []
        self.meaning = self.fresh()

    def fresh(self, *, passages: bool = True) -> VectorLifecycle:
        """Make another lifecycle over the same files."""
        return VectorLifecycle(StoreFolder(self.folder), self._choose, passages=passages)

    def _choose(self, recorded: Identity | None) -> HashEmbedder:
        self.recorded.append(recorded)
        return self.embedder

    def hashes(self) -> dict[NoteId, str]:
        """Return each note's text hash; the note of the highest number has changed last."""
        return {note_id: self.texts[note_id].hash for note_id in sorted(self.texts, reverse=True)}

    def texts_of(self, ids: Sequence[NoteId]) -> Mapping[NoteId, NoteText]:
        """Return the texts of those notes that are still there."""
        self.read += ids
        return {note_id: self.texts[note_id] for note_id in ids if note_id in self.texts}

    def want(self, *note_ids: int) -> None:
        """Ask for the vectors of notes as they are now."""
        self.meaning.want({NoteId(n): self.texts[NoteId(n)].hash for n in note_ids})

    def embed(self) -> int:
        """Embed all that waits, and return how many steps that took."""
        steps = 0
        while self.meaning.pending:
            self.meaning.step(self.texts_of)
            steps += 1
            assert steps < 500
        return steps
