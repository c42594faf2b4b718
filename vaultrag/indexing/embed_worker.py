"""The thread that makes vectors: batch after batch while notes are pending, then their passages, asleep otherwise.

An embedder that is away is asked again after a pause, and nothing is lost meanwhile: what is pending stays so.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping

from vaultrag.domain import Content, NoteId, NotePath, NoteText
from vaultrag.errors import EmbedError, VaultragError
from vaultrag.indexing.applier import content_hash
from vaultrag.indexing.vector_lifecycle import VectorLifecycle
from vaultrag.markdown import parse_note
from vaultrag.protocols import Clock, NoteIndex, VaultReader

log = logging.getLogger(__name__)

RETRY_S = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Pauses before an embedder that is away is asked again; the last one repeats."""

MUCH = 500
"""Vectors, the making of which leaves the process with memory that it does not need."""

WORDS_FIRST_S = 0.1
"""While many notes are read, the vectors ask so often whether it is their turn."""


class EmbedWorker:
    """Keeps the vectors of one vault in step with its notes, in a thread of its own."""

    def __init__(
        self,
        reader: VaultReader,
        index: NoteIndex,
        meaning: VectorLifecycle,
        clock: Clock,
        *,
        changed: Callable[[Iterable[NotePath]], None] = lambda paths: None,
        name: str = "vault",
        yield_to_queries: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare the thread; ``start`` starts it.

        Args:
            changed: Told of notes that turn out to differ from what the index knows.
            yield_to_queries: Called before each note is read; waits while somebody waits for an answer.
        """
        self._give_way = yield_to_queries
        self.meaning = meaning
        self.changed = changed
        self.progressed: Callable[[], None] = lambda: None
        """Told, in this thread, after each step, and when there is nothing more to do."""
        self.much_done: Callable[[], None] = lambda: None
        """Called, in this thread, when many vectors were made and none is left."""
        self._reader = reader
        self._index = index
        self._clock = clock
        self._wake = threading.Condition()
        self._stopping = False
        self._compare = False
        self._unseen = False
        self._retry_failed = False
        self._opened = False
        self._retry_at: float | None = None
        self._retries = 0
        self._done = 0
        self._made = 0  # since ``much_done``
        self._since = 0.0
        self._thread = threading.Thread(target=self._run, name=f"embed-{name}", daemon=True)
        self.batches = 0
        self.hindrance: VaultragError | None = None
        """Why vectors that were made cannot be kept, while that is so."""
        self.words_first: Callable[[], bool] = lambda: False
        """Whether many notes are being read just now: a word is found at once, so that vectors wait for their turn."""
        self.settled = threading.Event()
        """Set while no vector is waiting that could be made."""

    def start(self) -> None:
        self._thread.start()

    def want(self, hashes: Mapping[NoteId, str]) -> None:
        """Take new texts of notes."""
        opened = self._opened
        if opened:
            self.meaning.want(hashes)
        with self._wake:
            if not opened:  # the vectors may be opening just now, without these
                self._compare = self._unseen = True
            self.settled.clear()
            self._wake.notify()

    @property
    def counted(self) -> bool:
        """Return whether ``meaning.pending`` counts every note that lacks its vector."""
        return self._opened and not self._unseen

    def compare(self, *, retry_failed: bool = False) -> None:
        """Compare the vectors with the notes soon; the first time, open them.

        Args:
            retry_failed: Try texts again that were given up, and an embedder that is away at once.
        """
        with self._wake:
            self._compare = True
            self._retry_failed = self._retry_failed or retry_failed
            self.settled.clear()
            self._wake.notify()

    def close(self, timeout_s: float = 30.0) -> None:
        """Stop after the batch at hand, and wait for it."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def eta_s(self) -> float | None:
        """Seconds until the last vector is made, at the pace so far; None before there is one."""
        pending = self.meaning.pending
        if not self._done or not pending or self._retry_at is not None:
            return None
        return (self._clock.monotonic() - self._since) / self._done * pending

    # -- the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while self._await():
            try:
                self._advance(*self._asked())
                self._retry_at, self._retries = None, 0
                self.hindrance = None
                self.progressed()
                if self._made >= MUCH and not self._unfinished:
                    self._made = 0
                    self.much_done()
            except EmbedError as error:
                log.warning("no vectors for now: %s", error.message)
                self.meaning.trouble(error)
                self._pause()
            except VaultragError as fault:
                log.error("vectors cannot be kept: %s", fault.message)
                self.hindrance = fault
                if self.meaning.view.vectors is None:  # there is nothing to search by, and this is why
                    self.meaning.trouble(fault)
                self._pause()
            except Exception:
                log.exception("making vectors failed in a way that was not foreseen")
                self._pause()

    def _await(self) -> bool:
        """Wait until there is something to do; False when it is time to end."""
        with self._wake:
            while not self._stopping:
                now = self._clock.monotonic()
                if self._retry_failed or (self._retry_at is None and self._compare):
                    break
                if self._retry_at is not None and now >= self._retry_at:
                    break
                if self._retry_at is None and self._opened and self._unfinished:
                    if not self.words_first():
                        break
                    self._wake.wait(WORDS_FIRST_S)
                    continue
                if self._opened or self._retry_at is not None:
                    self.settled.set()
                    self._done = 0
                self._wake.wait(None if self._retry_at is None else self._retry_at - now)
            self.settled.clear()
            return not self._stopping

    @property
    def _unfinished(self) -> bool:
        meaning = self.meaning
        return bool(meaning.pending or meaning.passages_pending or meaning.multilingual_pending) and not meaning.off

    def _pause(self) -> None:
        self._retry_at = self._clock.monotonic() + RETRY_S[min(self._retries, len(RETRY_S) - 1)]
        self._retries += 1
        self.progressed()
        with self._wake:
            self._compare = True  # what was left half done shows itself

    def _asked(self) -> tuple[bool, bool]:
        """Return whether to compare, and whether to try again what failed."""
        with self._wake:
            compare, self._compare = self._compare, False
            retry_failed, self._retry_failed = self._retry_failed, False
            return compare, retry_failed

    def _advance(self, compare: bool, retry_failed: bool) -> None:
        if not self._opened:
            self._unseen = False  # until a note is written that the texts read now lack
            self.meaning.open(self._index.text_hashes())
            self._opened = True
        else:
            if retry_failed:  # first, because what follows may find the embedder away
                self.meaning.retry_failed()
            self.meaning.check_identity(self._index.text_hashes)
            if compare or retry_failed:
                self.meaning.repair(self._index.text_hashes)
                self._unseen = False  # whoever wants a vector from now on has it counted at once
        if self.meaning.view.state == "waiting":
            self.meaning.check_identity(self._index.text_hashes)  # raises while the embedder is away
        if self.words_first():
            return
        self.meaning.calibrate()
        if self.meaning.pending and not self.meaning.off:
            if not self._done:
                self._since = self._clock.monotonic()
            made = self.meaning.step(self._texts_of)
            self._done += made
            self._made += made
            self.batches += 1
        elif self._unfinished:
            self._done = 0
            if self.meaning.passages_pending:
                self.meaning.step_passages(self._texts_of, self._index.text_hashes)
            else:
                self.meaning.step_multilingual(self._texts_of, self._index.text_hashes)

    def _texts_of(self, note_ids: list[NoteId]) -> dict[NoteId, NoteText]:
        """Return the texts as they are on disk, for notes that are still what the index says."""
        texts: dict[NoteId, NoteText] = {}
        entries = self._index.entries_of(note_ids)
        for note_id in note_ids:
            entry = entries.get(note_id)
            if entry is None:
                continue
            self._give_way()
            result = self._reader.read(entry.path)
            if isinstance(result, Content) and content_hash(result.data) == entry.content_hash:
                texts[note_id] = parse_note(entry.path, result.data).text
            else:
                self.changed([entry.path])
        return texts
