"""Vectors that need no model: each word adds to two components that its hash names. Near texts are near.

This costs half a microsecond a word, and no table of words, so that what is measured of the daemon beside
it, time and memory, is the daemon's own.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import REFERENCE, EmbeddedNote, EmbedderStatus, EmbedProblem, Identity, NoteText, Scale

Vector = NDArray[np.float32]

PASSAGE_WORDS = 45
MAX_PASSAGES = 64
_MIXERS = np.array([0x9E3779B1, 0x85EBCA6B], np.uint32)


class HashVectors:
    """An ``Embedder`` of any dimension that runs no model."""

    def __init__(self, dimension: int = 384) -> None:
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        return self._dimension

    def identity(self) -> Identity:
        return Identity("hash", "words", "2", self._dimension)

    def scale(self) -> Scale:
        return REFERENCE

    def embed_notes(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        return [self._note(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.rows(text.split())[0]
        return vector

    def status(self) -> EmbedderStatus:
        return EmbedderStatus("hash", "words", "ready", dimension=self._dimension)

    def close(self) -> None:
        pass

    def rows(self, words: Sequence[str], row_words: int = 0) -> Vector:
        """float32[rows, dim], rows L2-normalised: one a run of ``row_words`` words; 0: one for all of them."""
        words = words or ["nothing"]
        rows = -(-len(words) // row_words) if row_words else 1
        lowered = "\0".join(words).lower().encode().split(b"\0")
        hashes = np.fromiter(map(zlib.crc32, lowered), np.uint32, len(lowered))
        mixed = hashes[:, None] * _MIXERS  # two numbers a word, modulo 2 ** 32
        places = ((mixed >> np.uint32(8)) % np.uint32(self._dimension)).astype(np.int64)
        if row_words:
            places += (np.arange(len(words)) // row_words * self._dimension)[:, None]
        signs = np.where(mixed & np.uint32(128), 1.0, -1.0)
        flat = np.bincount(places.reshape(-1), weights=signs.reshape(-1), minlength=rows * self._dimension)
        vectors: Vector = flat.reshape(rows, self._dimension).astype(np.float32)
        sizes = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        cancelled = sizes == 0  # words that add up to nothing: some direction, and always the same
        vectors[cancelled, 0] = 1.0
        sizes[cancelled] = 1.0
        vectors /= sizes[:, None]
        return vectors

    def _note(self, text: NoteText) -> EmbeddedNote:
        words = (text.text.split() or [text.title or "nothing"])[: PASSAGE_WORDS * MAX_PASSAGES]
        passages = self.rows(words, PASSAGE_WORDS)
        mean: Vector = passages.mean(axis=0)
        size = np.float32(np.sqrt(mean @ mean))
        vector = mean / size if size > 0 else passages[0]
        lines = tuple((number, number) for number in range(len(passages)))
        return EmbeddedNote(vector, 1.0, lines, passages)
