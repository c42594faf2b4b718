"""How the meaning arm fares, in values that the service reads, and how a query is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from vaultrag.domain import NoteId
from vaultrag.errors import EmbedderUnavailable, EmbedError, ModelBroken, ModelMissing
from vaultrag.protocols import Embedder, MultilingualEmbedder
from vaultrag.retrieval.readability import is_foreign, readable
from vaultrag.vector_protocols import VectorScan, VectorStore

if TYPE_CHECKING:
    from vaultrag.domain import Vector


class EmbeddedQuery(NamedTuple):
    """A query as a vector. ``multilingual``: of the second model of a ``ports.MultilingualEmbedder``."""

    text: str
    vector: Vector
    multilingual: bool = False


class Compared(NamedTuple):
    """A query against the vectors.

    Attributes:
        scan: What they say.
        readable: How well the model that made them reads the query's language, 0 to 1.
        multilingual: Whether they are those of the second model.
    """

    scan: VectorScan
    readable: float = 1.0
    multilingual: bool = False


@dataclass(frozen=True, slots=True)
class VectorState:
    """The state of the vectors, for searching.

    ``state``: ``ready`` (vectors may be searched), ``mismatch`` (they are of another model than the one at hand),
    ``waiting`` (no embedder answers, or the vectors cannot be opened), ``starting`` or ``off``.
    """

    state: str = "starting"
    vectors: VectorStore | None = None
    embedder: Embedder | None = None
    why: str = ""
    hint: str = ""

    def embed(self, text: str) -> EmbeddedQuery:
        """Embed a query by the one model that reads its language.

        Raises:
            EmbedError
        """
        store, embedder = self.vectors, self.embedder
        if store is None or embedder is None:
            raise EmbedderUnavailable("there are no vectors to compare with yet")
        if isinstance(embedder, MultilingualEmbedder) and is_foreign(text, store.multilingual.mostly_foreign):
            return EmbeddedQuery(text, embedder.embed_multilingual_query(text), multilingual=True)
        return EmbeddedQuery(text, embedder.embed_query(text))

    def compare(self, query: EmbeddedQuery, ahead: int = 0) -> Compared:
        """Compare a query with the vectors of the model that has embedded it.

        Args:
            query: From ``embed``.
            ahead: As ``VectorStore.scan``.

        Raises:
            EmbedError
        """
        store, embedder, vector = self.vectors, self.embedder, query.vector
        if store is None or embedder is None:
            raise EmbedderUnavailable("there are no vectors to compare with yet")
        if query.multilingual:
            scan = store.multilingual.scan(vector, ahead)
            if scan is not None:
                return Compared(scan, multilingual=True)
            vector = embedder.embed_query(query.text)  # the second model has not read a note yet
        return Compared(store.scan(vector, ahead), readable(store.identity.model, query.text))

    def neighbours(self, note_id: NoteId) -> VectorScan | None:
        """Compare a note with all others, by the model that reads its language; None where it has no vector."""
        if self.vectors is None:
            return None
        if isinstance(self.embedder, MultilingualEmbedder):
            vector = self.vectors.multilingual.vector(note_id)
            if vector is not None and (scan := self.vectors.multilingual.scan(vector)) is not None:
                return scan
        vector = self.vectors.vector(note_id)
        return self.vectors.scan(vector) if vector is not None else None


def describe(error: EmbedError) -> str:
    """Return the embedder's state in one word, for the status."""
    if isinstance(error, ModelMissing):
        return "missing"
    return "broken" if isinstance(error, ModelBroken) else "down"
