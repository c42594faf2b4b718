"""Find the one text that a server cannot embed, and let the others through.

A batch that is refused is split until the text to blame stands alone. Too long a text is halved, and the halves'
vectors pooled. What no single text is to blame for, because the model refuses a plain word as well, is the model's own
fault and is raised: otherwise a broken server would mark every note as bad.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vaultrag.domain import EmbedProblem
from vaultrag.embedding.model_input import SMALLEST_WINDOW, Piece, cut_in_two, estimate_tokens
from vaultrag.embedding.pooling import weighted_mean
from vaultrag.errors import BadVectors, EmbedderUnavailable, ModelBroken

if TYPE_CHECKING:
    from vaultrag.domain import Vector

MAX_BATCH = 8
"""Batches of 16 and more have changed results or their order in some versions of Ollama."""
MAX_BATCH_TOKENS = 4096
"""Keeps one request within its time limit on a slow machine, and a query's wait short."""

PLAIN_WORD = Piece("", "note")


class Refused(Exception):
    """The server answered that it does not take these texts. Internal to ``embed``.

    Args:
        status: HTTP status; 0 when there was no error but no sense either.
        message: The server's own words.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    @property
    def too_long(self) -> bool:
        """By version a 400, a 413 or a 500; only the words stay the same."""
        return "context length" in self.message.lower() or "context size" in self.message.lower()

    @property
    def deterministic(self) -> bool:
        """The same text would fail again: it is malformed, or makes the model overflow."""
        return self.status in (0, 400, 413) or "nan" in self.message.lower().replace(":", " ").split()


@dataclass(frozen=True, slots=True)
class Part:
    """A piece's vector, and the share of its body's characters that went into it."""

    vector: Vector
    seen: float = 1.0


def batches(pieces: Sequence[Piece]) -> Iterator[slice]:
    """Cut a list of pieces into requests, in order, small in count and in tokens."""
    start, tokens = 0, 0
    for i, piece in enumerate(pieces):
        more = estimate_tokens(piece.text)
        if i > start and (i - start == MAX_BATCH or tokens + more > MAX_BATCH_TOKENS):
            yield slice(start, i)
            start, tokens = i, 0
        tokens += more
    if start < len(pieces):
        yield slice(start, len(pieces))


class Splitter:
    """Embeds pieces through ``send``, which takes texts and returns float32[n, dim], rows L2-normalised.

    Args:
        send: Raises Refused or BadVectors for what is to be narrowed down; anything else passes through.
        model: Its name, for messages.
    """

    def __init__(self, send: Callable[[Sequence[str]], Vector], model: str) -> None:
        self._send = send
        self._model = model
        self._model_works = False

    def embed(self, pieces: Sequence[Piece]) -> list[Part | EmbedProblem]:
        """One result a piece, in order.

        Raises:
            ModelBroken, EmbedderUnavailable: The model refuses a plain word, too.
        """
        try:
            return [Part(row) for row in self._send([piece.text for piece in pieces])]
        except (Refused, BadVectors) as error:
            if len(pieces) == 1:
                return [self._alone(pieces[0], error)]
        half = len(pieces) // 2
        return self.embed(pieces[:half]) + self.embed(pieces[half:])

    def _alone(self, piece: Piece, error: Refused | BadVectors) -> Part | EmbedProblem:
        if isinstance(error, BadVectors) or not (error.too_long or error.status == 400):
            # A model that was just loading, or an overflow that another batch had caused.
            try:
                return Part(self._send([piece.text])[0])
            except (Refused, BadVectors) as again:
                error = again
        if isinstance(error, Refused) and error.too_long:
            return self._halved(piece, error)
        self._blame_the_model(error)
        return EmbedProblem(_reason(error), permanent=isinstance(error, BadVectors) or error.deterministic)

    def _halved(self, piece: Piece, error: Refused) -> Part | EmbedProblem:
        if len(piece.body) <= SMALLEST_WINDOW:
            return EmbedProblem(_reason(error), permanent=True)
        halves = [Piece(piece.head, body) for body in cut_in_two(piece.body)]
        # One by one: together they would be refused together.
        return pooled([self.embed([half])[0] for half in halves], [len(half.body) for half in halves])

    def _blame_the_model(self, error: Refused | BadVectors) -> None:
        if self._model_works:
            return
        try:
            self._send([PLAIN_WORD.text])
        except BadVectors as general:
            raise ModelBroken(f"{self._model} gives no usable vectors: {general.message}") from error
        except Refused as general:
            reason = f"{self._model} refuses every text: {general.message}"
            if general.status in (400, 501):
                raise ModelBroken(reason, hint=f"ollama show {self._model}") from error
            raise EmbedderUnavailable(reason) from error
        self._model_works = True


def pooled(parts: Sequence[Part | EmbedProblem], lengths: Sequence[int]) -> Part | EmbedProblem:
    """One vector for several pieces of a text, weighted by length. Pieces that failed lower the share seen.

    Args:
        parts: At least one.
        lengths: Characters of each.
    """
    good = [(part, length) for part, length in zip(parts, lengths, strict=True) if isinstance(part, Part)]
    if not good:
        return next(part for part in parts if isinstance(part, EmbedProblem))
    weights = [part.seen * length or 1e-9 for part, length in good]
    try:
        vector = weighted_mean(np.stack([part.vector for part, _ in good]), weights)
    except BadVectors as error:
        return EmbedProblem(error.message, permanent=True)
    return Part(vector, min(sum(weights) / (sum(lengths) or 1), 1.0))


def _reason(error: Refused | BadVectors) -> str:
    return error.message if isinstance(error, BadVectors) else f"Ollama refuses the text: {error.message}"
