"""The thread that keeps a vault's index true: it looks at the disk where something may have changed.

It sleeps until there is a path to look at, or the five-minute comparison is due. Vectors are another thread's work
(``embedding``), so that what was typed just now is found by its words at once, however busy the model is.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from vaultrag.domain import DiskEntry, IndexedEntry, NotePath, Scan, Skipped
from vaultrag.errors import VaultragError
from vaultrag.indexing.applier import BATCH, Applied, Applier
from vaultrag.indexing.embed_worker import EmbedWorker
from vaultrag.indexing.large_notes import LargeNotes
from vaultrag.indexing.planner import Plan, plan, same_as_skipped, without_doubtful
from vaultrag.protocols import Clock, NoteIndex, VaultReader

log = logging.getLogger(__name__)

SECOND_LOOK_S = 1.0
"""The pause before a doubtful deletion is looked at again."""

EMPTY_LOOK_S = 15.0
"""The pause between two looks at a vault that has lost every note: a disk that is away, most likely."""

UNREAD_LOOK_S = 15.0
"""The pause before one more look when something could not be read: files that ran out, a lock, a half-done download."""

FAULT_LOOK_S = 60.0
"""The pause after a fault (a full disk, a damaged file) before everything is compared once more."""

WHOLE = NotePath("")


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of indexing. ``phase``: starting, reading, idle, away or broken."""

    phase: str = "starting"
    done: int = 0
    total: int = 0
    since: float = 0.0
    why: str = ""
    hint: str = ""


class IndexWorker:
    """Runs the indexing of one vault in a thread of its own."""

    def __init__(
        self,
        reader: VaultReader,
        index: NoteIndex,
        embedding: EmbedWorker,
        clock: Clock,
        *,
        reconcile_s: float,
        name: str = "vault",
        away: Callable[[], None] = lambda: None,
        yield_to_queries: Callable[[], None] = lambda: None,
        prepare: Callable[[], bool] = lambda: False,
        size_of: Callable[[DiskEntry], int] = lambda entry: entry.size,
    ) -> None:
        """Prepare the thread; ``start`` starts it.

        Args:
            away: Called when the vault's folder cannot be looked at.
            yield_to_queries: See ``Applier``.
            prepare: Warms caches a little; returns True while there is more to do. Called while there is nothing to
                index and no segment to merge.
            size_of: Bytes of a note's text: large ones are read beside the others.
        """
        self._away = away
        self._prepare = prepare
        self._reader = reader
        self._index = index
        self._embedding = embedding
        self._clock = clock
        self._reconcile_s = reconcile_s
        self._give_way = yield_to_queries
        self._applier = Applier(reader, index, yield_to_queries)
        self._large = LargeNotes(
            lambda note: self._applier.prepare(note.entry, note.known, note.origin), self._look_up, name, size_of
        )
        self._seen_whole = False
        self.large_done: Callable[[], None] = lambda: None
        """Called in this thread when a large note is written, or has gone."""
        self._wake = threading.Condition()
        self._scopes: set[NotePath] = {WHOLE}
        self._working: set[NotePath] = set()  # what was noticed, in the look at hand
        self._owed: set[NotePath] = set()  # what a fault left undone
        self._fault = Progress("broken")
        self._begun_ns = (0, 0)  # when the last looks without a fault began: at anything, and at the whole vault
        self._confirmed = False
        self._stopping = False
        self._look_again_at = math.inf
        self._doubted: frozenset[NotePath] = frozenset()
        self._thread = threading.Thread(target=self._run, name=f"index-{name}", daemon=True)
        self._progress = Progress()
        self.changed: Callable[[Collection[NotePath]], None] = lambda paths: None
        """Told, in this thread, of notes read anew or gone, and with none when the progress moved."""
        self.counters: dict[str, int] = dict.fromkeys(
            ("scans", "full_scans", "files_read", "notes_written", "notes_moved", "notes_deleted", "second_looks",
             "wakeups"), 0,
        )  # fmt: skip
        self.unread: Mapping[NotePath, str] = {}
        """Notes and folders that could not be read when they were last looked at, with the reason."""
        self.checked_ns = 0
        """When the last look was begun that left the index up to date; 0 before the first one."""
        self.checked_whole_ns = 0
        """The same of the whole vault."""
        self.searchable = threading.Event()
        """Set when the words of every note are in the index."""
        self.settled = threading.Event()
        """Set while no change is waiting."""

    @property
    def progress(self) -> Progress:
        return self._progress

    @progress.setter
    def progress(self, progress: Progress) -> None:
        self._progress = progress
        self.changed(())

    @property
    def fault(self) -> Progress | None:
        """Return what keeps the index from being up to date, until a look has made good what it left undone."""
        return self._fault if self._owed or self._progress.phase == "broken" else None

    @property
    def reading_many(self) -> bool:
        """Return whether more than one batch is still to be read in the look at hand."""
        return self._progress.phase == "reading" and self._progress.total - self._progress.done > BATCH

    @property
    def pending(self) -> int:
        """Changes that were noticed and are not in the index yet. A comparison that is due by the clock is none."""
        return len(self._scopes | self._working | self._owed) + len(self._large)

    @property
    def large_waiting(self) -> int:
        """Return the number of large notes whose words are not in the index yet."""
        return len(self._large)

    def start(self) -> None:
        self._thread.start()

    def notice(self, paths: Iterable[NotePath]) -> None:
        """Look at these files and folders soon. Callable from any thread."""
        with self._wake:
            self._scopes.update(paths)
            self.settled.clear()
            self._wake.notify()

    def _look_up(self) -> None:
        with self._wake:
            self._wake.notify()

    def reconcile(self, *, confirmed: bool = False) -> None:
        """Compare the whole vault with the index.

        Args:
            confirmed: A person asked: read every file, believe what is missing, and try again what was given up.
        """
        with self._wake:
            self._scopes.add(WHOLE)
            self._confirmed = self._confirmed or confirmed
            self.settled.clear()
            self._wake.notify()

    def close(self, timeout_s: float = 30.0) -> None:
        """Stop after the batch at hand, and wait for it."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    # -- the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        last_full = self._clock.monotonic()
        while True:
            scopes, confirmed = self._await(last_full)
            if self._stopping:
                return
            if WHOLE in scopes:
                last_full = self._clock.monotonic()
            try:
                if WHOLE in scopes:
                    self._index.verify()
                if scopes:
                    self._look(scopes, confirmed)
                else:
                    self._write_large()
                    self.large_done()
                self._large.start_next()
                if WHOLE in scopes and not self._stopping:
                    self._embedding.compare(retry_failed=confirmed)
                self._tidy()
            except VaultragError as fault:
                log.error("indexing stopped: %s", fault.message)
                self._broken(scopes, fault.message, fault.hint)
            except Exception:
                log.exception("indexing failed in a way that was not foreseen")
                self._broken(scopes, "an unforeseen fault; the log has it", "vaultrag status")

    def _await(self, last_full: float) -> tuple[set[NotePath], bool]:
        """Wait until there is something to do; returns the scopes to look at, and whether a person asked.

        No scopes: a large note is ready, and no small one waits.
        """
        noticed: set[NotePath] = set()
        with self._wake:
            while not self._stopping:
                now = self._clock.monotonic()
                due = min(last_full + self._reconcile_s, self._look_again_at)
                noticed = self._scopes.copy()
                if now >= due:
                    self._scopes.add(WHOLE)
                    self._look_again_at = math.inf
                if self._scopes or self._large.ready:
                    break
                if not self._large.in_hand:
                    self.settled.set()
                self._wake.wait(due - now)
                self.counters["wakeups"] += 1
            self.settled.clear()  # also for a look that is due by the clock
            self._working = noticed
            scopes, self._scopes = self._scopes, set()
            confirmed, self._confirmed = self._confirmed, False
            return scopes, confirmed

    def _broken(self, scopes: set[NotePath], why: str, hint: str) -> None:
        """Record a fault, until a later look has made good what it left undone; compare everything after a while."""
        self._owed |= scopes
        self._working = set()
        self.progress = self._fault = Progress("broken", why=why, hint=hint)
        with self._wake:
            self._look_again_at = self._clock.monotonic() + FAULT_LOOK_S

    # -- words ---------------------------------------------------------------------------------------------------

    def _look(self, scopes: set[NotePath], confirmed: bool) -> None:
        whole = WHOLE in scopes
        begun_ns, before = self._clock.time_ns(), self.progress
        asked = () if whole else tuple(sorted(scopes))
        scan = self._reader.scan(asked)
        self.counters["scans"] += 1
        self.counters["full_scans"] += whole
        indexed = self._index.entries(asked)
        passed_by = self._index.skipped()
        todo = plan(
            scan,
            indexed,
            known=len(indexed) if whole else self._index.count(),
            skipped=passed_by,
            read_all=whole and confirmed,
        )
        if todo.away:
            self.progress = Progress(
                "away",
                why="the vault's folder cannot be reached; what is known of it is kept",
                hint="mount or restore the folder; it is noticed by itself",
            )
            self._working = set()
            self._look_again(EMPTY_LOOK_S)  # it may be there, and only not to be opened
            self._away()
            return
        held_back = False
        if todo.doubtful and not confirmed and not self._believe(todo, whole):
            todo, held_back = without_doubtful(todo), True
        elif whole:
            self._doubted = frozenset()
        todo = self._large.split(todo, indexed)
        applied = self._apply(todo, indexed)
        self._index.set_skipped({**_still_skipped(scan, todo, passed_by), **scan.skipped, **applied.skipped}, asked)
        self._mind_unread({**scan.unreadable, **applied.unreadable}, scan)
        self._seen_whole = self._seen_whole or (whole and not self._stopping)
        doubt = todo.doubtful if held_back else ""
        self._conclude(scopes, before, begun_ns, doubt)

    def _conclude(self, scopes: set[NotePath], before: Progress, begun_ns: int, doubt: str) -> None:
        """Say where the work stands after a look without a fault.

        Args:
            scopes: What was looked at.
            before: Where it stood before the look.
            begun_ns: When the look began.
            doubt: Why deletions were held back; empty where none were.
        """
        whole = WHOLE in scopes
        self._working = set()
        self._owed = set() if whole else self._owed - scopes
        if self._seen_whole and not self._large:
            self.searchable.set()
        if doubt:
            self.progress = Progress(
                "away", why=f"{doubt}; the index is kept", hint="vaultrag reindex (if they are gone on purpose)"
            )
        elif before.phase == "away" and not whole:
            self.progress = before
            self._look_again(0.0)  # it may be back: only a look at the whole vault can tell
        elif self._owed:
            self.progress = self._fault
        else:
            self._begun_ns = (begun_ns, begun_ns if whole else self._begun_ns[1])
            self._rest()

    def _rest(self) -> None:
        """Say that the work is done, or that only large notes are left."""
        if self._large:
            self.progress = Progress("reading", 0, len(self._large), self._clock.monotonic())
            return
        if self._seen_whole:
            self.searchable.set()
        if self.progress.phase != "idle":
            self.progress = Progress("idle")
        if not self._stopping:
            self.checked_ns, self.checked_whole_ns = self._begun_ns

    def _write_large(self) -> None:
        """Write the large note that is ready, unless its file has changed meanwhile."""
        note, prepared = self._large.take()
        path = note.entry.path
        scan = self._reader.scan((path,))
        self.counters["scans"] += 1
        if scan.entries.get(path) == note.entry:
            applied = self._applier.write(prepared, self._index.entries((path,)), self._embedding.meaning.forget)
            self._count(applied)
            self._index.set_skipped({**scan.skipped, **applied.skipped}, (path,))
            self._mind_unread({**scan.unreadable, **applied.unreadable}, scan)
            self.changed({path})
            self.notice([note.origin.path] if note.origin else [])
        else:
            self.notice([path])
        if self.progress.phase == "reading":
            self._rest()

    def _tidy(self) -> None:
        """While there is nothing to look at, and nobody waits for an answer."""
        for step in (self._index.merge_segments, self._prepare):
            while not (self._stopping or self._scopes or self._large.ready) and step():
                self._give_way()

    def _believe(self, todo: Plan, whole: bool) -> bool:
        """Return True if a doubtful deletion was seen twice. An empty vault is believed only when a person says so."""
        moved = {entry.path for entry in todo.moved}
        missing = frozenset(entry.path for entry in todo.delete if entry.path not in moved)
        empty = not todo.read and len(missing) == self._index.count()
        if whole and self._doubted and missing <= self._doubted and not empty:
            return True
        self.counters["second_looks"] += 1
        self._doubted = missing
        log.warning("%s: looking again before anything is forgotten", todo.doubtful)
        self._look_again(EMPTY_LOOK_S if empty else SECOND_LOOK_S)
        return False

    def _mind_unread(self, found: Mapping[NotePath, str], scan: Scan) -> None:
        """Look once more, soon, for what could not be read and could before; not again and again for the same."""
        if found.keys() - self.unread.keys():
            self._look_again(UNREAD_LOOK_S)
        others = {path: why for path, why in self.unread.items() if scan.scopes and not _in_scopes(scan.scopes, path)}
        self.unread = {**others, **found}

    def _look_again(self, after_s: float) -> None:
        self._look_again_at = min(self._look_again_at, self._clock.monotonic() + after_s)

    def _apply(self, todo: Plan, indexed: Mapping[NotePath, IndexedEntry]) -> Applied:
        if todo.read:
            self.progress = Progress("reading", 0, len(todo.read), self._clock.monotonic())
        applied = self._applier.apply(
            todo,
            indexed,
            before_delete=self._embedding.meaning.forget,
            progress=self._count_read,
            stop=lambda: self._stopping,
        )
        self._count(applied)
        if todo:
            self.changed({*(change.path for change in todo.read), *(change.path for change in todo.delete)})
        return applied

    def _count(self, applied: Applied) -> None:
        for counter, count in (
            ("files_read", applied.read),
            ("notes_written", applied.written),
            ("notes_moved", applied.moved),
            ("notes_deleted", len(applied.deleted)),
        ):
            self.counters[counter] += count
        if applied.wanted:
            self._embedding.want(applied.wanted)

    def _count_read(self, done: int) -> None:
        now = self.progress
        self.progress = Progress(now.phase, done, now.total, now.since)


def _in_scopes(scopes: Sequence[NotePath], path: NotePath) -> bool:
    return any(path == scope or path.startswith(f"{scope}/") for scope in scopes)


def _still_skipped(scan: Scan, todo: Plan, known: Mapping[NotePath, Skipped]) -> dict[NotePath, Skipped]:
    """Files that were read at an earlier look, were no notes, and were left alone at this one."""
    read = {entry.path for entry in todo.read}
    return {
        path: known[path]
        for path, entry in scan.entries.items()
        if path in known and path not in read and same_as_skipped(entry, known[path])
    }
