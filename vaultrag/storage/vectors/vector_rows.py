"""The statements behind ``Vectors``: one vector in, out, retired and found again, and vec0's space kept in order."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import HeldVector, Identity, NoteId, Scale
from vaultrag.storage.schema import VECTOR_STEPS, refuse_newer, too_new
from vaultrag.storage.sqlite import connect, rows, scalar, translating, writing
from vaultrag.storage.vectors.matrix import quantise

CHUNK = 1_024
"""Rows that are read at once; and vec0's own measure, which it takes and gives back space by."""

KEEP_RETIRED = 2_000


def stored_identity(path: Path) -> Identity | None:
    """Return the identity a vector file was made with; None for a file that is absent or was never filled.

    Raises:
        StoreTooNew: It is from a newer vaultrag.
        StoreError
    """
    if not path.exists():
        return None
    connection = connect(path)
    try:
        with translating(path, in_use=False):
            return identity_in(connection, path)
    finally:
        connection.close()


def identity_in(connection: apsw.Connection, path: Path) -> Identity | None:
    """Return the identity that an open vector file was made with; None for one never filled.

    What an earlier version did not know of, it had as the default says.

    Raises:
        StoreTooNew: It is from a newer vaultrag.
    """
    refuse_newer(connection, VECTOR_STEPS, path)
    if not scalar(connection, "SELECT count(*) FROM sqlite_master WHERE name = 'meta'"):
        return None
    value = scalar(connection, "SELECT value FROM meta WHERE key = 'identity'")
    return _identity(value, path) if value else None


def stored_scale(connection: apsw.Connection) -> Scale | None:
    """Return the scale of an open vector file's cosines; None while that has not been told."""
    value = scalar(connection, "SELECT value FROM meta WHERE key = 'scale'")
    return Scale(**json.loads(value)) if value else None


def _identity(text: str, path: Path) -> Identity:
    stored = json.loads(text)
    if unknown := stored.keys() - {field.name for field in fields(Identity)}:
        raise too_new(path, f"its vectors differ by {', '.join(sorted(unknown))}")
    return Identity(**stored)


def holding(connection: apsw.Connection, note_id: NoteId) -> HeldVector | None:
    """Return what the vector of a note stands for; None without one."""
    sql = "SELECT covered, lines FROM vector_notes AS n LEFT JOIN passages AS p USING (note_id) WHERE n.note_id = ?"
    for covered, lines in rows(connection, sql, (note_id,)):
        pairs = np.frombuffer(lines or b"", np.int32).reshape(-1, 2).tolist()
        return HeldVector(covered, tuple((first, last) for first, last in pairs))
    return None


def create_for(connection: apsw.Connection, identity: Identity, path: Path) -> None:
    with writing(connection):
        stored = scalar(connection, "SELECT value FROM meta WHERE key = 'identity'")
        if stored is not None:
            if _identity(stored, path) != identity:
                raise ValueError("the vector file is of another identity")
            return
        connection.execute(
            "CREATE VIRTUAL TABLE note_vectors USING vec0 ("
            f"note_id INTEGER PRIMARY KEY, embedding float[{int(identity.dimension)}] distance_metric=cosine)"
        )
        connection.execute("INSERT INTO meta VALUES ('identity', ?)", (json.dumps(asdict(identity)),))


def close_gaps(connection: apsw.Connection) -> None:
    """Move the vectors out of chunks that deletions have thinned, so that vec0 gives these back.

    vec0 writes new rows behind the last one only, and frees a chunk when its last row is gone.
    """
    chunks = rows(connection, "SELECT chunk_id, count(*) FROM note_vectors_rowids GROUP BY chunk_id ORDER BY chunk_id")
    living = sum(count for _, count in chunks)
    if len(chunks) * CHUNK <= 1.3 * living + CHUNK:
        return
    for chunk_id, count in chunks[:-1]:
        if count > 0.7 * CHUNK:
            continue
        with writing(connection):
            moving = rows(
                connection,
                "SELECT note_id, embedding FROM note_vectors WHERE note_id IN"
                " (SELECT rowid FROM note_vectors_rowids WHERE chunk_id = ?)",
                (chunk_id,),
            )
            connection.executemany("DELETE FROM note_vectors WHERE note_id = ?", [(note_id,) for note_id, _ in moving])
            connection.executemany("INSERT INTO note_vectors (note_id, embedding) VALUES (?, ?)", moving)


def checksum(*parts: Any) -> int:
    """Return the CRC-32 of what a row holds: bytes, texts, or None."""
    value = 0
    for part in parts:
        value = zlib.crc32(part.encode() if isinstance(part, str) else part or b"", value)
    return value


def add_checksums(connection: apsw.Connection) -> None:
    """Give rows of a file from before checksums theirs. The model is not asked."""
    connection.create_scalar_function("checksum", checksum, deterministic=True)
    with writing(connection):
        connection.execute(
            "UPDATE vector_notes SET checksum = checksum(text_hash, (SELECT embedding FROM note_vectors AS v"
            " WHERE v.note_id = vector_notes.note_id)) WHERE checksum IS NULL"
        )
        connection.execute("UPDATE passages SET checksum = checksum(lines, codes, scales) WHERE checksum IS NULL")
        connection.execute(
            "UPDATE retired SET checksum = checksum(text_hash, vector),"
            " passages_checksum = checksum(lines, codes, scales) WHERE checksum IS NULL"
        )


def spoilt_notes(connection: apsw.Connection, dimension: int, after: int = 0, limit: int = -1) -> tuple[set[int], int]:
    """Find notes whose vector or passages are not what was written, or that lack a row of the two that belong together.

    Args:
        after: Begin behind this note.
        limit: Look at so many vectors; -1 for all.

    Returns:
        The notes, and the last one that was looked at; 0 at the end.
    """
    spoilt = {
        int(row[0])
        for row in rows(
            connection,
            "SELECT note_id FROM vector_notes WHERE note_id NOT IN (SELECT rowid FROM note_vectors_rowids)"
            " UNION SELECT rowid FROM note_vectors_rowids WHERE rowid NOT IN (SELECT note_id FROM vector_notes)"
            " UNION SELECT note_id FROM passages WHERE note_id NOT IN (SELECT note_id FROM vector_notes)",
        )
    }
    found = connection.execute(
        "SELECT n.note_id, n.text_hash, n.checksum, v.embedding, p.note_id, p.lines, p.codes, p.scales, p.checksum"
        " FROM (SELECT * FROM vector_notes WHERE note_id > ? ORDER BY note_id LIMIT ?) AS n"
        " CROSS JOIN note_vectors AS v ON v.note_id = n.note_id LEFT JOIN passages AS p ON p.note_id = n.note_id",
        (after, limit),
    )
    last = count = 0
    for note_id, text_hash, of_vector, vector, has_passages, lines, codes, scales, of_passages in found:
        last, count = note_id, count + 1
        if (
            len(vector) != 4 * dimension
            or checksum(text_hash, vector) != of_vector
            or (has_passages is not None and checksum(lines, codes, scales) != of_passages)
        ):
            spoilt.add(note_id)
    return spoilt, last if count == limit else 0


class Row(NamedTuple):
    """A vector with all that is stored of it."""

    note_id: NoteId
    text_hash: str
    vector: bytes
    covered: float
    lines: bytes | None
    codes: bytes | None
    scales: bytes | None


def put_one(connection: apsw.Connection, row: Row) -> None:
    note_id = row.note_id
    known = scalar(connection, "SELECT text_hash FROM vector_notes WHERE note_id = ?", (note_id,))
    if known is not None and known != row.text_hash:
        retire(connection, note_id)
    if known is None:
        # A vector without its note's row, after damage, would be in the way for ever.
        connection.execute("DELETE FROM note_vectors WHERE note_id = ?", (note_id,))
        connection.execute("INSERT INTO note_vectors (note_id, embedding) VALUES (?, ?)", (note_id, row.vector))
    else:
        connection.execute("UPDATE note_vectors SET embedding = ? WHERE note_id = ?", (row.vector, note_id))
    connection.execute(
        "INSERT OR REPLACE INTO vector_notes VALUES (?, ?, ?, ?)",
        (note_id, row.text_hash, row.covered, checksum(row.text_hash, row.vector)),
    )
    connection.execute("DELETE FROM passages WHERE note_id = ?", (note_id,))
    if row.lines is not None:
        connection.execute(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?)",
            (note_id, row.lines, row.codes, row.scales, checksum(row.lines, row.codes, row.scales)),
        )
    connection.execute("DELETE FROM retired WHERE text_hash = ?", (row.text_hash,))


Stored = tuple[bytes, float, bytes | None, bytes | None, bytes | None]


def stored(connection: apsw.Connection, text_hash: str) -> Stored | None:
    """Return a vector of this text, from a note or retired; None where there is none, or damage has changed it."""
    found = rows(
        connection,
        "SELECT v.embedding, n.covered, p.lines, p.codes, p.scales, n.checksum, p.checksum FROM vector_notes AS n"
        " JOIN note_vectors AS v ON v.note_id = n.note_id LEFT JOIN passages AS p ON p.note_id = n.note_id"
        " WHERE n.text_hash = ? ORDER BY p.lines IS NULL LIMIT 1",
        (text_hash,),
    ) or rows(
        connection,
        "SELECT vector, covered, lines, codes, scales, checksum, passages_checksum FROM retired WHERE text_hash = ?",
        (text_hash,),
    )
    for vector, covered, lines, codes, scales, of_vector, of_passages in found:
        if checksum(text_hash, vector) == of_vector and (
            lines is None or checksum(lines, codes, scales) == of_passages
        ):
            return vector, covered, lines, codes, scales
    return None


def retire(connection: apsw.Connection, note_id: NoteId) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO retired SELECT n.text_hash, v.embedding, n.covered, p.lines, p.codes, p.scales,"
        " CAST(unixepoch('subsec') * 1e9 AS INTEGER), n.checksum, p.checksum FROM vector_notes AS n"
        " JOIN note_vectors AS v ON v.note_id = n.note_id LEFT JOIN passages AS p ON p.note_id = n.note_id"
        " WHERE n.note_id = ?",
        (note_id,),
    )


def trim_retired(connection: apsw.Connection) -> None:
    """Keep the most recent ones only: at least ``KEEP_RETIRED``, at most a quarter of the living, if that is more."""
    living, retired = (
        scalar(connection, "SELECT count(*) FROM vector_notes"),
        scalar(connection, "SELECT count(*) FROM retired"),
    )
    surplus = retired - max(KEEP_RETIRED, living // 4)
    if surplus > 0:
        connection.execute(
            "DELETE FROM retired WHERE text_hash IN (SELECT text_hash FROM retired ORDER BY retired_ns LIMIT ?)",
            (surplus,),
        )


def passage_blobs(lines: Sequence[tuple[int, int]], vectors: NDArray[np.float32]) -> tuple[bytes, bytes, bytes]:
    codes, scales = quantise(np.ascontiguousarray(vectors, np.float32))
    return np.asarray(lines, np.int32).tobytes(), codes.tobytes(), scales.tobytes()


def add_passages(connection: apsw.Connection, text_hash: str, blobs: tuple[bytes, bytes, bytes]) -> list[NoteId]:
    """Give passages to the notes with this text; returns these notes. Empty blobs: the text has none to be made."""
    found = [row[0] for row in rows(connection, "SELECT note_id FROM vector_notes WHERE text_hash = ?", (text_hash,))]
    for note_id in found:
        connection.execute(
            "INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?, ?)", (note_id, *blobs, checksum(*blobs))
        )
    return found


def lacking_passages(connection: apsw.Connection) -> dict[NoteId, str]:
    return dict(
        rows(
            connection,
            "SELECT n.note_id, n.text_hash FROM vector_notes AS n LEFT JOIN passages AS p ON p.note_id = n.note_id"
            " WHERE p.note_id IS NULL",
        )
    )


def code_bytes(connection: apsw.Connection) -> int:
    """Return how many bytes the codes of all passages take."""
    return int(scalar(connection, "SELECT coalesce(sum(length(codes)), 0) FROM passages"))


def drop_passages(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM passages")
    connection.execute("UPDATE retired SET lines = NULL, codes = NULL, scales = NULL WHERE lines IS NOT NULL")
