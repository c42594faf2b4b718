"""Short ways to fill the real stores. (They open in milliseconds in a temporary folder, so they need no twins.)"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vaultrag.domain import EmbeddedNote, Identity, IndexedEntry, Note, NoteId, NotePath
from vaultrag.indexing.applier import content_hash
from vaultrag.markdown import parse_note
from vaultrag.retrieval.clauses import clauses_of
from vaultrag.retrieval.query_parser import parse_query
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.lexical.matches import LexicalMatches
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_rows import NoteRows
from vaultrag.storage.notes.note_values import values_of
from vaultrag.storage.vectors.vector_rows import code_bytes
from vaultrag.storage.vectors.vector_store import Vectors

if TYPE_CHECKING:
    from vaultrag.domain import Vector

DIMENSION = 32
IDENTITY = Identity("test", "rows", "0123", DIMENSION)


def parsed(path: str, text: str, note_id: int = 0, mtime_ns: int = 1, inode: int = 7) -> tuple[IndexedEntry, Note]:
    """What the index is given for a note."""
    data = text.encode()
    note = parse_note(NotePath(path), data)
    entry = IndexedEntry(
        NoteId(note_id), NotePath(path), len(data), mtime_ns, inode, content_hash(data), note.text.hash
    )
    return entry, note


def add(index: NoteIndex, path: str, text: str, note_id: int = 0, mtime_ns: int = 1) -> NoteId:
    """Write one note, in a transaction of its own."""
    return index.upsert([values_of(*parsed(path, text, note_id, mtime_ns))])[0]


def found(index: NoteIndex, query: str, k: int = 80) -> list[str]:
    """The paths that a query's words find, best first."""
    asked = parse_query(query)
    barred = SqliteLexicalRetriever(index).holding(clauses_of(asked.excluded))
    result = SqliteLexicalRetriever(index).search(clauses_of(asked.terms), k=k)
    rows = NoteRows(index).by_ids(hit.note_id for hit in word_hits(result) if hit.note_id not in barred)
    return [row.path for row in rows.values()]


class WordHit(NamedTuple):
    """``held``: indices into ``LexicalMatches.counts``."""

    note_id: NoteId
    bm25: float
    held: frozenset[int]


def word_hits(result: LexicalMatches) -> list[WordHit]:
    """What words found, hit by hit."""
    held = (frozenset(np.flatnonzero(row).tolist()) for row in result.holding(result.ids))
    return list(map(WordHit, map(NoteId, result.ids.tolist()), result.bm25.tolist(), held))


def filtered(index: NoteIndex, query: str) -> set[str]:
    """The paths that a query's filters let through."""
    ids = NoteRows(index).matching(parse_query(query).filters)
    assert ids is not None, f"{query} holds no filter"
    return {row.path for row in NoteRows(index).by_ids(ids).values()}


def unit_rows(count: int, seed: int = 1, dimension: int = DIMENSION) -> Vector:
    """float32[count, dimension], rows of length 1, always the same for a seed."""
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    length: Vector = np.linalg.norm(rows, axis=1, keepdims=True).astype(np.float32)
    return rows / length


def embedded(vector: Vector, passages: Sequence[Vector] = ()) -> EmbeddedNote:
    """A note's vector; passage ``n`` stands on body line ``n``."""
    note = EmbeddedNote(vector)
    if not len(passages):
        return note
    lines = tuple((line, line) for line in range(len(passages)))
    return replace(note, passage_lines=lines, passage_vectors=np.stack(list(passages)))


def row_counts(index: NoteIndex) -> dict[str, int]:
    """How many rows each table holds, the virtual ones too."""
    with index.readers.reading() as connection:
        return {
            table: int(connection.execute(f"SELECT count(*) FROM {table}").get)
            for table in ("notes", "names", "tags", "links", "skipped", "words_docsize", "name_letters_docsize")
        }


def passages_in(vectors: Vectors) -> int:
    """How many passages' vectors the file holds."""
    with vectors.readers.reading() as connection:
        return code_bytes(connection) // vectors.identity.dimension


def nearest_by_vec0(
    vectors: Vectors, query: Vector, k: int, allowed: frozenset[NoteId] | None = None
) -> list[tuple[NoteId, float]]:
    """The ``k`` nearest notes by vec0's own search: what the scan in memory is checked against."""
    sql = "SELECT note_id, distance FROM note_vectors WHERE embedding MATCH ? AND k = ?"
    values: list[object] = [np.ascontiguousarray(query, np.float32).tobytes(), k]
    if allowed is not None:
        sql += " AND note_id IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(sorted(allowed)))
    with vectors.readers.reading() as connection:
        return [(note_id, 1.0 - distance) for note_id, distance in connection.execute(sql, values)]
