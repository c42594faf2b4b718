"""The embedder that asks a local Ollama: a larger model with a window of thousands of tokens.

A note goes in whole; only what is longer than the window goes in windows, whose vectors are pooled by length. The
server is never asked to cut. Passages are asked for apart from that, and later. The model's digest is part of the
identity and asked for again and again, since a ``ollama pull`` may put another model under the same name.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from vaultrag.config import EmbedderSettings
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
from vaultrag.embedding.batch_splitter import PLAIN_WORD, Part, Refused, Splitter, batches, pooled
from vaultrag.embedding.calibration import ENGLISH, measured
from vaultrag.embedding.model_input import (
    MAX_PASSAGES,
    MAX_WINDOWS,
    PASSAGE_TITLE_TOKENS,
    PASSAGE_TOKENS,
    Piece,
    note_passages,
    note_pieces,
    prefixes,
    sendable,
)
from vaultrag.embedding.ollama_api import PLANNED_WINDOW, OllamaApi
from vaultrag.embedding.pooling import checked
from vaultrag.embedding.priority_gate import PriorityGate
from vaultrag.embedding.query_cache import QueryCache
from vaultrag.errors import BadVectors, Cancelled, EmbedderUnavailable, EmbedError, ModelBroken, ModelMissing
from vaultrag.markdown.cleaning import CLEANING_VERSION

if TYPE_CHECKING:
    from vaultrag.domain import Vector

RECIPE = (
    "whole text, title first; beyond the window: windows with the title, mean by length; "
    f"passages of {PASSAGE_TOKENS} tokens by estimate, title of {PASSAGE_TITLE_TOKENS} in front, at most {MAX_PASSAGES}"
)
MAX_QUERY_CHARS = 4000

_STATES: dict[type[EmbedError], str] = {ModelMissing: "missing", ModelBroken: "broken", EmbedderUnavailable: "down"}


class OllamaEmbedder:
    """Fits ``ports.PassageEmbedder``. Creating one connects to nothing.

    Args:
        settings: Host, model, prefixes, time limit and keep-alive.
        refresh_s: The digest is asked for again after so long.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        settings: EmbedderSettings | None = None,
        refresh_s: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        settings = settings or EmbedderSettings()
        self._api = OllamaApi.of(settings)
        self._model = settings.model
        self._prefixes = prefixes(settings.model, settings.document_prefix, settings.query_prefix)
        self._refresh_s = refresh_s
        self._clock = clock
        self._gate = PriorityGate()
        self._queries = QueryCache()
        self._lock = threading.Lock()
        self._identity: Identity | None = None
        self._asked = 0.0
        self._window = PLANNED_WINDOW
        self._problem: EmbedError | None = None
        self._scale: tuple[str, Scale] | None = None
        self._closed = False

    def identity(self) -> Identity:
        """Ask the server for the model's digest, at most every ``refresh_s``; for the rest when it is a new one."""
        with self._watched(), self._lock:
            known = self._identity
            if known is None or self._clock() - self._asked >= self._refresh_s:
                digest = self._api.digest()
                if known is None or known.digest != digest:
                    known = self._learn(digest)
                self._asked = self._clock()
            return known

    def embed_notes(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        """Embed notes in requests of at most eight texts."""
        with self._watched():
            send = self._sender(self.identity())
            splitter = Splitter(send, self._model)
            split = [note_pieces(text, self._prefixes[0], self._window) for text in texts]
            sampled = [_sampled(pieces) for pieces in split]
            parts = self._in_batches(splitter, [piece for pieces in sampled for piece in pieces], still_wanted)
            results, first = [], 0
            for pieces, sample in zip(split, sampled, strict=True):
                last = first + len(sample)
                results.append(_note(pieces, sample, parts[first:last]))
                first = last
            return results

    def scale(self) -> Scale:
        """Embed a few questions and their answers, once for each digest, and measure the cosines."""
        with self._watched():
            identity = self.identity()
            if self._scale is None or self._scale[0] != identity.digest:
                splitter = Splitter(self._sender(identity), self._model)
                sides = []
                for prefix, texts in zip(reversed(self._prefixes), zip(*ENGLISH, strict=True), strict=True):
                    parts = self._in_batches(splitter, [Piece(prefix, text) for text in texts])
                    sides.append([part.vector for part in parts if isinstance(part, Part)])
                whole = all(len(side) == len(ENGLISH) for side in sides)
                scale = measured(*(np.stack(side) for side in sides)) if whole else REFERENCE
                self._scale = identity.digest, scale
            return self._scale[1]

    def cut(self, text: NoteText) -> list[Passage]:
        """Whole sentences, about 45 tokens of prose, the title in front."""
        return note_passages(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | EmbedProblem]:
        """Embed passages as documents, in requests of at most eight."""
        with self._watched():
            splitter = Splitter(self._sender(self.identity()), self._model)
            parts = self._in_batches(splitter, [Piece(self._prefixes[0], text) for text in texts])
        return [part.vector if isinstance(part, Part) else part for part in parts]

    def embed_query(self, text: str) -> Vector:
        """Embed a query, or remember it: the last 256 are kept until the model changes."""
        text = sendable(text).strip()[:MAX_QUERY_CHARS]
        if not text:
            raise BadVectors("an empty query has no meaning to compare")
        identity = self._identity or self.identity()
        key = f"{identity.digest} {text}"
        known = self._queries.get(key)
        if known is not None:
            return known
        with self._watched(), self._gate.query():
            (part,) = Splitter(self._sender(identity), self._model).embed([Piece(self._prefixes[1], text)])
        if isinstance(part, EmbedProblem):
            raise BadVectors(f"the query could not be embedded: {part.reason}")
        return self._queries.put(key, part.vector)

    def warm(self) -> None:
        """Have the server load the model now, so that the first query need not wait for it.

        Raises:
            EmbedderUnavailable, ModelMissing, ModelBroken
        """
        with self._watched():
            try:
                self._api.embed([])
            except Refused as error:
                raise ModelBroken(f"{self._model} cannot be loaded: {error.message}") from error

    def pull(self, progress: Callable[[str, int, int], None]) -> None:
        """Have the server download the model. ``progress`` gets the step's name, bytes done and bytes in all.

        Raises:
            EmbedderUnavailable, ModelMissing
        """
        with self._watched():
            self._api.pull(progress)
        self._forget()

    def status(self) -> EmbedderStatus:
        identity, problem = self._identity, self._problem
        state, why, hint = ("ready", "", "") if identity else ("loading", "not asked yet", "")
        if self._closed:
            state, why, hint = "off", "closed", ""
        elif problem is not None:
            state, why, hint = _STATES.get(type(problem), "broken"), problem.message, problem.hint
        dimension, key = (identity.dimension, identity.key) if identity else (0, "")
        return EmbedderStatus("ollama", self._model, state, why, hint, dimension, key)

    def close(self) -> None:
        """Close the connections. The model stays with the server for its keep-alive."""
        self._closed = True
        self._api.close()

    def _learn(self, digest: str) -> Identity:
        try:
            card = self._api.card()
            dimension = card.dimension or len(checked(self._api.embed([PLAIN_WORD.text]), 1, 0)[0])
        except (Refused, BadVectors) as error:
            raise ModelBroken(f"{self._model} cannot be used: {error.message}") from error
        self._window = card.window
        self._identity = Identity(
            provider="ollama",
            model=self._model,
            digest=digest,
            dimension=dimension,
            document_prefix=self._prefixes[0],
            query_prefix=self._prefixes[1],
            windows=RECIPE,
            cleaning=CLEANING_VERSION,
        )
        return self._identity

    def _forget(self) -> None:
        with self._lock:
            self._asked = float("-inf")

    def _in_batches(
        self, splitter: Splitter, pieces: Sequence[Piece], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[Part | EmbedProblem]:
        parts: list[Part | EmbedProblem] = []
        for batch in batches(pieces):
            if not still_wanted():
                raise Cancelled("the notes changed, or others go first")
            with self._gate.notes():
                parts += splitter.embed(pieces[batch])
        return parts

    def _sender(self, identity: Identity) -> Callable[[Sequence[str]], Vector]:
        def send(texts: Sequence[str]) -> Vector:
            rows = self._api.embed(texts)
            try:
                return checked(rows, len(texts), identity.dimension)
            except BadVectors:
                self._forget()  # perhaps another model by now
                raise

        return send

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except (EmbedderUnavailable, ModelMissing, ModelBroken) as error:
            self._problem = error
            raise
        self._problem = None


def _sampled(pieces: Sequence[Piece]) -> list[Piece]:
    """At most ``MAX_WINDOWS`` of them, evenly spread."""
    if len(pieces) <= MAX_WINDOWS:
        return list(pieces)
    return [pieces[i * len(pieces) // MAX_WINDOWS] for i in range(MAX_WINDOWS)]


def _note(
    pieces: Sequence[Piece], sample: Sequence[Piece], parts: Sequence[Part | EmbedProblem]
) -> EmbeddedNote | EmbedProblem:
    if not parts:
        return EmbedProblem("the note has neither title nor text", permanent=True)
    result = pooled(parts, [len(piece.body) for piece in sample])
    if isinstance(result, EmbedProblem):
        return result
    share = sum(len(piece.body) for piece in sample) / sum(len(piece.body) for piece in pieces)
    return EmbeddedNote(result.vector, result.seen * share)
