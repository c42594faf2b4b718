"""``subscribe``: a connection asks to be told, and is, until it asks otherwise or ends.

Told is that something changed and what it is now, never each step on the way: what happens within a moment goes out in
one notification, a status that is as it was is not sent again, and a client that does not read is told later.
While nobody subscribes, nothing is computed and nothing listens.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from vaultrag.app import Service
from vaultrag.domain import DaemonStatus, NotePath
from vaultrag.rpc import protocol

log = logging.getLogger(__name__)


PAUSE_S = 0.2
"""What happens within this time is told in one go."""

LISTED = 200
"""Paths named in one notification; ``more`` says that there were others."""

BUFFERED = 256_000
"""Bytes: a client that has so much unread is told later."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The subscription of a connection. ``vault``: the id of the vault whose notes it means; empty for all."""

    status: bool
    notes: bool
    vault: str = ""
    seen: DaemonStatus | None = None


@dataclass(slots=True)
class _Feed:
    """One subscribed connection."""

    send: Callable[[bytes], None]
    buffered: Callable[[], int]
    wish: Wish
    seen: DaemonStatus | None
    notes: dict[str, set[NotePath]] = field(default_factory=dict)
    more: set[str] = field(default_factory=set)


class Feeds:
    """Every subscription of a server. ``want`` and ``drop`` are the event loop's."""

    def __init__(self, service: Service, quick: Executor) -> None:
        self._service = service
        self._quick = quick
        self._feeds: dict[object, _Feed] = {}
        self._lock = threading.Lock()
        self._heard: list[tuple[str, Collection[NotePath]]] = []
        self._stirred = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def want(self, key: object, send: Callable[[bytes], None], buffered: Callable[[], int], wish: Wish) -> None:
        """From now on tell this connection so; an earlier wish of it is forgotten."""
        self.drop(key)
        if not (wish.status or wish.notes):
            return
        seen = still(wish.seen) if wish.seen is not None else None
        self._feeds[key] = _Feed(send, buffered, wish, seen)
        if self._task is None:
            self._loop = asyncio.get_running_loop()
            self._service.news.listen(self._hear)
            self._task = asyncio.create_task(self._run())
        self._stirred.set()  # something may have happened since the status that it has seen

    def drop(self, key: object) -> None:
        """Tell this connection nothing more."""
        if self._feeds.pop(key, None) is not None and not self._feeds:
            self.close()

    def close(self) -> None:
        self._service.news.ignore(self._hear)
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _hear(self, vault: str, paths: Collection[NotePath]) -> None:
        """Take an event. Runs in the thread that publishes it."""
        loop = self._loop
        with self._lock:
            self._heard.append((vault, paths))
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._stirred.set)

    async def _run(self) -> None:
        while True:
            await self._stirred.wait()
            await asyncio.sleep(PAUSE_S)
            self._stirred.clear()
            with self._lock:
                heard, self._heard = self._heard, []
            self._sort(heard)
            try:
                await self._tell()
            except Exception:
                log.exception("telling those who subscribed failed in a way that was not foreseen")

    def _sort(self, heard: Collection[tuple[str, Collection[NotePath]]]) -> None:
        for feed in self._feeds.values():
            for vault, paths in heard:
                if not paths or not feed.wish.notes or feed.wish.vault not in ("", vault):
                    continue
                named = feed.notes.setdefault(vault, set())
                named.update(paths)
                if len(named) > LISTED:
                    feed.notes[vault] = set(sorted(named)[:LISTED])
                    feed.more.add(vault)

    async def _tell(self) -> None:
        status: DaemonStatus | None = None
        if any(feed.wish.status for feed in self._feeds.values()):
            loop = asyncio.get_running_loop()
            status = await loop.run_in_executor(self._quick, self._service.status)
        for feed in list(self._feeds.values()):
            if feed.buffered() > BUFFERED:
                asyncio.get_running_loop().call_later(1.0, self._stirred.set)
                continue
            for vault, paths in feed.notes.items():
                change = {"vault": vault, "paths": sorted(paths), "more": vault in feed.more}
                feed.send(protocol.encode_request(protocol.NOTES_CHANGED, change))
            feed.notes, feed.more = {}, set()
            if feed.wish.status and status is not None and feed.seen != (now := still(status)):
                feed.seen = now
                feed.send(protocol.encode_request(protocol.STATUS_CHANGED, {"status": status}))


def still(status: DaemonStatus) -> DaemonStatus:
    """Return the status without what changes by itself."""
    vaults = tuple(replace(vault, counters={}, events=(), eta_s=None, checked_ns=0) for vault in status.vaults)
    return replace(status, uptime_s=0.0, vaults=vaults)
