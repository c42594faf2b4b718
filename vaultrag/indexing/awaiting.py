"""The notes that wait for their vector, in the order in which they are embedded, and those that were given up.

Long notes wait until the others have theirs, so that one of them never holds up a fresh edit. Notes over which the
embedder went away are *suspects*: each is sent by itself, so that the one that is the cause is found, and the others do
not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from vaultrag.model import NoteId, NoteText

LONG_CHARS = 60_000
"""Longer notes wait until the others have their vectors."""

BATCH_NOTES = 16
BATCH_CHARS = 24_000
"""A batch ends at either: some tenths of a second of work, so that a fresh edit never waits long."""

TextsOf = Callable[[list[NoteId]], Mapping[NoteId, NoteText]]
"""Gives the texts of these notes; a note it leaves out has changed and comes again."""


class Awaiting:
    """Which notes, and the hashes of their texts. Whoever owns it holds a lock while it changes; the properties may be
    read at any time.
    """

    def __init__(self) -> None:
        self._pending: dict[NoteId, str] = {}
        self._long: set[NoteId] = set()
        self._suspects: set[NoteId] = set()
        self._failed: dict[NoteId, str] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def __contains__(self, row: tuple[NoteId, str]) -> bool:
        """Whether this text of a note is awaited: not so once it was deleted or edited."""
        note_id, text_hash = row
        return self._pending.get(note_id) == text_hash

    @property
    def notes(self) -> frozenset[NoteId]:
        """Those that wait."""
        return frozenset(self._pending.copy())  # in one step: it is read while the threads go on

    @property
    def failed(self) -> Mapping[NoteId, str]:
        """Those that were given up, with the reason."""
        return dict(self._failed)  # a copy: it is read while the threads go on

    def begin(self, pending: Mapping[NoteId, str], failed: Mapping[NoteId, str]) -> None:
        """Of all notes, these wait, and these were given up; in one step, so that nobody sees that none does."""
        self._pending, self._failed = dict(pending), dict(failed)

    def add(self, pending: Mapping[NoteId, str]) -> None:
        """These wait, too."""
        self._pending.update(pending)

    def renew(self, notes: Iterable[NoteId], pending: Mapping[NoteId, str], failed: Mapping[NoteId, str]) -> None:
        """Of these notes, whose texts are new, some wait and some were given up; the others have their vectors."""
        for note_id in notes:
            if note_id not in pending:
                self._pending.pop(note_id, None)
            self._failed.pop(note_id, None)
        self._pending.update(pending)
        self._failed.update(failed)

    def forget(self, notes: Iterable[NoteId]) -> None:
        """These are gone."""
        for note_id in notes:
            self._pending.pop(note_id, None)
            self._failed.pop(note_id, None)

    def done(self, note_id: NoteId) -> None:
        """It has its vector."""
        del self._pending[note_id]

    def give_up(self, note_id: NoteId, reason: str) -> None:
        """It cannot be embedded."""
        del self._pending[note_id]
        self._failed[note_id] = reason

    def put_back(self, note_id: NoteId) -> None:
        """It is tried again, after all others."""
        self._pending[note_id] = self._pending.pop(note_id)

    def retry(self) -> None:
        """Nothing is given up any more."""
        self._failed.clear()

    def suspect(self, notes: Collection[NoteId]) -> None:
        """The embedder went away over these notes. From now on, each is sent by itself."""
        self._suspects = set(notes)

    def trust(self, notes: Iterable[NoteId]) -> None:
        """The embedder did not go away over these, or was charged to them."""
        self._suspects.difference_update(notes)

    def batch(self, texts_of: TextsOf) -> dict[NoteId, tuple[NoteText, str]]:
        """The next notes to embed: their texts, and the hashes these go by."""
        self._long &= self._pending.keys()
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
    """The first of ``texts``, in the order of ``chosen``, up to so many characters; at least one."""
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
