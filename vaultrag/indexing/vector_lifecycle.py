"""A vault's vectors: those in use, those being built under another identity, and what still has none.

The embedder is chosen by what the index records, and asked for its identity. Where the two agree, the vectors in use
are kept up to date. Where they differ, the words arm goes on alone, a new file is built beside the old one, and swapped
in when every note has its vector. Where the embedder is away, notes wait and are embedded when it is back.

Some embedders give a note's passages together with its vector. Where one does not, they follow in a second pass, when
nothing else is pending: see ``passages``. The vectors are complete, and searched, before it and while it goes on.

All methods may be called from any thread. The embedder is asked outside the lock, so that a note that takes long to
embed, or a server that hangs, holds up no fresh edit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from vaultrag.domain import EmbeddedNote, EmbedProblem, Identity, NoteId, NoteText
from vaultrag.errors import BadVectors, Cancelled, EmbedderUnavailable, EmbedError, VaultragError
from vaultrag.indexing.embed_queue import EmbedQueue, TextsOf, given_up
from vaultrag.indexing.multilingual import MultilingualPass
from vaultrag.indexing.passage_backfill import PassageBackfill
from vaultrag.indexing.vector_state import VectorState
from vaultrag.protocols import Embedder, PassageEmbedder
from vaultrag.vector_protocols import VectorShelf, VectorStore


class VectorLifecycle:
    """Keeps one vault's vectors.

    Args:
        passages: Whether to keep the passages' own vectors. A note's vector is the same with and without, and so is the
            identity: to switch it off drops them, to switch it on again has the second pass make them.
    """

    def __init__(
        self, shelf: VectorShelf, choose: Callable[[Identity | None], Embedder | None], *, passages: bool = True
    ) -> None:
        self._shelf = shelf
        self._choose = choose
        self._passages = passages
        self._second = PassageBackfill()
        self._multilingual = MultilingualPass()
        self._in_use: VectorStore | None = None
        self._building: VectorStore | None = None
        self._embedder: Embedder | None = None
        self._lock = threading.RLock()
        self._closed = False
        self._troubled = False
        self._awaiting = EmbedQueue()
        self.view = VectorState()
        self.texts_embedded = 0
        self.vectors_reused = 0

    @property
    def pending(self) -> int:
        """Notes without a vector under the identity wanted."""
        return len(self._awaiting)

    @property
    def broken_off(self) -> int:
        """Batches that were begun and not finished."""
        return self._awaiting.broken_off

    @property
    def awaited(self) -> frozenset[NoteId]:
        """The notes that ``pending`` counts."""
        return self._awaiting.notes

    def lacking(self, multilingual: bool = False) -> frozenset[NoteId]:
        """Return the notes without a vector of the model wanted, or also of the second, multilingual one."""
        return self.awaited | self._multilingual.awaited.keys() if multilingual else self.awaited

    @property
    def multilingual_pending(self) -> int:
        """Notes that have their vector, and that the second model has still to read."""
        return len(self._multilingual.awaited)

    @property
    def passages_pending(self) -> int:
        """Notes that have their vector, and whose passages are still to be made."""
        return len(self._second.awaited)

    @property
    def failed(self) -> Mapping[NoteId, str]:
        """Notes that cannot be embedded, with the reason."""
        return self._awaiting.failed

    @property
    def off(self) -> bool:
        return self.view.state == "off"

    def open(self, hashes: Mapping[NoteId, str]) -> None:
        """Find out what there is, and what of it serves the notes at hand (``hashes``: their embedded texts)."""
        recorded = self._shelf.recorded()
        if self._embedder is None:
            self._embedder = self._choose(recorded)
        if self._embedder is None:
            self.view = VectorState("off", why="meaning search is switched off", hint="vaultrag config")
            return
        try:
            wanted = self._embedder.identity()
        except EmbedError as error:
            with self._lock:
                if not self._closed:
                    self._wait_for(error, recorded, hashes)
            return
        with self._lock:
            if not self._closed:
                self._settle(wanted, hashes)

    def want(self, hashes: Mapping[NoteId, str]) -> None:
        """Take new texts of notes: serve them from vectors already known, and queue the rest."""
        with self._lock:
            store = self._target
            if store is None:
                self._awaiting.add(hashes)
                return
            pending, failed = self._serve(store, hashes)
            for waiting in (pending, failed):
                self._second.drop(waiting)
                self._multilingual.drop(waiting)
            self._awaiting.renew(hashes, pending, failed)

    def forget(self, note_ids: Iterable[NoteId]) -> None:
        """Drop notes that are gone."""
        with self._lock:
            ids = list(note_ids)
            self._awaiting.forget(ids)
            self._second.drop(ids)
            self._multilingual.drop(ids)
            for store in (self._in_use, self._building):
                if store is not None:
                    store.delete(ids)

    def calibrate(self) -> None:
        """Have the embedder tell what its cosines mean, where the vectors do not know yet.

        Raises:
            EmbedError: It cannot.
        """
        with self._lock:
            store, embedder = self._target, self._embedder
            if store is None or embedder is None or store.scale is not None:
                return
        scale = embedder.scale()
        with self._lock:
            if store is self._target:
                store.keep_scale(scale)

    def step(self, texts_of: TextsOf) -> int:
        """Embed one batch of what is pending; returns how many notes are no longer so.

        Args:
            texts_of: See ``TextsOf``.

        Raises:
            EmbedError: The embedder is away; everything is still pending.
        """
        with self._lock:
            store, embedder = self._target, self._embedder
            if store is None or embedder is None or not self._awaiting:
                return 0
            before = len(self._awaiting)
            wanted = self._awaiting.batch(texts_of)
        try:
            results = self._awaiting.embedded(embedder, wanted) if wanted else []
        except Cancelled:
            return before - len(self._awaiting)
        except EmbedderUnavailable as error:
            self._suspect(store, wanted, error)
            raise
        if len(results) != len(wanted):
            raise BadVectors(f"the embedder gave {len(results)} results for {len(wanted)} notes")
        foreign = self._multilingual.foreign(embedder, [text for text, _ in wanted.values()])
        with self._lock:
            if store is not self._target:
                return 0  # closed or changed over meanwhile
            self._take_in(store, wanted, results)
            self._multilingual.keep(store, foreign)
            if not self._awaiting:
                self._finish()
            return before - len(self._awaiting)

    def step_passages(
        self,
        texts_of: TextsOf,
        hashes: Callable[[], Mapping[NoteId, str]],
    ) -> None:
        """Make a few passages, if nothing is pending.

        Args:
            texts_of: See ``TextsOf``.
            hashes: All notes' texts, the most recently changed note first.

        Raises:
            EmbedError: The embedder is away; what is left to do stays so.
        """
        with self._lock:
            store, embedder = self._target, self._embedder
            if store is None or embedder is None or self._awaiting:
                return
            chosen = self._second.choose(store.identity, hashes)
        lost = self._second.make(store, embedder, chosen, texts_of)
        with self._lock:
            if store is self._target:
                self._second.drop(lost)
                self._second.keep(store)

    def step_multilingual(self, texts_of: TextsOf, hashes: Callable[[], Mapping[NoteId, str]]) -> None:
        """Have the second model read a few notes, if nothing is pending.

        Args:
            texts_of: See ``TextsOf``.
            hashes: All notes' texts, the most recently changed note first.

        Raises:
            EmbedError: It fails; what is left to do stays so.
        """
        with self._lock:
            store, embedder = self._target, self._embedder
            if store is None or embedder is None or self._awaiting:
                return
            chosen = self._multilingual.choose(hashes)
        texts = {note_id: text for note_id, text in texts_of(list(chosen)).items() if text.hash == chosen[note_id]}
        made = self._multilingual.make(embedder, list(texts.values()), lambda: not self._awaiting)
        with self._lock:
            if store is self._target:
                self._multilingual.drop(chosen.keys() - texts.keys())  # they have changed, and come again
                self._multilingual.keep(store, made)

    def check_identity(self, hashes: Callable[[], Mapping[NoteId, str]]) -> None:
        """Notice a model that was replaced under its name, and an embedder that is back.

        Raises:
            EmbedError: It cannot be asked.
        """
        if self._embedder is None or self.off:
            return
        wanted = self._embedder.identity()
        with self._lock:
            store = self._target
            if not self._closed and (store is None or store.identity != wanted or self._troubled):
                self._settle(wanted, hashes())

    def trouble(self, error: VaultragError) -> None:
        """Report that the embedder cannot be reached, or the vectors cannot be opened, until that is mended."""
        with self._lock:
            if self._closed:
                return
            self._troubled = True
            state = "mismatch" if self._building is not None else "waiting"
            self.view = VectorState(state, self._in_use, self._embedder, error.message, error.hint)

    def repair(self, hashes: Callable[[], Mapping[NoteId, str]]) -> None:
        """Compare the vectors with the notes: serve or note as pending what has none, drop what has no note.

        Args:
            hashes: Asked under the lock, so that no note that comes meanwhile is overlooked.
        """
        with self._lock:
            store = self._target
            if store is not None:
                self._compare(store, hashes())

    def retry_failed(self) -> None:
        """Try texts again that were given up."""
        with self._lock:
            store = self._target
            if store is not None:
                store.forget_failures()
            self._awaiting.retry()

    def close(self) -> None:
        """Close the files. The embedder belongs to whoever chose it."""
        with self._lock:
            self._closed = True
            self.view = VectorState("off", why="the daemon is stopping")
            for store in (self._in_use, self._building):
                if store is not None:
                    store.close()
            self._in_use = self._building = None

    # -- details -------------------------------------------------------------------------------------------------

    @property
    def _target(self) -> VectorStore | None:
        """The store that new vectors go into."""
        return self._building if self._building is not None else self._in_use

    def _wait_for(self, error: EmbedError, recorded: Identity | None, hashes: Mapping[NoteId, str]) -> None:
        if recorded is not None and self._in_use is None:
            self._in_use, _ = self._shelf.open_vectors(recorded)
            self._load(self._in_use)
        if self._in_use is not None:
            self._compare(self._in_use, hashes)
        else:
            self._awaiting.begin(hashes, self._awaiting.failed)
        self.trouble(error)

    def _settle(self, wanted: Identity, hashes: Mapping[NoteId, str]) -> None:
        """Open what belongs to the identity wanted, and find what it lacks."""
        if self._building is not None and self._building.identity != wanted:
            self._building.close()
            self._building = None
        if self._in_use is not None and self._in_use.identity == wanted:
            if self._building is not None:
                self._building.close()
                self._building = None
        elif self._building is None:
            store, in_use = self._shelf.open_vectors(wanted)
            if in_use:
                self._in_use = store
            else:
                self._building = store
        target = self._target
        assert target is not None
        if not target.loaded:
            self._load(target)
        self._compare(target, hashes)
        self._show()
        if not self._awaiting:
            self._finish()

    def _load(self, store: VectorStore) -> None:
        if not self._passages:
            store.drop_passages()
        self._multilingual.begin(store, self._embedder)
        store.load()

    def _show(self) -> None:
        self._troubled = False
        if self._building is None:
            self.view = VectorState("ready", self._in_use, self._embedder)
            return
        self.view = VectorState(
            "mismatch",
            self._in_use,
            self._embedder,
            why=f"the vectors are being made again for {self._building.identity.model}",
        )

    def _compare(self, store: VectorStore, hashes: Mapping[NoteId, str]) -> None:
        store.verify()
        known = store.hashes()
        if extra := [note_id for note_id in known if note_id not in hashes]:
            store.delete(extra)
        missing = {note_id: text_hash for note_id, text_hash in hashes.items() if known.get(note_id) != text_hash}
        pending, failed = self._serve(store, missing) if missing else ({}, {})
        if self._passages:
            self._second.look(store, but=missing)
        self._multilingual.look(store, self._embedder)
        self._awaiting.begin(pending, failed)
        store.forget_failures(keep=hashes.values())

    def _serve(self, store: VectorStore, hashes: Mapping[NoteId, str]) -> tuple[dict[NoteId, str], dict[NoteId, str]]:
        """Give notes what vectors there are; returns those still pending, and those given up with the reason."""
        served = store.reuse(hashes)
        self.vectors_reused += len(served)
        if served and self._passages:
            self._second.look(store)  # a vector may have been known without its passages
        if served:
            self._multilingual.look(store, self._embedder)
        failures = store.failures()
        pending, failed = dict[NoteId, str](), dict[NoteId, str]()
        for note_id, text_hash in hashes.items():
            if note_id in served:
                continue
            failure = failures.get(text_hash)
            if failure is not None and given_up(*failure):
                failed[note_id] = failure[0]
            else:
                pending[note_id] = text_hash
        return pending, failed

    def _suspect(
        self, store: VectorStore, wanted: Mapping[NoteId, tuple[NoteText, str]], error: EmbedderUnavailable
    ) -> None:
        """Send these notes one by one from now on: the server went away over them.

        One that is the cause must not hold up the others for ever: a note that makes the server go away again is
        charged with a try.
        """
        with self._lock:
            if store is not self._target:
                return
            if len(wanted) > 1:
                self._awaiting.suspect(wanted.keys())
            for note_id, (_, text_hash) in wanted.items() if len(wanted) == 1 else ():
                self._awaiting.trust([note_id])
                if (note_id, text_hash) in self._awaiting:
                    self._record(store, note_id, text_hash, EmbedProblem(error.message, permanent=False))

    def _take_in(
        self,
        store: VectorStore,
        wanted: Mapping[NoteId, tuple[NoteText, str]],
        results: Sequence[EmbeddedNote | EmbedProblem],
    ) -> None:
        self._awaiting.trust(wanted)
        good: list[tuple[NoteId, str, EmbeddedNote]] = []
        for (note_id, (_, text_hash)), result in zip(wanted.items(), results, strict=True):
            if (note_id, text_hash) not in self._awaiting:
                continue  # deleted or edited while the model was at it
            if isinstance(result, EmbeddedNote):
                good.append((note_id, text_hash, result))
            else:
                self._record(store, note_id, text_hash, result)
        self._put(store, good)

    def _put(self, store: VectorStore, good: list[tuple[NoteId, str, EmbeddedNote]]) -> None:
        """Store a batch; where a vector in it is refused, each by itself. What cannot be stored stays pending."""
        if not good:
            return
        try:
            store.put(good if self._passages else [(*row[:2], _without_passages(row[2])) for row in good])
        except BadVectors as error:
            if len(good) == 1:
                self._record(store, good[0][0], good[0][1], EmbedProblem(error.message, permanent=False))
                return
            for row in good:
                self._put(store, [row])
            return
        for note_id, text_hash, note in good:
            if self._passages and not note.passage_lines:
                if isinstance(self._embedder, PassageEmbedder):
                    self._second.add(note_id, text_hash)
                else:
                    store.put_passages(text_hash, (), ())  # it has none
            self._awaiting.done(note_id)
            self._multilingual.add(note_id, text_hash, self._embedder)
        self.texts_embedded += len(good)

    def _record(self, store: VectorStore, note_id: NoteId, text_hash: str, problem: EmbedProblem) -> None:
        store.record_failure(text_hash, problem.reason, permanent=problem.permanent)
        if given_up(*store.failures()[text_hash]):
            self._awaiting.give_up(note_id, problem.reason)
        else:
            self._awaiting.put_back(note_id)

    def _finish(self) -> None:
        """Nothing is pending: vectors built beside take their place."""
        if self._building is None:
            return
        finished, old = self._building, self._in_use
        # Until all of this has worked, neither is there: after a fault, the next step opens what it finds.
        self._building = self._in_use = None
        self._troubled = True
        if old is not None:
            old.close()
        swapped = self._shelf.swap_in(finished)
        self._load(swapped)
        self._in_use = swapped
        self._show()


def _without_passages(note: EmbeddedNote) -> EmbeddedNote:
    return replace(note, passage_lines=(), passage_vectors=None)
