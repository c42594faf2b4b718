"""The vectors of the multilingual model, beside those of the index's own: for queries that are not English.

They lie in a table of their own, by the hash of the text, whatever note it belongs to: a note that moves, or returns to
an earlier text, finds its vectors there. So the index's own vectors are the same with and without them, and an index
from before they existed loses nothing: they are added to it. Memory holds them from the first such query on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import REFERENCE, EmbeddedNote, Identity, NoteId, Scale
from vaultrag.errors import BadVectors, StoreError
from vaultrag.storage.private_notes import listed
from vaultrag.storage.sqlite import Readers, rows, scalar
from vaultrag.storage.vectors.matrix import Matrix, quantise
from vaultrag.storage.vectors.passages import PassageRow, Passages
from vaultrag.storage.vectors.vector_rows import checksum, passage_blobs
from vaultrag.storage.vectors.vector_scan import VectorScan

Vector = NDArray[np.float32]
Writing = Callable[[], AbstractContextManager[apsw.Connection]]

MAJORITY = 0.5
"""Share of notes that are not English from which a query without a sign of its language is taken for theirs."""

_OF_NOTES = (
    "SELECT n.note_id, m.code, m.scale, m.lines, m.codes, m.scales, m.checksum FROM vector_notes AS n"
    " JOIN multilingual AS m ON m.text_hash = n.text_hash"
)


class _Row(NamedTuple):
    note_id: NoteId
    code: bytes
    scale: float
    lines: bytes
    codes: bytes
    scales: bytes
    checksum: int

    @property
    def sound(self) -> bool:
        return _checksum(*self[1:6]) == self.checksum


class MultilingualVectors:
    """The table of one file, and what memory holds of it. Callable from any thread; one thread writes."""

    def __init__(self, readers: Readers, writing: Writing) -> None:
        self._readers = readers
        self._writing = writing
        self._lock = threading.Lock()
        self._identity: Identity | None = None
        self._scale = REFERENCE
        self._notes: Matrix | None = None
        self._passages: Passages | None = None
        self._verified = 0
        self._read, self._foreign = 0, 0  # texts, and those of them that are not English

    @property
    def mostly_foreign(self) -> bool:
        """Return whether most notes are not English."""
        return self._foreign > MAJORITY * self._read

    def begin(self, identity: Identity, scale: Scale) -> None:
        """Make ready for the vectors of this model and recipe: those of any other are dropped.

        Args:
            scale: What their cosines mean.
        """
        self._scale = scale
        with self._writing() as connection:
            known = scalar(connection, "SELECT value FROM meta WHERE key = 'multilingual'")
            if known != identity.key:
                connection.execute("DELETE FROM multilingual")
                connection.execute("INSERT OR REPLACE INTO meta VALUES ('multilingual', ?)", (identity.key,))
        with self._lock:
            self._identity, self._notes, self._passages = identity, None, None
        self._count()

    def verify(self, count: int) -> None:
        """Compare some rows with their checksums, the next ones with each call.

        Damaged rows are dropped, and after the last one those of texts that no note has any more, nor had lately.
        """
        with self._writing() as connection:
            found = rows(
                connection,
                "SELECT rowid, code, scale, lines, codes, scales, checksum FROM multilingual WHERE rowid > ?"
                " ORDER BY rowid LIMIT ?",
                (self._verified, count),
            )
            for rowid, *blobs, known in found:
                if _checksum(*blobs) != known:
                    connection.execute("DELETE FROM multilingual WHERE rowid = ?", (rowid,))
            if len(found) < count:
                connection.execute(
                    "DELETE FROM multilingual WHERE text_hash NOT IN"
                    " (SELECT text_hash FROM vector_notes UNION ALL SELECT text_hash FROM retired)"
                )
        if len(found) < count:
            self._count()
        self._verified = found[-1][0] if len(found) == count else 0

    def _count(self) -> None:
        with self._readers.reading() as connection:
            sql = "SELECT count(*), coalesce(sum(is_foreign), 0) FROM multilingual"
            self._read, self._foreign = rows(connection, sql)[0]

    def lacking(self) -> dict[NoteId, str]:
        """Return the notes with a vector whose text the multilingual model has not read, with its hash."""
        with self._readers.reading() as connection:
            return dict(
                rows(
                    connection,
                    "SELECT n.note_id, n.text_hash FROM vector_notes AS n"
                    " LEFT JOIN multilingual AS m ON m.text_hash = n.text_hash WHERE m.text_hash IS NULL",
                )
            )

    def put(self, made: Iterable[tuple[str, EmbeddedNote | None, bool]]) -> None:
        """Store what the model made of texts, in one transaction.

        Args:
            made: Hash of the text; its vectors, None where the model makes none of it; whether it is not English.

        Raises:
            BadVectors: A vector is not of the model's dimension, zero or not finite; nothing was stored.
        """
        found = [(text_hash, foreign, *self._blobs(note)) for text_hash, note, foreign in made]
        with self._writing() as connection:
            for text_hash, foreign, *blobs in found:
                connection.execute(
                    "INSERT OR REPLACE INTO multilingual VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (text_hash, foreign, *blobs, _checksum(*blobs)),
                )
        self._read += len(found)
        self._foreign += sum(foreign for _, foreign, *_ in found)
        self.follow(text_hash for text_hash, *_ in found)

    def follow(self, text_hashes: Iterable[str]) -> None:
        """Remember what there is for the notes that have these texts now."""
        with self._lock:
            if self._notes is None:
                return
            with self._readers.reading() as connection:
                for text_hash in text_hashes:
                    self._take(rows(connection, f"{_OF_NOTES} WHERE n.text_hash = ?", (text_hash,)))

    def forget(self, note_ids: Sequence[NoteId]) -> None:
        """Drop notes that are gone."""
        with self._lock:
            if self._notes is not None and self._passages is not None:
                self._notes.delete(note_ids)
                self._passages.forget(note_ids)

    def vector(self, note_id: NoteId) -> Vector | None:
        """Return the vector of a note that is not English, float32[dim]; None for any other."""
        with self._readers.reading() as connection:
            found = rows(connection, f"{_OF_NOTES} WHERE n.note_id = ? AND m.is_foreign", (note_id,))
        row = next(map(_Row._make, found), None)
        return None if row is None or not row.code else np.frombuffer(row.code, np.int8) * np.float32(row.scale)

    def scan(self, query: Vector, ahead: int = 0) -> VectorScan | None:
        """Compare a query of the multilingual model with its vectors; None where there are none.

        Args:
            query: float32[dim], L2-normalised.
            ahead: As ``Vectors.scan``.
        """
        with self._lock:
            if self._identity is None or len(query) != self._identity.dimension:
                return None
            if self._notes is None:
                self._load(self._identity.dimension)
            notes, passages = self._notes, self._passages
        if notes is None or passages is None or not len(notes):
            return None
        query = np.ascontiguousarray(query, np.float32)
        scan = VectorScan(notes.scan(query), passages.scan(query, len(notes)), scale=self._scale)
        if ahead:
            scan.look_ahead(ahead)
        return scan

    # -- details -------------------------------------------------------------------------------------------------

    def _load(self, dimension: int) -> None:
        self._notes, self._passages = Matrix(dimension), Passages(dimension, self._passages_of)
        with self._readers.reading() as connection:
            self._passages.expect(scalar(connection, "SELECT coalesce(sum(length(codes)), 0) FROM multilingual"))
            self._take(rows(connection, _OF_NOTES))

    def _take(self, found: Iterable[Sequence[object]]) -> None:
        """Bring rows into memory; one that damage has changed is passed over."""
        assert self._notes is not None
        assert self._passages is not None
        taken = [row for row in map(_Row._make, found) if row.code and row.sound]
        if not taken:
            return
        codes = np.frombuffer(b"".join(row.code for row in taken), np.int8).reshape(len(taken), -1)
        scales = np.array([row.scale for row in taken], np.float32)
        self._notes.put_many([row.note_id for row in taken], [1] * len(taken), codes, scales)
        self._passages.take(PassageRow(row.note_id, row.lines, row.codes, row.scales) for row in taken)

    def _passages_of(self, note_ids: Sequence[NoteId]) -> list[PassageRow]:
        try:
            with self._readers.reading() as connection:
                sql = f"{_OF_NOTES} WHERE n.note_id IN (SELECT value FROM json_each(?))"
                found = [_Row._make(row) for row in rows(connection, sql, (listed(note_ids),))]
        except StoreError:
            return []
        return [PassageRow(row.note_id, row.lines, row.codes, row.scales) for row in found if row.sound]

    def _blobs(self, note: EmbeddedNote | None) -> tuple[bytes, float, bytes, bytes, bytes]:
        if note is None:
            return b"", 0.0, b"", b"", b""
        dimension = self._identity.dimension if self._identity is not None else 0
        passages = note.passage_vectors if note.passage_vectors is not None else np.empty((0, dimension), np.float32)
        for made in (note.vector[None, :], passages):
            if made.shape[1] != dimension or not np.isfinite(made).all() or not made.any(axis=1).all():
                raise BadVectors("the multilingual model made something that is no vector")
        codes, scales = quantise(np.ascontiguousarray(note.vector[None, :], np.float32))
        return codes.tobytes(), float(scales[0]), *passage_blobs(note.passage_lines, passages)


def _checksum(code: Any, scale: Any, lines: Any, codes: Any, scales: Any) -> int:
    return checksum(code, repr(scale), lines, codes, scales)
