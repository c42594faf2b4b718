"""What the core needs from a store of vectors. ``store`` has the adapters.

As in ``ports``, each has a small in-memory twin in ``tests/support``, and both pass one contract suite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from vaultrag.domain import EmbeddedNote, HeldVector, Identity, NoteId, Scale, VectorMatches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


class VectorScan(Protocol):
    """One query against the vectors."""

    def notes(self, k: int, allowed: frozenset[NoteId] | None = None) -> list[tuple[NoteId, float]]: ...

    def matches(self, k: int, allowed: frozenset[NoteId] | None, others: NDArray[np.int64]) -> VectorMatches:
        """Compare the ``k`` nearest notes, the ``k`` with the nearest passages, and these others."""
        ...

    def passage(self, note_id: NoteId) -> tuple[float, int, int] | None: ...

    def background(self, without: frozenset[NoteId] = frozenset()) -> tuple[float, float]:
        """Mean and standard deviation of the cosines of all notes but these."""
        ...

    @property
    def scale(self) -> Scale:
        """The scale of the cosines."""
        ...


class MultilingualStore(Protocol):
    """Vectors that the second model of a ``MultilingualEmbedder`` made, beside the vectors of one file."""

    @property
    def mostly_foreign(self) -> bool:
        """Return whether most notes are not English."""
        ...

    def begin(self, identity: Identity, scale: Scale) -> None:
        """Make ready for the vectors of this model and recipe: those of any other are dropped."""
        ...

    def lacking(self) -> Mapping[NoteId, str]:
        """Return the notes with a vector whose text the second model has not read, with its hash."""
        ...

    def put(self, made: Iterable[tuple[str, EmbeddedNote | None, bool]]) -> None:
        """Store what the model made of texts: hash, vectors if any, whether it is not English. Raises as ``put``."""
        ...

    def vector(self, note_id: NoteId) -> Vector | None:
        """Return the vector of a note that is not English; None for any other."""
        ...

    def scan(self, query: Vector, ahead: int = 0) -> VectorScan | None:
        """Compare a query of the second model with its vectors; None where there are none."""
        ...


class VectorStore(Protocol):
    """``obsidian_notes.db``: one vector a note, under one identity, keyed by the hash of the embedded text."""

    @property
    def identity(self) -> Identity: ...

    @property
    def multilingual(self) -> MultilingualStore: ...

    @property
    def scale(self) -> Scale | None:
        """The scale of the cosines; None while that has not been told."""
        ...

    def keep_scale(self, scale: Scale) -> None:
        """Remember what the cosines mean."""
        ...

    def load(self) -> None:
        """Read the vectors into memory, where scans look."""
        ...

    @property
    def loaded(self) -> bool: ...

    def verify(self) -> None:
        """Compare some rows with their checksums, the next ones with each call; drop those that are damaged."""
        ...

    def failures(self) -> Mapping[str, tuple[str, bool, int]]:
        """By text hash: the reason, whether trying again is pointless, how often it was tried."""
        ...

    def record_failure(self, text_hash: str, reason: str, *, permanent: bool) -> None: ...

    def forget_failures(self, keep: Iterable[str] = ()) -> None: ...

    def vector(self, note_id: NoteId) -> Vector | None: ...

    def holding(self, note_id: NoteId) -> HeldVector | None:
        """Return the text that the note's vector stands for; None without one."""
        ...

    def close(self) -> None: ...

    def hashes(self) -> Mapping[NoteId, str]:
        """Return the text hash of every note that has a vector."""
        ...

    def reuse(self, wanted: Mapping[NoteId, str]) -> set[NoteId]:
        """Give notes a vector already known for their text hash; returns those that could be served."""
        ...

    def put(self, rows: Iterable[tuple[NoteId, str, EmbeddedNote]]) -> None:
        """Store vectors, in one transaction.

        Raises:
            BadVectors: A vector is zero, not finite or of another dimension; nothing was stored.
        """
        ...

    def put_passages(self, text_hash: str, lines: Sequence[tuple[int, int]], vectors: Sequence[Vector]) -> set[NoteId]:
        """Add passages to the notes that have their vector under this hash, and return those.

        Args:
            lines: First and last body line of each; none says that the text has no passages to be made.
            vectors: One each.

        Raises:
            BadVectors: As ``put``.
        """
        ...

    def without_passages(self) -> Mapping[NoteId, str]:
        """Return notes with a vector whose passages are still to be made, and their text hashes."""
        ...

    def drop_passages(self) -> None:
        """Forget all passages; the notes' vectors stay."""
        ...

    def delete(self, note_ids: Iterable[NoteId]) -> None: ...

    def scan(self, query: Vector, ahead: int = 0) -> VectorScan:
        """Compare a query (float32[dim], L2-normalised) with every vector, and find the ``ahead`` nearest at once."""
        ...


class VectorShelf(Protocol):
    """The folder of a vault's vector files."""

    def recorded(self) -> Identity | None:
        """Return the identity of the vectors in use."""
        ...

    def open_vectors(self, identity: Identity) -> tuple[VectorStore, bool]:
        """Return the vectors of this identity, and whether they are those in use (else they are being built beside)."""
        ...

    def swap_in(self, vectors: VectorStore) -> VectorStore:
        """Put finished vectors in the place of those in use. The store given is closed; use the one returned."""
        ...
