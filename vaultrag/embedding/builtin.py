"""The embedder that works right after install: a small model in this process, no server, no download.

A note is read in passages of whole sentences, each with the title in front. Every passage is embedded on its own; the
note's one vector is their mean, and the passages' own vectors are kept to say where in the note a match lies. The
model is loaded at the first text and leaves memory after a while without work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

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
from vaultrag.embedding.lazy_model import LazyModel
from vaultrag.embedding.model_input import sendable
from vaultrag.embedding.onnx import (
    DIMENSION,
    TOKENIZER,
    WEIGHTS,
    MiniLM,
    Tokens,
    locate,
)
from vaultrag.embedding.pooling import weighted_mean
from vaultrag.embedding.priority_gate import PriorityGate
from vaultrag.embedding.query_cache import QueryCache
from vaultrag.errors import BadVectors, Cancelled, EmbedderUnavailable, EmbedError, ModelBroken
from vaultrag.markdown.chunking import passages
from vaultrag.markdown.cleaning import CLEANING_VERSION

if TYPE_CHECKING:
    from vaultrag.domain import Vector

MODEL = "all-MiniLM-L6-v2-int8"
PASSAGE_TOKENS = 62
"""Title included, [CLS] and [SEP] not. Short passages find a buried sentence; longer ones cost more and blur it."""
TITLE_TOKENS = 16
MAX_PASSAGES = 512
BATCH = 16
BATCH_TOKENS = 1024
"""Padding included. The model's own memory grows with this: 16 windows of 256 tokens took 600 MB, and no less time."""

TOKENIZED_CHARS = 50_000
"""Tokenized in one call: some 10 ms, after which the work can be broken off."""

RECIPE = f"passages of {PASSAGE_TOKENS} tokens, title of {TITLE_TOKENS} in front, at most {MAX_PASSAGES}, plain mean"


class Encoder(Protocol):
    """A model in memory: what is asked of ``MiniLM``, and of another in its place."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        ...

    def cut(self, text: str, tokens: int) -> str:
        """Return the start of the text that makes at most so many tokens."""
        ...

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Texts as ``run`` takes them."""
        ...

    def run(self, batch: Sequence[Tokens]) -> Vector:
        """Return a vector a row, L2-normalised.

        Raises:
            BadVectors, ModelBroken
        """
        ...


@dataclass(frozen=True, slots=True)
class _Plan:
    """A note's passages and what is embedded for each. A note without passages has its title as its one text."""

    passages: tuple[Passage, ...]
    texts: tuple[str, ...]


class BuiltinEmbedder:
    """Fits ``ports.Embedder``.

    Args:
        threads: Cores used within one batch.
        idle_unload_s: The model leaves memory after so long without work.
        clock: Monotonic seconds.
        load: Brings the model into memory.
    """

    languages: tuple[str, ...] = ("English",)

    def __init__(
        self,
        threads: int = 2,
        idle_unload_s: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
        load: Callable[[int], Encoder] = MiniLM.load,
    ) -> None:
        self._lazy = LazyModel(lambda: load(threads), idle_unload_s, clock)
        self._gate = PriorityGate()
        self._queries = QueryCache()
        self._problem: EmbedError | None = None

    @property
    def loaded(self) -> bool:
        """Return whether the model is in memory."""
        return self._lazy.loaded

    def identity(self) -> Identity:
        """Return the pinned weights and the recipe. Check that the files exist; their content is checked on loading."""
        with self._watched():
            for pinned in (WEIGHTS, TOKENIZER):
                locate(pinned)
        return Identity(
            provider="builtin",
            model=MODEL,
            digest=WEIGHTS.sha256[:12],
            dimension=DIMENSION,
            windows=RECIPE,
            cleaning=CLEANING_VERSION,
        )

    def scale(self) -> Scale:
        """Return what ``calibration.measured`` makes of the pinned weights."""
        return REFERENCE

    def embed_notes(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        """Embed notes, their passages sorted by length into batches across the notes."""
        with self._watched(), self._lazy.use() as model:
            piecemeal = _Piecemeal(model, still_wanted)
            plans = [_plan(piecemeal, text) for text in texts]
            tokens = piecemeal.tokens([text for plan in plans for text in plan.texts])
            vectors: list[Vector | BadVectors] = [BadVectors("not embedded")] * len(tokens)
            order = sorted(range(len(tokens)), key=lambda i: len(tokens[i].ids))
            for batch in _batches(order, [len(token.ids) for token in tokens]):
                if self._lazy.closed:
                    raise EmbedderUnavailable("the builtin model is closed")
                piecemeal.check()
                with self._gate.notes():
                    rows = _rows(model, [tokens[i] for i in batch])
                for i, row in zip(batch, rows, strict=True):
                    vectors[i] = row
            results, first = [], 0
            for plan in plans:
                last = first + len(plan.texts)
                results.append(_pooled(plan, vectors[first:last], [t.seen for t in tokens[first:last]]))
                first = last
            return results

    def embed_query(self, text: str) -> Vector:
        """Embed a query: 5 to 8 ms, or none for one of the last 256."""
        text = sendable(text).strip()
        if not text:
            raise BadVectors("an empty query has no meaning to compare")
        known = self._queries.get(text)
        if known is not None:
            return known
        with self._watched(), self._gate.query(), self._lazy.use() as model:
            vector: Vector = model.run(model.tokens([text]))[0]
        return self._queries.put(text, vector)

    def warm(self) -> None:
        """Load the model now, so that the first query need not wait for it.

        Raises:
            ModelBroken
        """
        with self._watched(), self._lazy.use():
            pass

    def status(self) -> EmbedderStatus:
        problem = self._problem
        state, why, hint = "ready", "", ""
        if self._lazy.closed:
            state, why = "off", "closed"
        elif problem is not None:
            state, why, hint = "broken", problem.message, problem.hint
        return EmbedderStatus("builtin", MODEL, state, why, hint, DIMENSION, languages=self.languages)

    def close(self) -> None:
        """Drop the model. A call under way still gets its answer."""
        self._lazy.close()

    def unload_if_idle(self, now: float) -> bool:
        """Drop the model when nobody has used it for a while. Returns whether it did."""
        return self._lazy.unload_if_idle(now)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except ModelBroken as error:
            self._problem = error
            raise
        self._problem = None


class _Piecemeal:
    """Counts and tokenizes a few texts at a time, and stops when the result is not wanted any more."""

    def __init__(self, model: Encoder, still_wanted: Callable[[], bool]) -> None:
        self._model = model
        self._still_wanted = still_wanted
        self.cut = model.cut

    def check(self) -> None:
        if not self._still_wanted():
            raise Cancelled("the notes changed, or others go first")

    def count(self, texts: Sequence[str]) -> list[int]:
        return [count for few in self._slices(texts) for count in self._model.count(few)]

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        return [tokens for few in self._slices(texts) for tokens in self._model.tokens(few)]

    def _slices(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        start = 0
        while start < len(texts):
            self.check()
            end, chars = start, 0
            while end < len(texts) and (end == start or chars + len(texts[end]) <= TOKENIZED_CHARS):
                chars += len(texts[end])
                end += 1
            yield texts[start:end]
            start = end


def _plan(model: _Piecemeal, note: NoteText) -> _Plan:
    title = model.cut(sendable(note.title).strip(), TITLE_TOKENS)
    head = f"{title}: " if title else ""
    budget = PASSAGE_TOKENS - (model.count([head])[0] if head else 0)
    found = tuple(passages(sendable(note.text), model.count, budget_tokens=budget, max_passages=MAX_PASSAGES))
    if not found:
        return _Plan((), (title,) if title else ())
    return _Plan(found, tuple(head + passage.text for passage in found))


def _batches(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Neighbours in ``order`` (the shortest first), padded to at most ``BATCH_TOKENS`` together."""
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) == BATCH or (len(batch) + 1) * lengths[i] > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _rows(model: Encoder, batch: Sequence[Tokens]) -> list[Vector | BadVectors]:
    try:
        return list(model.run(batch))
    except BadVectors as error:
        if len(batch) == 1:
            return [error]
        return [row for tokens in batch for row in _rows(model, [tokens])]


def _pooled(plan: _Plan, vectors: Sequence[Vector | BadVectors], seen: Sequence[float]) -> EmbeddedNote | EmbedProblem:
    if not plan.texts:
        return EmbedProblem("the note has neither title nor text", permanent=True)
    bad = next((vector for vector in vectors if isinstance(vector, BadVectors)), None)
    if bad is not None:
        return EmbedProblem(bad.message, permanent=True)
    rows = np.stack([vector for vector in vectors if not isinstance(vector, BadVectors)])
    try:
        vector = weighted_mean(rows)
    except BadVectors as error:
        return EmbedProblem(error.message, permanent=True)
    if not plan.passages:
        return EmbeddedNote(vector)
    lengths = [len(passage.text) for passage in plan.passages]
    covered = float(np.average(seen, weights=lengths))
    lines = tuple((passage.start_line, passage.end_line) for passage in plan.passages)
    return EmbeddedNote(vector, covered, lines, rows)
