"""The same notes in plain tables, as a program with two hours would have them: ``vec0`` for the vectors, FTS5 for the
words, reciprocal ranks to fuse them, the file for the preview. In this process, with no socket between.

The tables are asked for bounds too: they hold what any index must hold, and nothing more.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import apsw
import sqlite_vec

from tests.bench.hashing import MAX_PASSAGES, HashVectors
from tests.bench.statistics import best_of
from tests.bench.vaults import body
from vaultrag.domain import EmbeddedNote, NoteText

LIMIT = 10
"""Results that everybody is asked for."""

POOL = 80
"""Notes that each half brings to the fused list."""

PREVIEW_CHARS = 700
PASSAGES_A_NOTE = 3
"""So many passages are asked for where so many notes are wanted: several of them may be one note's."""

_RRF = 60
_WORD = re.compile(r"\w+")


class Plain:
    """Two tables in one file."""

    def __init__(self, vault: Path, paths: Sequence[str], file: Path, dimension: int) -> None:
        self._vault = vault
        self._paths = paths
        self._vectors = HashVectors(dimension)
        self._file = file
        self.words_s = 0.0
        self.vectors_s = 0.0
        self._db = apsw.Connection(str(file))
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "mmap_size = 1073741824", "cache_size = -8000"):
            self._db.execute(f"PRAGMA {pragma}").fetchall()
        self._db.enable_load_extension(True)
        self._db.load_extension(sqlite_vec.loadable_path())
        self._db.enable_load_extension(False)
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5 (title, body, tokenize='porter unicode61')")
        self._db.execute(
            f"CREATE VIRTUAL TABLE vectors USING vec0 (embedding float[{dimension}] distance_metric=cosine)"
        )
        self._fill()

    def close(self) -> None:
        self._db.close()

    def by_meaning(self, query: str, k: int = LIMIT) -> list[int]:
        """Notes nearest to the query, best first; its vector is made here."""
        vector = self._vectors.embed_query(query).tobytes()
        sql = "SELECT rowid, distance FROM vectors WHERE embedding MATCH ? AND k = ?"
        return [row[0] for row in self._db.execute(sql, (vector, k))]

    def by_words(self, query: str, k: int = LIMIT) -> list[int]:
        """Notes with any of the words, best first."""
        words = _WORD.findall(query)
        if not words:
            return []
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        return [row[0] for row in self._db.execute(sql, (_either(words), k))]

    def by_passage(self, query: str, k: int = LIMIT) -> list[int]:
        """Notes with the nearest passages, best first; ``fill_passages`` comes before."""
        vector = self._vectors.embed_query(query).tobytes()
        sql = "SELECT rowid FROM passages WHERE embedding MATCH ? AND k = ?"
        notes = (row[0] // MAX_PASSAGES for row in self._db.execute(sql, (vector, PASSAGES_A_NOTE * k)))
        return list(islice(dict.fromkeys(notes), k))

    def fused(self, query: str, k: int = LIMIT, *, by_passage: bool = False) -> list[tuple[str, str]]:
        """The notes that both halves rank best, (path, preview) each."""
        near = self.by_passage(query, POOL) if by_passage else self.by_meaning(query, POOL)
        scores: dict[int, float] = {}
        for ranked in (near, self.by_words(query, POOL)):
            for rank, note in enumerate(ranked, 1):
                scores[note] = scores.get(note, 0.0) + 1.0 / (_RRF + rank)
        best = sorted(scores, key=lambda note: -scores[note])[:k]
        return [(self._paths[note - 1], self._preview(self._paths[note - 1], query)) for note in best]

    def postings_ms(self, query: str) -> float:
        """Milliseconds to walk the postings of each of the query's words once, unranked: what any BM25 must do."""
        sql = "SELECT count(*) FROM words WHERE words MATCH ?"
        return sum(
            1000 * best_of(2, time.perf_counter, lambda one=word: self._db.execute(sql, (_either([one]),)).get)  # type: ignore[misc]
            for word in _WORD.findall(query)
        )

    def _preview(self, path: str, query: str) -> str:
        text = (self._vault / path).read_text("utf-8")
        lower = text.lower()
        at = min((place for word in _WORD.findall(query.lower()) if (place := lower.find(word)) >= 0), default=0)
        start = max(0, at - PREVIEW_CHARS // 2)
        return text[start : start + PREVIEW_CHARS]

    def fill_passages(self) -> None:
        """A row a passage, beside the row a note."""
        self._db.execute(
            f"CREATE VIRTUAL TABLE passages USING vec0 (embedding float[{self._vectors.dimension}]"
            " distance_metric=cosine)"
        )
        for number, path in enumerate(self._paths, 1):
            text = NoteText(Path(path).stem, body((self._vault / path).read_text("utf-8")))
            (made,) = self._vectors.embed_notes([text])
            if isinstance(made, EmbeddedNote) and made.passage_vectors is not None:
                rows = enumerate(made.passage_vectors, number * MAX_PASSAGES)
                self._timed("INSERT INTO passages (rowid, embedding) VALUES (?, ?)",
                            [(row, vector.tobytes()) for row, vector in rows])  # fmt: skip

    def _fill(self) -> None:
        notes = enumerate(self._paths, 1)
        while batch := list(islice(notes, 256)):
            texts = [(number, path, body((self._vault / path).read_text("utf-8"))) for number, path in batch]
            self.words_s += self._timed(
                "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)",
                ((number, Path(path).stem, text) for number, path, text in texts),
            )
            embedded = self._vectors.embed_notes([NoteText(Path(path).stem, text) for _, path, text in texts])
            self.vectors_s += self._timed(
                "INSERT INTO vectors (rowid, embedding) VALUES (?, ?)",
                [
                    (number, made.vector.tobytes())
                    for (number, _, _), made in zip(texts, embedded, strict=True)
                    if isinstance(made, EmbeddedNote)
                ],
            )

    def _timed(self, sql: str, rows: Iterable[tuple[object, ...]]) -> float:
        begun = time.perf_counter()
        with self._db:
            self._db.executemany(sql, rows)
        return time.perf_counter() - begun


def _either(words: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)
