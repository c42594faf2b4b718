"""What the last writes did to the words of notes: enough to mend what was read before, in place of reading it again.

A person who writes saves every few seconds, and each save is one note among thousands. What was listed of the others
is still true.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from vaultrag.domain import NoteId
from vaultrag.storage.lexical.postings import Counted

MOST_NOTES = 128
"""So many are remembered, 20 kB each for a note of some length."""

MOST_AT_ONCE, MOST_CHARS_AT_ONCE = 32, 500_000
"""A write of more is not worth it: to count all that takes longer than to read the lists that are asked for again."""

GONE = Counted({}, {}, -1)
"""What is left of a note that was deleted."""


class IndexDelta:
    """The words of the notes that were changed last, each as it is now. Callable from any thread."""

    def __init__(self) -> None:
        self._notes: OrderedDict[NoteId, tuple[int, Counted]] = OrderedDict()
        self._since = 0  # every change after this generation is known
        self._lock = threading.Lock()

    def add(self, generation: int, notes: Mapping[NoteId, Counted]) -> None:
        """Remember a write.

        Args:
            generation: The first that shows it; see ``NoteIndex.snapshot``.
            notes: The words of each note that was written; ``GONE`` for those deleted.
        """
        with self._lock:
            for note_id, words in notes.items():
                self._notes[note_id] = (generation, words)
                self._notes.move_to_end(note_id)
            while len(self._notes) > MOST_NOTES:
                self._since = self._notes.popitem(last=False)[1][0]

    def lose(self, generation: int) -> None:
        """Forget all: a write changed too much, or it is not known how it ended."""
        with self._lock:
            self._notes.clear()
            self._since = generation

    def between(self, earlier: int, later: int) -> dict[NoteId, Counted] | None:
        """Return the notes that differ between two generations, as at the later one; None where that is not known."""
        with self._lock:
            if earlier < self._since:
                return None
            found = {note_id: known for note_id, known in self._notes.items() if known[0] > earlier}
        if any(generation > later for generation, _ in found.values()):
            return None  # it has changed once more since: how it was then is gone
        return {note_id: words for note_id, (_, words) in found.items()}
