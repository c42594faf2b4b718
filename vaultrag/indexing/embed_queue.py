"""The notes that wait for their vector, in the order in which they are embedded, and those that were given up.

What was edited last comes first. Long notes wait until the others have theirs, and one that is being embedded is broken
off for them, so that it never holds up a fresh edit. Notes over which the
embedder went away are *suspects*: each is sent by itself, so that the one that is the cause is found, and the others do
not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from vaultrag.domain import EmbeddedNote, EmbedProblem, NoteId, NoteText
from vaultrag.protocols import Embedder

LONG_CHARS = 60_000
"""Longer notes wait until the others have their vectors."""

BATCH_NOTES = 16
BATCH_CHARS = 24_000
"""A batch ends at either: some tenths of a second of work, so that a fresh edit never waits long."""

MAX_TRIES = 5
"""A text that fails for passing reasons is tried so often, then listed."""

MOST_OVERTAKEN = 3
"""A long note is broken off so often for others; then it is finished, however often others are edited."""

TextsOf = Callable[[list[NoteId]], Mapping[NoteId, NoteText]]
"""Gives the texts of these notes; a note it leaves out has changed and comes again."""


class EmbedQueue:
    """The notes that wait for a vector, and the hashes of their texts.

    Its owner holds a lock while it changes; the properties may be read at any time.
    """

    def __init__(self) -> None:
        self._pending: dict[NoteId, str] = {}
        self._long: set[NoteId] = set()
        self._suspects: set[NoteId] = set()
        self._failed: dict[NoteId, str] = {}
        self._overtaken: dict[NoteId, int] = {}
        self.broken_off = 0
        """Batches that were begun and not finished."""

    def __len__(self) -> int:
        return len(self._pending)

    def __contains__(self, row: tuple[NoteId, str]) -> bool:
        """Return whether this text of a note is awaited: not so once it was deleted or edited."""
        note_id, text_hash = row
        return self._pending.get(note_id) == text_hash

    def embedded(
        self, embedder: Embedder, wanted: Mapping[NoteId, tuple[NoteText, str]]
    ) -> list[EmbeddedNote | EmbedProblem]:
        """Embed a batch, and break it off when it is of no use. Needs no lock.

        Raises:
            Cancelled: It was broken off.
            EmbedError: See ``Embedder.embed_notes``.
        """
        hashes = {note_id: text_hash for note_id, (_, text_hash) in wanted.items()}
        return embedder.embed_notes([text for text, _ in wanted.values()], lambda: self._still_useful(hashes))

    def _still_useful(self, hashes: Mapping[NoteId, str]) -> bool:
        """Return whether to go on with a batch.

        Not when all of it was deleted or edited, and not with a long note while a short one waits, unless that was so
        ``MOST_OVERTAKEN`` times.
        """
        if not any(row in self for row in hashes.items()):
            self.broken_off += 1
            return False
        first = next(iter(hashes))
        if first not in self._long or self._overtaken.get(first, 0) >= MOST_OVERTAKEN:
            return True
        if self.notes <= self._long.copy():
            return True
        self._overtaken[first] = self._overtaken.get(first, 0) + 1
        self.broken_off += 1
        return False

    @property
    def notes(self) -> frozenset[NoteId]:
        """Those that wait."""
        return frozenset(self._pending.copy())  # in one step: it is read while the threads go on

    @property
    def failed(self) -> Mapping[NoteId, str]:
        """Those that were given up, with the reason."""
        return dict(self._failed)  # a copy: it is read while the threads go on

    def begin(self, pending: Mapping[NoteId, str], failed: Mapping[NoteId, str]) -> None:
        """Replace all notes that wait and all that were given up, in one step, so that nobody sees an empty queue."""
        self._pending, self._failed = dict(pending), dict(failed)

    def add(self, pending: Mapping[NoteId, str]) -> None:
        """Add notes to those that wait."""
        self._pending.update(pending)

    def renew(self, notes: Iterable[NoteId], pending: Mapping[NoteId, str], failed: Mapping[NoteId, str]) -> None:
        """Take new texts: some wait, before all others; some were given up; the rest have vectors."""
        renewed = {*notes, *pending}
        self._pending = {**pending, **{row: text for row, text in self._pending.items() if row not in renewed}}
        for note_id in renewed:
            self._failed.pop(note_id, None)
        self._failed.update(failed)

    def forget(self, notes: Iterable[NoteId]) -> None:
        """Drop notes that are gone."""
        for note_id in notes:
            self._pending.pop(note_id, None)
            self._failed.pop(note_id, None)

    def done(self, note_id: NoteId) -> None:
        """Take a note out: it has its vector."""
        del self._pending[note_id]

    def give_up(self, note_id: NoteId, reason: str) -> None:
        """Give a note up: it cannot be embedded."""
        del self._pending[note_id]
        self._failed[note_id] = reason

    def put_back(self, note_id: NoteId) -> None:
        """Put notes back, after all others."""
        self._pending[note_id] = self._pending.pop(note_id)

    def retry(self) -> None:
        """Forget all that was given up."""
        self._failed.clear()

    def suspect(self, notes: Collection[NoteId]) -> None:
        """Send each of these notes by itself from now on: the embedder went away over them."""
        self._suspects = set(notes)

    def trust(self, notes: Iterable[NoteId]) -> None:
        """Clear the suspicion: the embedder did not go away over these, or they were charged with it."""
        self._suspects.difference_update(notes)

    def batch(self, texts_of: TextsOf) -> dict[NoteId, tuple[NoteText, str]]:
        """Return the next notes to embed: their texts, and the hashes these go by."""
        self._long &= self._pending.keys()
        self._overtaken = {note_id: times for note_id, times in self._overtaken.items() if note_id in self._pending}
        self._suspects &= self._pending.keys()
        short = [note_id for note_id in self._pending if note_id not in self._long]
        chosen = short[:BATCH_NOTES] or list(self._pending)[:1]  # of long ones no batch takes more
        if self._suspects:
            short, chosen = [], [next(note_id for note_id in self._pending if note_id in self._suspects)]
        available = texts_of(chosen)
        for note_id in chosen:
            if note_id not in available:
                self._pending.pop(note_id)
            elif len(available[note_id].text) > LONG_CHARS:
                self._long.add(note_id)
        if short:
            chosen = [note_id for note_id in chosen if note_id not in self._long]
        return {
            note_id: (text, self._pending[note_id]) for note_id, text in _until(BATCH_CHARS, chosen, available).items()
        }


def _until(chars: int, chosen: Iterable[NoteId], texts: Mapping[NoteId, NoteText]) -> dict[NoteId, NoteText]:
    """Return the first of ``texts``, in the order of ``chosen``, up to so many characters; at least one."""
    taken: dict[NoteId, NoteText] = {}
    total = 0
    for note_id in chosen:
        text = texts.get(note_id)
        if text is None:
            continue
        if taken and total + len(text.text) > chars:
            break
        taken[note_id] = text
        total += len(text.text)
    return taken


def given_up(reason: str, permanent: bool, tries: int) -> bool:
    """Return whether a text that failed so is not tried again."""
    return permanent or tries >= MAX_TRIES
