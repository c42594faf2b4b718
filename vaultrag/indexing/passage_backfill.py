"""The second pass: passages for notes that have their vector, the most recently changed note first.

For an embedder that reads a note whole (``ports.PassageEmbedder``), and for notes whose passages were not kept because
the settings said so. A step is a few passages, so that a fresh edit never waits long; those of a long note are gathered
over several steps and stored together. What is gathered and not yet stored is lost with the process, no more.

``awaited`` and what the store holds change under the lock of ``VectorLifecycle``, which owns this. One thread takes the
steps; it asks the disk and the embedder outside the lock, and it alone knows the drafts.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from vaultrag.domain import EmbeddedNote, EmbedProblem, Identity, NoteId, NoteText, Passage
from vaultrag.errors import BadVectors
from vaultrag.protocols import Embedder, PassageEmbedder
from vaultrag.vector_protocols import VectorStore

if TYPE_CHECKING:
    from vaultrag.domain import Vector

BATCH_NOTES = 8
BATCH_PASSAGES = 16
BATCH_CHARS = 8_000
"""A step ends at any of these. Passages that were merged to stay below their number are long."""

MAX_TRIES = 5
"""Where a passage fails for passing reasons its note is tried so often, then does without that passage."""

T = TypeVar("T")
Texts = Callable[[list[NoteId]], Mapping[NoteId, NoteText]]


@dataclass(slots=True)
class _Draft:
    """A note's passages, as far as they have vectors."""

    text_hash: str
    waiting: deque[Passage] = field(default_factory=deque)
    lines: list[tuple[int, int]] = field(default_factory=list)
    vectors: list[Vector] = field(default_factory=list)
    faulty: bool = False
    """A passage failed for a passing reason."""

    def take(self, passage: Passage, result: Vector | EmbedProblem) -> None:
        if isinstance(result, EmbedProblem):
            self.faulty = self.faulty or not result.permanent
        else:
            self.lines.append((passage.start_line, passage.end_line))
            self.vectors.append(result)


class PassageBackfill:
    """The passages that one vault's vectors still lack."""

    def __init__(self) -> None:
        self.awaited: dict[NoteId, str] = {}
        self._in_order = False
        self._identity: Identity | None = None
        self._drafts: dict[NoteId, _Draft] = {}
        self._tries = Counter[str]()

    # -- under the lock ------------------------------------------------------------------------------------------

    def look(self, store: VectorStore, *, but: Iterable[NoteId] = ()) -> None:
        """Ask the store anew which notes lack their passages; ``but``: these must get their vector first."""
        found = dict(store.without_passages())
        for note_id in but:
            found.pop(note_id, None)
        self.awaited = found
        self._in_order = False

    def add(self, note_id: NoteId, text_hash: str) -> None:
        """Queue a note: it has its vector now."""
        self.awaited[note_id] = text_hash
        self._in_order = False

    def drop(self, note_ids: Iterable[NoteId]) -> None:
        """Drop notes that are gone, or must get their vector first."""
        for note_id in note_ids:
            self.awaited.pop(note_id, None)

    def choose(self, identity: Identity, hashes: Callable[[], Mapping[NoteId, str]]) -> dict[NoteId, str]:
        """Return the notes to begin with now; none while some are begun.

        Args:
            identity: Of the vectors that are wanted. What was begun under another is given up.
            hashes: All notes' texts, the most recently changed note first.
        """
        if not self._in_order:
            # A note that is gone or has changed drops out; the latter comes again.
            awaited = self.awaited
            self.awaited = {note_id: value for note_id, value in hashes().items() if awaited.get(note_id) == value}
            self._in_order = True
        begun = self._drafts if identity == self._identity else {}
        self._drafts = {n: draft for n, draft in begun.items() if self.awaited.get(n) == draft.text_hash}
        self._identity = identity
        return {} if self._drafts else dict(islice(self.awaited.items(), BATCH_NOTES))

    def keep(self, store: VectorStore) -> None:
        """Store the passages of the notes that have them all."""
        for note_id, draft in list(self._drafts.items()):
            if draft.waiting:
                continue
            del self._drafts[note_id]
            if self.awaited.get(note_id) != draft.text_hash:
                continue
            if draft.faulty and self._tried(draft.text_hash) < MAX_TRIES:
                self.awaited[note_id] = self.awaited.pop(note_id)  # at the end of the line
                continue
            try:
                served = store.put_passages(draft.text_hash, draft.lines, draft.vectors)
            except BadVectors:
                served = store.put_passages(draft.text_hash, (), ())  # the note's own vector stands for all of it
            self.drop({note_id, *served})

    def _tried(self, text_hash: str) -> int:
        self._tries[text_hash] += 1
        return self._tries[text_hash]

    # -- outside the lock, by one thread -------------------------------------------------------------------------

    def make(
        self, store: VectorStore, embedder: Embedder, chosen: Mapping[NoteId, str], texts_of: Texts
    ) -> set[NoteId]:
        """Begin with the notes chosen, and make some passages of those begun.

        Returns:
            Notes that are not as they were, and come again by themselves.

        Raises:
            EmbedError: The embedder is away; what has been gathered stays.
        """
        found = texts_of(list(chosen)) if chosen else {}
        texts = {note_id: text for note_id, text in found.items() if text.hash == chosen[note_id]}
        if isinstance(embedder, PassageEmbedder):
            for note_id, text in texts.items():
                self._drafts[note_id] = _cut(store, note_id, text, embedder.cut(text))
            self._next(embedder)
        else:
            self._with_their_notes(embedder, texts)
        return chosen.keys() - texts.keys()

    def _with_their_notes(self, embedder: Embedder, texts: Mapping[NoteId, NoteText]) -> None:
        """From an embedder that makes passages and note vector in one: the latter is there, and the same."""
        first = dict(_up_to(BATCH_CHARS, texts.items(), lambda entry: len(entry[1].text)))
        results = embedder.embed_notes(list(first.values())) if first else []
        if len(results) != len(first):
            raise BadVectors(f"the embedder gave {len(results)} results for {len(first)} notes")
        for (note_id, text), result in zip(first.items(), results, strict=True):
            draft = self._drafts[note_id] = _Draft(text.hash)
            if isinstance(result, EmbeddedNote):
                draft.lines = list(result.passage_lines)
                draft.vectors = list(result.passage_vectors) if result.passage_vectors is not None else []
            else:
                draft.faulty = not result.permanent

    def _next(self, embedder: PassageEmbedder) -> None:
        every = ((draft, passage) for draft in self._drafts.values() for passage in draft.waiting)
        batch = _up_to(BATCH_CHARS, islice(every, BATCH_PASSAGES), lambda entry: len(entry[1].text))
        if not batch:
            return
        results = embedder.embed_passages([passage.text for _, passage in batch])
        if len(results) != len(batch):
            raise BadVectors(f"the embedder gave {len(results)} results for {len(batch)} passages")
        for (draft, passage), result in zip(batch, results, strict=True):
            draft.waiting.popleft()
            draft.take(passage, result)


def _cut(store: VectorStore, note_id: NoteId, text: NoteText, passages: Sequence[Passage]) -> _Draft:
    draft = _Draft(text.hash, deque(passages))
    own = store.vector(note_id) if len(passages) == 1 else None
    if own is not None:  # the model has seen this very text
        draft.take(draft.waiting.popleft(), own)
    return draft


def _up_to(chars: int, entries: Iterable[T], size: Callable[[T], int]) -> list[T]:
    """Return the first entries up to so many characters; at least one."""
    taken: list[T] = []
    total = 0
    for entry in entries:
        total += size(entry)
        if taken and total > chars:
            break
        taken.append(entry)
    return taken
