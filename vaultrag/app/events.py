"""The event bus: indexing threads report changes, and listeners hear of them. Idle, it costs nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection

from vaultrag.domain import NotePath

Listener = Callable[[str, Collection[NotePath]], None]
"""Gets the vault's id, and the notes that were read anew or are gone; none when only the status changed."""


class EventBus:
    """Passes word on. Callable from any thread; listeners are called in the thread that tells, and must be quick."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._lock = threading.Lock()

    def listen(self, listener: Listener) -> None:
        with self._lock:
            self._listeners = (*self._listeners, listener)

    def ignore(self, listener: Listener) -> None:
        """Listen no more; nothing happens if it did not listen."""
        with self._lock:
            self._listeners = tuple(known for known in self._listeners if known != listener)

    def tell(self, vault: str, paths: Collection[NotePath] = ()) -> None:
        for listener in self._listeners:
            listener(vault, paths)
