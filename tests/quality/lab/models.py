"""Other models than the builtin one, to show that one set of parameters serves any: ``NAME@MODEL``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vaultrag.daemon.vaults import EmbedderPool
from vaultrag.domain import EmbeddedNote, EmbedderStatus, EmbedProblem, Identity, NoteText, Scale
from vaultrag.embedding.builtin import BuiltinEmbedder
from vaultrag.embedding.calibration import ENGLISH, measured
from vaultrag.embedding.multilingual import MultilingualEmbedder
from vaultrag.embedding.pooling import normalise
from vaultrag.protocols import Embedder

if TYPE_CHECKING:
    from vaultrag.domain import Vector

MODELS = ("use", "half", "noise")
"""USE for all queries and notes; MiniLM's first 192 numbers; MiniLM with as much noise as a fifth of its length."""

NOISE = 0.2


class OtherModel:
    """Fits ``ports.Embedder``: a builtin model whose vectors are changed. Its scale is measured, as Ollama's is."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._use = MultilingualEmbedder()
        self._plain = BuiltinEmbedder()

    def identity(self) -> Identity:
        known = self._use.multilingual_identity() if self._name == "use" else self._plain.identity()
        dimension = known.dimension // 2 if self._name == "half" else known.dimension
        return replace(known, provider="laboratory", model=self._name, dimension=dimension)

    def scale(self) -> Scale:
        notes = self.embed_notes([NoteText("", answer) for _, answer in ENGLISH])
        rows = [note.vector for note in notes if isinstance(note, EmbeddedNote)]
        return measured(np.stack([self.embed_query(question) for question, _ in ENGLISH]), np.stack(rows))

    def embed_notes(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        embed = self._use.embed_multilingual if self._name == "use" else self._plain.embed_notes
        return [self._changed_note(note) for note in embed(texts, still_wanted)]

    def embed_query(self, text: str) -> Vector:
        embed = self._use.embed_multilingual_query if self._name == "use" else self._plain.embed_query
        vector: Vector = self._changed(embed(text)[None, :])[0]
        return vector

    def status(self) -> EmbedderStatus:
        return EmbedderStatus("laboratory", self._name, "ready")

    def close(self) -> None:
        self._use.close()
        self._plain.close()

    def _changed_note(self, note: EmbeddedNote | EmbedProblem) -> EmbeddedNote | EmbedProblem:
        if isinstance(note, EmbedProblem):
            return note
        passages = note.passage_vectors
        rows = self._changed(passages) if passages is not None and len(passages) else passages
        return replace(note, vector=self._changed(note.vector[None, :])[0], passage_vectors=rows)

    def _changed(self, rows: Vector) -> Vector:
        if self._name == "half":
            half: Vector = normalise(rows[:, : rows.shape[1] // 2])
            return half
        if self._name == "noise":
            return normalise(np.stack([row + _noise(row) for row in rows]))
        return rows


class Other(EmbedderPool):
    """One other model for every vault."""

    def __init__(self, name: str) -> None:
        self._model = OtherModel(name)

    def choose(self, recorded: Identity | None) -> Embedder | None:
        return self._model

    def close(self) -> None:
        self._model.close()


def _noise(row: Vector) -> Vector:
    """The same for the same vector, another for any other."""
    chance = np.random.default_rng(np.frombuffer(row[:8].tobytes(), np.uint32))
    made: Vector = (chance.standard_normal(len(row)) * NOISE / np.sqrt(len(row))).astype(np.float32)
    return made
