"""Vectors, what makes them comparable, and what could not become one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # numpy costs 80 ms to import; the commands that only print do without
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """float32[dim], or float32[n, dim] with a vector a row."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The model and recipe of vectors. Vectors of different identities cannot be compared."""

    provider: str
    model: str
    digest: str
    dimension: int
    document_prefix: str = ""
    query_prefix: str = ""
    windows: str = ""
    cleaning: int = 1
    schema: int = 1

    @property
    def key(self) -> str:
        """Twelve hex digits that stand for the whole identity."""
        parts = (
            self.provider, self.model, self.digest, str(self.dimension), self.document_prefix, self.query_prefix,
            self.windows, str(self.cleaning), str(self.schema),
        )  # fmt: skip
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True)
class Scale:
    """Two points that make a model's cosines comparable with another's.

    Attributes:
        far: The mean cosine of a question with the answer to another.
        near: That with its own.
    """

    far: float
    near: float


REFERENCE = Scale(0.027, 0.527)
"""The builtin model's, which the parameters of the score were chosen on."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of whole sentences: body lines ``start_line`` to ``end_line`` (0-based, inclusive) and their text."""

    start_line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class EmbeddedNote:
    """A note's one vector, the share of its text that went into it, and its passages' own vectors.

    Attributes:
        vector: float32[dim], L2-normalised.
        covered: Share of the text's characters the model saw, 0 to 1.
        passage_lines: (start_line, end_line) of each passage, body lines; may be empty.
        passage_vectors: float32[len(passage_lines), dim], rows L2-normalised.
    """

    vector: Vector
    covered: float = 1.0
    passage_lines: tuple[tuple[int, int], ...] = ()
    passage_vectors: Vector | None = None


@dataclass(frozen=True, slots=True)
class HeldVector:
    """A stored vector, without its numbers.

    The share of the text that it stands for, and the first and last body lines of its passages (0-based, inclusive).
    """

    covered: float
    lines: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class EmbedProblem:
    """This one text could not be embedded. ``permanent``: the same text would fail again, do not retry."""

    reason: str
    permanent: bool
