"""Vectors that need no model: a fixed random direction for each word, summed. Near texts are near, and cost nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vaultrag.model import EmbeddedNote, EmbedderStatus, EmbedProblem, Identity, NoteText

Vector = NDArray[np.float32]

PASSAGE_WORDS = 45


class HashVectors:
    """An ``Embedder`` of any dimension that runs no model."""

    def __init__(self, dimension: int = 384) -> None:
        self._dimension = dimension
        self._word = lru_cache(maxsize=100_000)(self._direction)

    def identity(self) -> Identity:
        return Identity("hash", "words", "1", self._dimension)

    def embed_notes(self, texts: Sequence[NoteText]) -> list[EmbeddedNote | EmbedProblem]:
        return [self._note(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        return self._sum(text.split() or ["nothing"])

    def status(self) -> EmbedderStatus:
        return EmbedderStatus("hash", "words", "ready", dimension=self._dimension)

    def close(self) -> None:
        pass

    def _note(self, text: NoteText) -> EmbeddedNote:
        words = text.text.split() or [text.title or "nothing"]
        passages = [words[start : start + PASSAGE_WORDS] for start in range(0, len(words), PASSAGE_WORDS)][:64]
        vectors = np.stack([self._sum(passage) for passage in passages])
        mean = vectors.mean(axis=0)
        lines = tuple((number, number) for number in range(len(passages)))
        return EmbeddedNote(mean / np.linalg.norm(mean), 1.0, lines, vectors)

    def _sum(self, words: Sequence[str]) -> Vector:
        total: Vector = np.sum([self._word(word) for word in words], axis=0, dtype=np.float32)
        size = float(np.linalg.norm(total))
        return total / size if size > 0 else self._word("nothing")

    def _direction(self, word: str) -> Vector:
        seed = int.from_bytes(hashlib.blake2b(word.lower().encode(), digest_size=8).digest(), "little")
        vector: Vector = np.random.default_rng(seed).standard_normal(self._dimension, dtype=np.float32)
        return vector / np.float32(np.linalg.norm(vector))
