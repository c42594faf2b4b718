"""Watches a vault and names what to look at again, on one thread that sleeps until something is due.

Three ways to be: native events; polling (the whole vault is named every ``poll_s``); or away, while the vault's folder
cannot be found. The folder is looked for with one ``stat``: before paths are handed out, every ``reconcile_s`` at
rest, and every few seconds while it is away. When it is back, or was replaced by another of the same name, the watch is
set up anew by itself; ``rearm`` asks for that look at once (for an owner whose scan just failed).
"""

from __future__ import annotations

import errno
import logging
import math
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from vaultrag.config import WatchSettings
from vaultrag.domain import NotePath
from vaultrag.protocols import Clock
from vaultrag.watcher import limits
from vaultrag.watcher.debounce import Debouncer
from vaultrag.watcher.disk import resolved_root
from vaultrag.watcher.filters import is_filter_file, worth_a_look
from vaultrag.watcher.native_events import NativeEvents
from vaultrag.watcher.paths import ROOT, nearest_text

AWAY_S = 3.0
"""How often a vanished folder is looked for."""
GROWN_S = 10.0
"""How soon after new folders the watches left are counted."""
_MIN_POLL_S = 0.05
_MIN_CHECK_S = 1.0

FILTERS_CHANGED = "filters changed"
ROOT_GONE = "root gone"
ROOT_BACK = "root back"
WATCH_RENEWED = "watch renewed"

log = logging.getLogger("vaultrag.watcher")


class VaultWatcher:
    """Names changed paths; everything it says is a hint.

    ``on_paths`` gets files and folders (a folder: all under it) that may have changed; ``on_overflow`` gets the reason
    why the whole vault should be compared. Both are called from the watcher's own thread, one at a time; while one of
    them runs, hints gather, bounded. What they raise is logged.
    """

    def __init__(
        self,
        root: Path,
        settings: WatchSettings,
        on_paths: Callable[[list[NotePath]], None],
        on_overflow: Callable[[str], None],
        clock: Clock,
        *,
        obstacle: Callable[[str], str | None] = limits.obstacle,
        exhausted: Callable[[], str | None] = limits.exhausted,
        open_native: Callable[..., NativeEvents] = NativeEvents.open,
    ) -> None:
        self._root = resolved_root(root)
        self._settings = settings
        self._on_paths = on_paths
        self._on_overflow = on_overflow
        self._clock = clock
        self._obstacle = obstacle
        self._exhausted = exhausted
        self._open_native = open_native
        self._wake = threading.Condition()
        # Everything below to the blank line is shared with watchdog's threads and guarded by the condition.
        self._pending = Debouncer(settings.debounce_ms, settings.storm_ms)
        self._paths_at = math.inf
        self._alarm = ""
        self._alarm_at = math.inf
        self._check_at = math.inf
        self._stopping = False

        self._poll_at = math.inf
        self._native: NativeEvents | None = None
        self._identity: tuple[int, int] | None = None
        self._why_polling = ""
        self._grown = False
        self._thread: threading.Thread | None = None

    # -- the owner's side --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Set up the watch, then the thread. What changes after this returns is noticed; compare everything then."""
        if self._thread is not None:
            return
        self._arm()
        self._thread = threading.Thread(target=self._run, name="vaultrag-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end; pending hints are dropped (a start compares everything anyway). Returns at once."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until the thread has ended and the system's watches are given back."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def rearm(self) -> None:
        """Look now whether the vault's folder is there and still the one that is watched."""
        with self._wake:
            self._check_at = self._clock.monotonic()
            self._wake.notify_all()

    @property
    def waiting(self) -> int:
        """Changes that were heard of, and are held back until the note is quiet."""
        return len(self._pending) + bool(self._alarm)

    def describe(self) -> str:
        """Return how changes are noticed, for ``status``."""
        if self._thread is None:
            return "not watching"
        if self._identity is None:
            return f"the vault's folder is away; looked for every {AWAY_S:g} s"
        if self._native is not None:
            return "native events"
        return f"polling every {self._settings.poll_s:g} s: {self._why_polling}"

    # -- watchdog's side ---------------------------------------------------------------------------------------------

    def _heard(self, path: str, is_dir: bool) -> None:
        if is_filter_file(path):
            self._raise_alarm(FILTERS_CHANGED)
        elif not path:
            self.rearm()  # the vault's own folder was made, moved or removed
        elif worth_a_look(path, is_dir):
            self._hint(nearest_text(path))
        if is_dir:
            self._count_soon()

    def _hint(self, path: NotePath) -> None:
        with self._wake:
            now = self._clock.monotonic()
            self._pending.add(path, now)
            # A hint never falls due before those already waited for, so only the first one has to wake the thread.
            if self._paths_at == math.inf:
                self._paths_at = now + min(self._settings.debounce_ms, self._settings.storm_ms) / 1000
                self._wake.notify_all()

    def _raise_alarm(self, reason: str) -> None:
        with self._wake:
            if self._alarm_at == math.inf:
                self._alarm = reason
                self._alarm_at = self._clock.monotonic() + self._settings.debounce_ms / 1000
                self._wake.notify_all()

    def _count_soon(self) -> None:
        with self._wake:
            if not self._grown:
                self._grown = True
                self._check_at = min(self._check_at, self._clock.monotonic() + GROWN_S)
                self._wake.notify_all()

    # -- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while self._sleep():
                self._turn()
        finally:
            self._disarm()

    def _sleep(self) -> bool:
        """Wait until something is due; False when it is time to end."""
        with self._wake:
            while not self._stopping:
                due = min(self._paths_at, self._alarm_at, self._check_at, self._poll_at)
                pause = due - self._clock.monotonic()
                if pause <= 0:
                    return True
                self._wake.wait(pause)
            return False

    def _turn(self) -> None:
        with self._wake:
            now = self._clock.monotonic()
            paths, next_due = self._pending.due(now)
            self._paths_at = math.inf if next_due is None else next_due
            polled = now >= self._poll_at
            alarm = self._alarm if now >= self._alarm_at else ""
            if alarm:
                self._alarm, self._alarm_at = "", math.inf
            checked, grown = now >= self._check_at, self._grown
            if checked:
                self._grown, self._check_at = False, now + self._check_s
        news = self._look_at_root() or (self._look_at_watches(grown) if checked else "")
        if news or alarm:
            self._tell(self._on_overflow, news or alarm)
        if self._identity is None:
            return  # what changed under a folder that is away cannot be looked at
        if polled:
            self._poll_at = self._clock.monotonic() + self._poll_s
        if polled and not news:
            self._tell(self._on_paths, [ROOT])
        elif paths and not news:
            self._tell(self._on_paths, paths)

    def _look_at_root(self) -> str:
        """One stat; sets up or takes down the watch when the folder came, went or changed. Returns what is new."""
        before, found = self._identity, _identity(self._root)
        news = ""
        if found is None:
            news = ROOT_GONE if before is not None else ""
            self._disarm()
        elif before is None:
            self._arm()
            news = ROOT_BACK
        elif found != before or (self._native is not None and not self._native.alive):
            self._disarm()
            self._arm()
            news = WATCH_RENEWED
        return news

    def _look_at_watches(self, grown: bool) -> str:
        """To polling when new folders found no watch left; back to events when there are enough again."""
        if self._identity is None or self._settings.method == "poll":
            return ""
        if self._native is None:
            self._arm()
            return WATCH_RENEWED if self._poll_at == math.inf else ""
        if grown and self._settings.method == "auto" and (full := self._exhausted()):
            self._disarm()
            self._arm(full)
            return WATCH_RENEWED
        return ""

    def _arm(self, full: str = "") -> None:
        self._identity = _identity(self._root)
        self._poll_at = math.inf
        if self._identity is not None:
            self._why_polling = full or self._start_native()
            if self._native is None:
                self._poll_at = self._clock.monotonic() + self._poll_s
                log.info("watching by polling: %s", self._why_polling)
        self._set_check()

    def _set_check(self) -> None:
        with self._wake:
            self._check_at = self._clock.monotonic() + (AWAY_S if self._identity is None else self._check_s)

    def _start_native(self) -> str:
        """Start native events; return why they cannot start, or an empty text."""
        method = self._settings.method
        if method == "poll":
            return "as the settings ask (watch.method)"
        if method == "auto" and (why := self._obstacle(self._root)):
            return why
        try:
            self._native = self._open_native(self._root, self._heard, self._raise_alarm)
        except OSError as error:
            why = f"the system gives no file events ({(error.strerror or str(error)).lower()})"
            knob = _KNOBS.get(error.errno or 0)
            return f"{why}; raise {knob}" if knob else why
        return ""

    def _disarm(self) -> None:
        self._identity = None
        self._poll_at = math.inf
        if self._native is not None:
            self._native.close()
            self._native = None
        self._set_check()

    def _tell(self, call: Callable[..., None], what: object) -> None:
        try:
            call(what)
        except Exception:
            log.exception("a change in the vault could not be passed on")

    @property
    def _poll_s(self) -> float:
        return max(self._settings.poll_s, _MIN_POLL_S)

    @property
    def _check_s(self) -> float:
        return max(self._settings.reconcile_s, _MIN_CHECK_S)


_KNOBS = {errno.EMFILE: "fs.inotify.max_user_instances", errno.ENOSPC: "fs.inotify.max_user_watches"}
"""What lets the system give more: of instances, one a vault that is watched, and of watches, one a folder."""


def _identity(root: str) -> tuple[int, int] | None:
    try:
        found = os.stat(root)  # noqa: PTH116 - a str all the way
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None
