"""An embedder without a model: vectors from the words of a text, always the same. The twin of ``ports.Embedder``."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tests.support.ollama_server import hashed_vector
from vaultrag.domain import (
    REFERENCE,
    EmbeddedNote,
    EmbedderStatus,
    EmbedProblem,
    Identity,
    NoteText,
    Passage,
    Scale,
)
from vaultrag.embedding.pooling import weighted_mean
from vaultrag.errors import BadVectors, EmbedderUnavailable, VaultragError

if TYPE_CHECKING:
    from vaultrag.domain import Vector

DIMENSION = 64

_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*")


class HashEmbedder:
    """Texts that share words are near each other. One passage a paragraph, the title in front.

    Attributes:
        calls: How often ``embed_notes`` and ``embed_query`` were called.
        notes: Every note text embedded so far, in order.
        queries: Every query embedded so far, in order.
        failure: Raised by every call while it is set.
        poison: A note that contains this text gives an EmbedProblem.
        digest: Change it to become another model.
    """

    def __init__(self, digest: str = "0123456789ab", dimension: int = DIMENSION) -> None:
        self.calls = 0
        self.notes: list[NoteText] = []
        self.queries: list[str] = []
        self.failure: VaultragError | None = None
        self.poison: str | None = None
        self.digest = digest
        self.dimension = dimension
        self.closed = False
        self._lock = threading.Lock()

    def identity(self) -> Identity:
        self._check()
        return Identity("hash", "hashed-words", self.digest, self.dimension, windows="one passage a paragraph")

    def scale(self) -> Scale:
        return REFERENCE

    def embed_notes(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        with self._lock:
            self.calls += 1
            self._check()
            self.notes.extend(texts)
        return [self._note(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        with self._lock:
            self.calls += 1
            self._check()
            self.queries.append(text)
        if not text.strip():
            raise BadVectors("an empty query has no meaning to compare")
        return self._vector(text)

    def status(self) -> EmbedderStatus:
        if self.closed:
            return EmbedderStatus("hash", "hashed-words", "off")
        if self.failure is not None:
            return EmbedderStatus("hash", "hashed-words", "down", self.failure.message, self.failure.hint)
        return EmbedderStatus("hash", "hashed-words", "ready", dimension=self.dimension)

    def close(self) -> None:
        self.closed = True

    def _check(self) -> None:
        if self.closed:
            raise EmbedderUnavailable("the embedder is closed")
        if self.failure is not None:
            raise self.failure

    def _note(self, note: NoteText) -> EmbeddedNote | EmbedProblem:
        if self.poison is not None and self.poison in f"{note.title}\n{note.text}":
            return EmbedProblem("poisoned", permanent=True)
        found = _paragraphs(note)
        if found:
            rows: Vector = np.stack([self._vector(passage.text) for passage in found])
            lines = tuple((passage.start_line, passage.end_line) for passage in found)
            return EmbeddedNote(weighted_mean(rows), 1.0, lines, rows)
        if note.title.strip():
            return EmbeddedNote(self._vector(note.title))
        return EmbedProblem("the note has neither title nor text", permanent=True)

    def _vector(self, text: str) -> Vector:
        return np.array(hashed_vector(text, self.dimension), dtype=np.float32)


class WholeHashEmbedder(HashEmbedder):
    """The twin of ``ports.PassageEmbedder``: a note's vector comes alone, its passages when they are asked for.

    Attributes:
        passages: Every passage embedded so far, in order.
        bad_passage: A passage that contains this text gives an EmbedProblem.
        permanent: Whether that would happen again.
    """

    def __init__(self, digest: str = "0123456789ab", dimension: int = DIMENSION) -> None:
        super().__init__(digest, dimension)
        self.passages: list[str] = []
        self.bad_passage: str | None = None
        self.permanent = True

    def identity(self) -> Identity:
        return replace(super().identity(), windows="whole; then one passage a paragraph")

    def cut(self, text: NoteText) -> list[Passage]:
        return _paragraphs(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | EmbedProblem]:
        with self._lock:
            self.calls += 1
            self._check()
            self.passages.extend(texts)
        return [self._passage(text) for text in texts]

    def _passage(self, text: str) -> Vector | EmbedProblem:
        if self.bad_passage is not None and self.bad_passage in text:
            return EmbedProblem("a bad passage", permanent=self.permanent)
        return self._vector(text)

    def _note(self, note: NoteText) -> EmbeddedNote | EmbedProblem:
        result = super()._note(note)
        return replace(result, passage_lines=(), passage_vectors=None) if isinstance(result, EmbeddedNote) else result


class TwoModelHashEmbedder(HashEmbedder):
    """The twin of ``ports.MultilingualEmbedder``: a second model of another dimension.

    Attributes:
        second_notes: The titles of the notes that it has read, in order.
        second_failure: Raised by its calls while it is set.
    """

    SECOND_DIMENSION = 48

    def __init__(self, digest: str = "0123456789ab", dimension: int = DIMENSION) -> None:
        super().__init__(digest, dimension)
        self.second_digest = "second"
        self.second_notes: list[str] = []
        self.second_queries: list[str] = []
        self.second_failure: VaultragError | None = None

    def multilingual_identity(self) -> Identity:
        return Identity("hash", "second", self.second_digest, self.SECOND_DIMENSION)

    def multilingual_scale(self) -> Scale:
        return Scale(0.0, 0.5)

    def embed_multilingual(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        if self.second_failure is not None:
            raise self.second_failure
        self.second_notes.extend(text.title for text in texts)
        return [self._by_second(text) for text in texts]

    def embed_multilingual_query(self, text: str) -> Vector:
        if self.second_failure is not None:
            raise self.second_failure
        self.second_queries.append(text)
        return np.array(hashed_vector(text, self.SECOND_DIMENSION), dtype=np.float32)

    def _by_second(self, note: NoteText) -> EmbeddedNote | EmbedProblem:
        other = HashEmbedder(dimension=self.SECOND_DIMENSION)
        other.poison = self.poison
        return other.embed_notes([note])[0]


def _paragraphs(note: NoteText) -> list[Passage]:
    found = []
    for match in _PARAGRAPH.finditer(note.text):
        first = note.text.count("\n", 0, match.start())
        found.append(Passage(first, first + match.group().count("\n"), f"{note.title}: {match.group()}"))
    return found
