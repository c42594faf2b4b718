"""The vectors of the second model: at once for notes that are not English, for the others when nothing else is left.

An English note needs them only for questions in other languages, so they never hold up its own vector. As in
``passages``, what is awaited changes under the lock of ``VectorLifecycle``; the model is asked outside it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from vaultrag.domain import EmbeddedNote, EmbedProblem, NoteId, NoteText
from vaultrag.errors import BadVectors, Cancelled, EmbedError
from vaultrag.protocols import Embedder, MultilingualEmbedder
from vaultrag.text.language import is_english
from vaultrag.vector_protocols import VectorStore

log = logging.getLogger(__name__)

BATCH_NOTES = 8
LANGUAGE_CHARS = 4_000
"""Of a note, by which its language is told."""

Made = list[tuple[str, EmbeddedNote | None, bool]]
"""Hash of a text, its vectors, and whether it is not English: what ``MultilingualStore.put`` takes."""


class MultilingualPass:
    """The notes of one vault that the second model has still to read."""

    def __init__(self) -> None:
        self.awaited: dict[NoteId, str] = {}
        self._in_order = False

    # -- under the lock ------------------------------------------------------------------------------------------

    def begin(self, store: VectorStore, embedder: Embedder | None) -> None:
        """Make the store ready for what this embedder makes."""
        if isinstance(embedder, MultilingualEmbedder):
            store.multilingual.begin(embedder.multilingual_identity(), embedder.multilingual_scale())

    def look(self, store: VectorStore, embedder: Embedder | None) -> None:
        """Ask the store anew which notes are awaited: none where the embedder has no second model."""
        self.awaited = dict(store.multilingual.lacking()) if isinstance(embedder, MultilingualEmbedder) else {}
        self._in_order = False

    def add(self, note_id: NoteId, text_hash: str, embedder: Embedder | None) -> None:
        """Queue a note: it has its own vector now."""
        if isinstance(embedder, MultilingualEmbedder):
            self.awaited[note_id] = text_hash
            self._in_order = False

    def drop(self, note_ids: Iterable[NoteId]) -> None:
        """Drop notes that are gone, or must get their own vector first."""
        for note_id in note_ids:
            self.awaited.pop(note_id, None)

    def choose(self, hashes: Callable[[], Mapping[NoteId, str]]) -> dict[NoteId, str]:
        """Return the next few notes, in the order of ``hashes``; those that are gone or have changed drop out."""
        if not self._in_order:
            awaited = self.awaited
            self.awaited = {note_id: value for note_id, value in hashes().items() if awaited.get(note_id) == value}
            self._in_order = True
        return dict(islice(self.awaited.items(), BATCH_NOTES))

    def keep(self, store: VectorStore, made: Made) -> None:
        """Store what was made."""
        if not made:
            return
        try:
            store.multilingual.put(made)
        except BadVectors as error:
            log.warning("the multilingual model: %s", error.message)
            store.multilingual.put((text_hash, None, foreign) for text_hash, _, foreign in made)
        done = {text_hash for text_hash, *_ in made}
        self.awaited = {note_id: value for note_id, value in self.awaited.items() if value not in done}

    # -- outside the lock ----------------------------------------------------------------------------------------

    def foreign(self, embedder: Embedder, texts: Iterable[NoteText]) -> Made:
        """Read the texts of a batch that are not English; none where the model fails, which ``make`` will tell."""
        chosen = [text for text in texts if is_foreign(text)] if isinstance(embedder, MultilingualEmbedder) else []
        try:
            return self.make(embedder, chosen) if chosen else []
        except EmbedError:
            return []

    def make(
        self, embedder: Embedder, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> Made:
        """Read texts; nothing where that was broken off.

        Raises:
            EmbedError: The second model fails.
        """
        if not isinstance(embedder, MultilingualEmbedder) or not texts:
            return []
        try:
            results = embedder.embed_multilingual(texts, still_wanted)
        except Cancelled:
            return []
        return [
            (text.hash, None if isinstance(result, EmbedProblem) else result, is_foreign(text))
            for text, result in zip(texts, results, strict=True)
        ]


def is_foreign(text: NoteText) -> bool:
    """Tell whether a note is in another language than English."""
    return is_english(f"{text.title}\n{text.text[:LANGUAGE_CHARS]}") is False
