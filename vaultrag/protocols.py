"""What the core needs from the outside, said by the core; ``embedding``, ``storage``, ``sources``, ``watcher`` fit it.

Each protocol has a real adapter and a small in-memory twin in ``tests/support``; both pass one contract suite.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from vaultrag.domain import (
    Clause,
    ClauseCount,
    Content,
    DiskEntry,
    EmbeddedNote,
    EmbedderStatus,
    EmbedProblem,
    Filters,
    Gone,
    Identity,
    IndexedEntry,
    LexicalFeatures,
    NameHit,
    Neighbour,
    Note,
    NoteId,
    NotePath,
    NoteRow,
    NoteText,
    NoteValues,
    Passage,
    ReadResult,
    Scale,
    Scan,
    Skipped,
    Unreadable,
)
from vaultrag.domain.dates import DatedEntry, DatedNote, DateKind, NoteDate, Period
from vaultrag.domain.kinds import Kind
from vaultrag.domain.sources import Converted, SourceRecord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


class Clock(Protocol):
    """Time, so that tests can hold it."""

    def monotonic(self) -> float:
        """Seconds, never going back."""
        ...

    def time_ns(self) -> int:
        """Nanoseconds since the epoch."""
        ...


class NoteReader(Protocol):
    """Reads notes, one by one."""

    def read(self, path: NotePath) -> ReadResult:
        """Read one note. Never raises for the disk; never leaves the vault; never opens an excluded file."""
        ...


class VaultReader(NoteReader, Protocol):
    """Looks at a vault's files. Reads only."""

    def scan(self, scopes: Sequence[NotePath] = ()) -> Scan:
        """Look at the whole vault, or at these files and folders (vault-relative) only. Never raises for the disk."""
        ...


class VaultFiles(VaultReader, Protocol):
    """The files of a vault, of every kind that is read, as they are on the disk."""

    def read(self, path: NotePath, known: Content | None = None) -> ReadResult:
        """Read one file; ``known`` is returned where the file is still what it was read from."""
        ...

    def entry(self, path: NotePath) -> DiskEntry | Gone | Skipped | Unreadable:
        """Return a file's stat, by the same rules as ``read``, without opening it."""
        ...


class SourceStore(Protocol):
    """Keeps the text that is made of files of other kinds. Callable from any thread."""

    def record(self, path: NotePath) -> SourceRecord | None:
        """Return what is known of the file at this path, however old."""
        ...

    def same(self, content_hash: str, version: int) -> SourceRecord | None:
        """Return the record of a file with these bytes, wherever it stands or stood."""
        ...

    def text(self, path: NotePath) -> str | None:
        """Return the text made of a file; None where there is none, or it is damaged."""
        ...

    def put(self, entry: DiskEntry, content_hash: str, version: int, converted: Converted) -> None:
        """Keep the text made of a file. Raises OSError where it cannot be written."""
        ...

    def keep_only(self, paths: Collection[NotePath]) -> None:
        """Remove the texts of all other files."""
        ...


class SourceConverter(Protocol):
    """Makes text of files of other kinds, for one thread at a time."""

    @property
    def running(self) -> bool:
        """Return whether it holds something that ``close`` would give back."""
        ...

    def convert(self, kind: Kind, data: bytes, pages: int = 1) -> Converted:
        """Read a file, of which so many pages are recognised. Never raises for what is in it."""
        ...

    def stop(self) -> None:
        """Break off the file at hand, for good. Callable from any thread."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


class Embedder(Protocol):
    """Turns text into vectors. Methods may be called from any thread; queries go before notes."""

    def identity(self) -> Identity:
        """Name the vector space. May ask a server.

        Raises:
            EmbedderUnavailable, ModelMissing, ModelBroken
        """
        ...

    def scale(self) -> Scale:
        """Tell what the model's cosines mean; it may have to embed a few texts for that. Raises as ``embed_query``."""
        ...

    def embed_notes(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        """Embed a small batch; one result a text, in order.

        Args:
            texts: A few notes.
            still_wanted: Asked between pieces of the work.

        Raises:
            Cancelled: ``still_wanted`` returned False; nothing of the batch was embedded.
            EmbedderUnavailable, ModelMissing, ModelBroken: Nothing of the batch was embedded.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """float32[dim], L2-normalised.

        Raises:
            EmbedError
        """
        ...

    def status(self) -> EmbedderStatus:
        """Return what is known without waiting: never blocks, never raises."""
        ...

    def close(self) -> None:
        """Free the model or the connection. Safe to call twice."""
        ...


@runtime_checkable
class WarmEmbedder(Embedder, Protocol):
    """An embedder whose model can be loaded before it is needed."""

    def warm(self) -> None:
        """Load the model and wait until it is there.

        Raises:
            EmbedError
        """
        ...


@runtime_checkable
class PassageEmbedder(Embedder, Protocol):
    """An embedder that reads a note whole: its passages are made apart, after the vectors of all notes.

    (``embed_notes`` of any other gives a note's passages together with its vector.)
    """

    def cut(self, text: NoteText) -> list[Passage]:
        """Return the note's passages, each with the title in front; none for a note of a title only. Asks no model."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | EmbedProblem]:
        """Embed a small batch of ``Passage.text``; one result a text, in order: float32[dim], L2-normalised.

        Raises:
            EmbedderUnavailable, ModelMissing, ModelBroken: Nothing of the batch was embedded.
        """
        ...


@runtime_checkable
class MultilingualEmbedder(Embedder, Protocol):
    """An embedder with a second model, for queries and notes that are not English. Its vectors stand apart."""

    def multilingual_identity(self) -> Identity:
        """Name the second model and its recipe. Asks no model."""
        ...

    def multilingual_scale(self) -> Scale:
        """Tell what the second model's cosines mean. Asks no model."""
        ...

    def embed_multilingual(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        """Embed a small batch by the second model; as ``embed_notes``."""
        ...

    def embed_multilingual_query(self, text: str) -> Vector:
        """Embed a query by the second model; as ``embed_query``."""
        ...


class Masker(Protocol):
    """Hides keys and tokens that lie about in texts."""

    def text(self, text: str) -> str:
        """Return the text with each of them replaced by a mark; as many lines as before."""
        ...

    def data(self, data: bytes) -> bytes:
        """Return the same for a file's bytes."""
        ...


class SessionMemory(Protocol):
    """Remembers what has been shown."""

    def take(self, session: str, paths: Iterable[NotePath]) -> set[NotePath]:
        """Those of the notes that the session has not had; from now on it has had them."""
        ...


class Census(Protocol):
    """Counts and lists of notes."""

    def count(self) -> int: ...

    def skipped(self) -> Mapping[NotePath, Skipped]: ...

    def problems(self) -> list[Skipped]:
        """Return notes that are indexed but not as their writer meant, with the reason."""
        ...


class NoteIndex(Census, Protocol):
    """``hybrid-fts.db``: what notes exist and the words in them. One writer; readers in any thread."""

    def entries(self, scopes: Sequence[NotePath] = ()) -> Mapping[NotePath, IndexedEntry]:
        """Return what is remembered of the notes at or below ``scopes`` (empty: of all)."""
        ...

    def entries_of(self, note_ids: Iterable[NoteId]) -> Mapping[NoteId, IndexedEntry]: ...

    def text_hashes(self) -> Mapping[NoteId, str]:
        """Return the hash of every note's embedded text, the most recently changed note first."""
        ...

    def prepare(self, entry: IndexedEntry, note: Note) -> NoteValues:
        """Return what ``upsert`` is given of a note. May be called in any thread, while another writes."""
        ...

    def upsert(self, notes: Iterable[NoteValues]) -> list[NoteId]:
        """Add or replace, in one transaction. ``note_id`` 0 asks for a new id. Returns the ids, in order."""
        ...

    def verify(self) -> None:
        """Compare the tables with each other and read a few rows, the next ones with each call.

        Raises:
            StoreCorrupt
        """
        ...

    def merge_segments(self) -> bool:
        """Merge some FTS5 segments, so that words are found faster. Return True while more remain.

        Answers are the same before and after.
        """
        ...

    def move(self, moves: Iterable[tuple[NoteId, IndexedEntry]]) -> None:
        """Give known notes their new path and stat; their text is unchanged."""
        ...

    def delete(self, note_ids: Iterable[NoteId]) -> None: ...

    def set_skipped(self, skipped: Mapping[NotePath, Skipped], scopes: Sequence[NotePath] = ()) -> None:
        """Replace what is remembered as skipped under ``scopes`` (empty: everywhere)."""
        ...


class LexicalMatches(Protocol):
    """Lexical matches of one query."""

    @property
    def counts(self) -> Sequence[ClauseCount]:
        """Return what is known of each clause."""
        ...

    @property
    def ids(self) -> NDArray[np.int64]:
        """The best notes, int64[n], best first."""
        ...

    def features(self, ids: NDArray[np.int64]) -> LexicalFeatures:
        """Tell of each of these notes how well the query's words fit it."""
        ...

    def holding(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which of the clauses stand in each note: bool[len(ids), len(counts)]."""
        ...


class LexicalRetriever(Protocol):
    """Ranks notes by the words in them."""

    def search(
        self,
        clauses: Sequence[Clause],
        *,
        k: int = 80,
        allowed: frozenset[NoteId] | None = None,
        row: Sequence[tuple[Clause, int]] = (),
    ) -> LexicalMatches:
        """Rank the ``k`` best notes that hold a clause.

        Args:
            row: Where the clauses stand in the query, in words from its beginning.
        """
        ...

    def holding(self, clauses: Sequence[Clause]) -> frozenset[NoteId]:
        """Return every note that holds one of the clauses."""
        ...

    def containing(self, word: str) -> list[str]:
        """Return words of the notes that hold this one, those that begin with it first; often none."""
        ...

    def stems(self, words: Sequence[str]) -> list[str]:
        """Return what the index reduces each word to."""
        ...


class TitleRetriever(Protocol):
    """Finds notes by title, file name, alias, path or heading."""

    def search(self, text: str, *, k: int = 20, allowed: frozenset[NoteId] | None = None) -> list[NameHit]:
        """Return the notes of this name or path, and the best ``k`` others, best first, one row a note."""
        ...

    def has(self, text: str) -> bool:
        """Return True if a note has this name sign for sign, or this path."""
        ...

    def spelled(self, word: str) -> list[str]:
        """Return words of titles, file names and aliases that ``word`` is likely to be a slip of; often none."""
        ...


class NoteTable(Protocol):
    """Notes by id or path."""

    def by_ids(self, ids: Iterable[NoteId]) -> dict[NoteId, NoteRow]: ...

    def id_of(self, path: str) -> NoteId | None: ...

    def named(self, text: str) -> list[NoteId]:
        """Return the notes that a text names best: one where that is unambiguous."""
        ...

    def near_paths(self, path: str, k: int = 3) -> list[str]:
        """Known paths that look like this one."""
        ...

    def tags(self) -> list[tuple[str, int]]:
        """Every tag with the number of its notes, the most used first."""
        ...

    def all_ids(self) -> tuple[NoteId, ...]:
        """Every note, the most recently changed first."""
        ...

    def matching(self, filters: Filters) -> frozenset[NoteId] | None:
        """Ids of the notes that meet the filters; None when that is all there are."""
        ...

    def dated(self, period: Period) -> list[DatedNote]:
        """Return the notes that say that they, or an entry in them, are of a day in the period."""
        ...

    def sort_days(self, kind: DateKind, ids: Iterable[NoteId]) -> dict[NoteId, str]:
        """Return the first day of each note's date of a kind, as text that sorts."""
        ...

    def last_changed(self, ids: Iterable[NoteId]) -> dict[NoteId, NoteDate]:
        """Return the day of each note's last change, and its source."""
        ...

    def entries(self, ids: Sequence[NoteId]) -> dict[NoteId, list[DatedEntry]]:
        """Return the dated sections and lines of some notes, in the order of the file."""
        ...

    def having(self, name: str) -> list[NoteId]:
        """Return notes with this property, whatever its value and letter case, or with one below it (``name.part``)."""
        ...

    def neighbours(self, note_id: NoteId) -> list[Neighbour]: ...

    def headings(self, ids: Iterable[NoteId]) -> dict[NoteId, list[tuple[int, str]]]:
        """Return the headings of each note that has any: file line and text, in order."""
        ...
