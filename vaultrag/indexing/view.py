"""How the meaning arm fares, in values that the service reads."""

from __future__ import annotations

from dataclasses import dataclass

from vaultrag.errors import EmbedError, ModelBroken, ModelMissing
from vaultrag.ports import Embedder, VectorStore


@dataclass(frozen=True, slots=True)
class MeaningView:
    """What the meaning arm can do at the moment.

    ``state``: ``ready`` (vectors may be searched), ``mismatch`` (they are of another model than the one at hand),
    ``waiting`` (no embedder answers, or the vectors cannot be opened), ``starting`` or ``off``.
    """

    state: str = "starting"
    vectors: VectorStore | None = None
    embedder: Embedder | None = None
    why: str = ""
    hint: str = ""


def describe(error: EmbedError) -> str:
    """The embedder's state in one word, for the status."""
    if isinstance(error, ModelMissing):
        return "missing"
    return "broken" if isinstance(error, ModelBroken) else "down"
