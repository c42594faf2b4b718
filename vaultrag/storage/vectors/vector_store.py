"""``obsidian_notes.db``: one vector a note in sqlite-vec (cosine), the passages' vectors, and what could not be had.

Every row carries the hash of the text it was made from; together with the file's identity that names the vector for
good. A vector that loses its note is *retired*, not thrown away, so that the same text never meets the model twice.

Passages come with the note's vector or are added to it later. A row of passages that holds none says that the text has
none; no row, that they are still to be made.

vec0 knows no upsert, takes zero and non-finite vectors without a word and ranks them first: both are seen to here.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import REFERENCE, EmbeddedNote, HeldVector, Identity, NoteId, Scale
from vaultrag.errors import BadVectors, StoreError
from vaultrag.storage.integrity import senseless
from vaultrag.storage.schema import VECTOR_STEPS, migrate
from vaultrag.storage.sqlite import (
    InvalidRow,
    Readers,
    close_clean,
    connect,
    in_place,
    inode,
    mark_open,
    rows,
    scalar,
    translating,
    writing,
)
from vaultrag.storage.vectors.matrix import Matrix, quantise
from vaultrag.storage.vectors.multilingual import MultilingualVectors
from vaultrag.storage.vectors.passages import PassageRow, Passages
from vaultrag.storage.vectors.vector_rows import (
    CHUNK,
    Row,
    add_checksums,
    add_passages,
    checksum,
    close_gaps,
    code_bytes,
    create_for,
    drop_passages,
    holding,
    lacking_passages,
    passage_blobs,
    put_one,
    retire,
    spoilt_notes,
    stored,
    stored_identity,
    stored_scale,
    trim_retired,
)
from vaultrag.storage.vectors.vector_scan import VectorScan

Vector = NDArray[np.float32]

__all__ = ["Failure", "VectorScan", "Vectors", "stored_identity"]

SAMPLE = 256
"""Vectors that one regular check compares with their checksums."""

MAX_K = 200
"""vec0's cost grows with k; nothing needs more."""


log = logging.getLogger(__name__)


class Failure(NamedTuple):
    """A text that could not be embedded. ``permanent``: the same text would fail again."""

    reason: str
    permanent: bool
    tries: int


class Vectors:
    """One open vector file. Make one with ``open``; one writing thread, any number of readers."""

    def __init__(self, path: Path, writer: apsw.Connection, identity: Identity) -> None:
        self.path = path
        self.identity = identity
        self.readers = Readers(path)
        self._writer = writer
        self._lock = threading.RLock()
        self._notes = Matrix(identity.dimension)
        self._passages = Passages(identity.dimension, self._passages_of)
        self._loaded = threading.Event()
        self._closed = False
        self._verified = 0
        self.repaired: Callable[[str], None] = log.warning
        """Called with a sentence about what was mended."""
        self._inode = inode(path)
        self.scale = stored_scale(writer)
        self.multilingual = MultilingualVectors(self.readers, self._writing)

    @classmethod
    def open(cls, path: Path, identity: Identity) -> Vectors:
        """Open the file, or create it for this identity.

        Raises:
            ValueError: The file is of another identity; ask ``stored_identity`` first.
            StoreError
        """
        writer = connect(path)
        try:
            before = migrate(writer, VECTOR_STEPS, path)
            with translating(path, in_use=False):
                create_for(writer, identity, path)
                if before < len(VECTOR_STEPS):
                    add_checksums(writer)
            mark_open(writer, path)
        except BaseException:
            writer.close()
            raise
        return cls(path, writer, identity)

    def close(self) -> None:
        self.readers.close()
        with self._lock:
            if not self._closed:
                self._closed = True
                close_clean(self._writer, self.path)

    # -- memory --------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read all vectors into memory. Until that is done, a scan sees what has been read so far."""
        with self._lock:
            with translating(self.path):
                close_gaps(self._writer)
                spoilt, _ = spoilt_notes(self._writer, self.identity.dimension)
                if spoilt:
                    self._drop_spoilt(spoilt)
                found = self._writer.execute("SELECT note_id, embedding FROM note_vectors")
                while chunk := list(islice(found, CHUNK)):
                    ids, blobs = zip(*chunk, strict=True)
                    vectors = np.frombuffer(b"".join(blobs), np.float32).reshape(len(ids), -1)
                    self._notes.put_many(ids, [1] * len(ids), *quantise(vectors))
                self._passages.expect(code_bytes(self._writer))
                found = self._writer.execute("SELECT note_id, lines, codes, scales FROM passages")
                while chunk := list(islice(found, CHUNK)):
                    self._passages.take(map(PassageRow._make, chunk))
            self._loaded.set()

    def verify(self) -> None:
        """Compare the tables with each other, and some rows with their checksums, the next ones with each call.

        Notes whose vector is damaged lose it, and get it made again.
        """
        with self._lock, translating(self.path):
            in_place(self.path, self._inode)
            spoilt, self._verified = spoilt_notes(self._writer, self.identity.dimension, self._verified, SAMPLE)
            if why := senseless(self._writer):
                raise InvalidRow(why)
        self.multilingual.verify(SAMPLE)
        if spoilt:
            self._drop_spoilt(spoilt)
            self._notes.delete(map(NoteId, spoilt))
            self._passages.forget(map(NoteId, spoilt))

    @property
    def loaded(self) -> bool:
        return self._loaded.is_set()

    # -- what is known -------------------------------------------------------------------------------------------

    def hashes(self) -> dict[NoteId, str]:
        with self._lock, translating(self.path):
            in_place(self.path, self._inode)
            return dict(rows(self._writer, "SELECT note_id, text_hash FROM vector_notes"))

    def failures(self) -> dict[str, Failure]:
        """By text hash."""
        with self._lock, translating(self.path):
            found = rows(self._writer, "SELECT text_hash, reason, permanent, tries FROM failures")
        return {text_hash: Failure(reason, bool(permanent), tries) for text_hash, reason, permanent, tries in found}

    def holding(self, note_id: NoteId) -> HeldVector | None:
        with self.readers.reading() as connection:
            return holding(connection, note_id)

    def covered(self, note_id: NoteId) -> float | None:
        """Return the share of the note's text that its vector stands for; None without a vector."""
        with self.readers.reading() as connection:
            value: float | None = scalar(connection, "SELECT covered FROM vector_notes WHERE note_id = ?", (note_id,))
            return value

    def vector(self, note_id: NoteId) -> Vector | None:
        """Return the note's vector, float32[dim]."""
        with self.readers.reading() as connection:
            blob = scalar(connection, "SELECT embedding FROM note_vectors WHERE note_id = ?", (note_id,))
        return np.frombuffer(blob, np.float32) if blob is not None else None

    # -- changes -------------------------------------------------------------------------------------------------

    def reuse(self, wanted: Mapping[NoteId, str]) -> set[NoteId]:
        served: list[Row] = []
        with self._writing() as connection:
            for note_id, text_hash in wanted.items():
                known = stored(connection, text_hash)
                if known is not None:
                    served.append(Row(note_id, text_hash, *known))
                    put_one(connection, served[-1])
            trim_retired(connection)
        self._remember(served)
        return {row.note_id for row in served}

    def put(self, new: Iterable[tuple[NoteId, str, EmbeddedNote]]) -> None:
        checked = [self._row(note_id, text_hash, note) for note_id, text_hash, note in new]
        with self._writing() as connection:
            for row in checked:
                put_one(connection, row)
                connection.execute("DELETE FROM failures WHERE text_hash = ?", (row.text_hash,))
            trim_retired(connection)
        self._remember(checked)

    def put_passages(self, text_hash: str, lines: Sequence[tuple[int, int]], vectors: Sequence[Vector]) -> set[NoteId]:
        made = np.stack(vectors) if len(vectors) else np.empty((0, self.identity.dimension), np.float32)
        if len(lines) != len(made):
            raise BadVectors("a note's passages and their vectors are not of one number")
        self._check(made)
        blobs = passage_blobs(lines, made)
        with self._writing() as connection:
            served = add_passages(connection, text_hash, blobs)
        self._passages.take(PassageRow(note_id, *blobs) for note_id in served)
        return set(served)

    def without_passages(self) -> dict[NoteId, str]:
        with self._lock, translating(self.path):
            return lacking_passages(self._writer)

    def drop_passages(self) -> None:
        with self._writing() as connection:
            drop_passages(connection)
        self._passages.clear()

    def delete(self, note_ids: Iterable[NoteId]) -> None:
        ids = list(note_ids)
        with self._writing() as connection:
            for note_id in ids:
                retire(connection, note_id)
                for table in ("note_vectors", "vector_notes", "passages"):
                    connection.execute(f"DELETE FROM {table} WHERE note_id = ?", (note_id,))
            trim_retired(connection)
        self._notes.delete(ids)
        self._passages.forget(ids)
        self.multilingual.forget(ids)

    def keep_scale(self, scale: Scale) -> None:
        """Remember what the cosines mean."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('scale', ?)", (json.dumps(asdict(scale)),))
        self.scale = scale

    def record_failure(self, text_hash: str, reason: str, *, permanent: bool) -> None:
        """Remember that this text could not be embedded, and why."""
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO failures VALUES (?, ?, ?, 1) ON CONFLICT (text_hash) DO UPDATE"
                " SET reason = excluded.reason, permanent = excluded.permanent, tries = tries + 1",
                (text_hash, reason, permanent),
            )

    def forget_failures(self, keep: Iterable[str] = ()) -> None:
        """Drop what is remembered of texts that are not in ``keep``; with no argument, of all."""
        kept = set(keep)
        with self._writing() as connection:
            for (text_hash,) in rows(connection, "SELECT text_hash FROM failures"):
                if text_hash not in kept:
                    connection.execute("DELETE FROM failures WHERE text_hash = ?", (text_hash,))

    # -- searching -----------------------------------------------------------------------------------------------

    def scan(self, query: Vector, ahead: int = 0) -> VectorScan:
        """Compare a query with every vector in memory.

        Args:
            query: float32[dim], L2-normalised.
            ahead: So many of the nearest notes of all are looked for at once, and not when they are asked for.
        """
        query = np.ascontiguousarray(query, np.float32)
        scan = VectorScan(
            self._notes.scan(query),
            self._passages.scan(query, len(self._notes)),
            lambda ids: self._cosines(query, ids),
            self.scale or REFERENCE,
        )
        if ahead:
            scan.look_ahead(ahead)
        return scan

    # -- details -------------------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        with self._lock, translating(self.path):
            in_place(self.path, self._inode)
            with writing(self._writer):
                yield self._writer

    def _drop_spoilt(self, note_ids: Collection[int]) -> None:
        """Forget vectors that are none any more: the disk changed bytes that SQLite has no way to check."""
        self.repaired(f"{self.path.name}: {len(note_ids)} damaged vectors were dropped and are built again")
        with self._writing() as connection:
            for note_id in note_ids:
                for table in ("note_vectors", "vector_notes", "passages"):
                    connection.execute(f"DELETE FROM {table} WHERE note_id = ?", (note_id,))

    def _cosines(self, query: Vector, ids: Sequence[NoteId]) -> dict[NoteId, float]:
        """Return the cosines of these notes, from float32; nothing where the file cannot be asked (any more)."""
        # The list drives: with IN, vec0 would walk all of its rows.
        sql = (
            "SELECT vectors.note_id, vectors.embedding, n.text_hash, n.checksum FROM json_each(?) AS asked"
            " CROSS JOIN note_vectors AS vectors ON vectors.note_id = asked.value"
            " CROSS JOIN vector_notes AS n ON n.note_id = asked.value"
        )
        try:
            with self.readers.reading() as connection:
                found = [
                    (note_id, blob)
                    for note_id, blob, text_hash, of_vector in rows(connection, sql, (json.dumps(ids),))
                    if checksum(text_hash, blob) == of_vector  # else the copy in memory is the better one
                ]
        except StoreError:
            return {}
        vectors = np.frombuffer(b"".join(blob for _, blob in found), np.float32).reshape(-1, len(query))
        return dict(zip((note_id for note_id, _ in found), (vectors @ query).tolist(), strict=True))

    def _row(self, note_id: NoteId, text_hash: str, note: EmbeddedNote) -> Row:
        vector = np.ascontiguousarray(note.vector, np.float32)
        passages = note.passage_vectors
        if len(note.passage_lines) != (len(passages) if passages is not None else 0):
            raise BadVectors("a note's passages and their vectors are not of one number")
        self._check(vector[None, :])
        if passages is None or not len(passages):
            return Row(note_id, text_hash, vector.tobytes(), note.covered, None, None, None)
        self._check(passages)
        blobs = passage_blobs(note.passage_lines, passages)
        return Row(note_id, text_hash, vector.tobytes(), note.covered, *blobs)

    def _check(self, vectors: Vector) -> None:
        if vectors.ndim != 2 or vectors.shape[1] != self.identity.dimension:
            raise BadVectors(
                f"the index holds vectors of {self.identity.dimension} numbers, the model made {vectors.shape[-1]}; "
                "the notes are safe, and words are searched",
                hint="vaultrag reindex (it asks which model it is, and makes the vectors again)",
            )
        if not np.isfinite(vectors).all() or not (np.abs(vectors).max(axis=1, initial=0.0) > 0).all():
            raise BadVectors("a vector is zero or not finite")

    def _remember(self, committed: Sequence[Row]) -> None:
        """Bring the vectors in memory up to what was just committed."""
        newest = list({row.note_id: row for row in committed}.values())
        if not newest:
            return
        vectors = np.frombuffer(b"".join(row.vector for row in newest), np.float32).reshape(len(newest), -1)
        self._notes.put_many([row.note_id for row in newest], [1] * len(newest), *quantise(vectors))
        self._passages.forget(row.note_id for row in newest if row.lines is None)
        self._passages.take(
            PassageRow(row.note_id, row.lines, row.codes, row.scales)
            for row in newest
            if row.lines is not None and row.codes is not None and row.scales is not None
        )
        self.multilingual.follow(row.text_hash for row in newest)

    def _passages_of(self, note_ids: Sequence[NoteId]) -> list[PassageRow]:
        """Return the passages of these notes, from the file; none where it cannot be asked (any more)."""
        sql = (
            "SELECT passages.note_id, lines, codes, scales, checksum FROM json_each(?) AS asked"
            " CROSS JOIN passages ON passages.note_id = asked.value"
        )
        try:
            with self.readers.reading() as connection:
                return [
                    PassageRow._make(blobs)
                    for *blobs, of_passages in rows(connection, sql, (json.dumps(note_ids),))
                    if checksum(*blobs[1:]) == of_passages
                ]
        except StoreError:
            return []
