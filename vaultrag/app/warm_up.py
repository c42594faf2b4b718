"""Loading the model before the first search needs it: a client that is about to search says so when it connects."""

from __future__ import annotations

import contextlib
import logging
import math
import threading
from concurrent.futures import Executor

from vaultrag.errors import EmbedError
from vaultrag.protocols import Clock, Embedder, WarmEmbedder

log = logging.getLogger(__name__)

AGAIN_S = 60.0
"""A model that was loaded so lately is there still."""


class WarmUp:
    """Loads a model in a thread of ``threads``, one load at a time. Thread-safe."""

    def __init__(self, threads: Executor, clock: Clock) -> None:
        self._threads = threads
        self._clock = clock
        self._loading = threading.Lock()
        self._loaded_at = -math.inf

    def warm(self, embedder: Embedder | None) -> None:
        """Begin to load the model, unless that is being done or was done just now. Returns at once."""
        if not isinstance(embedder, WarmEmbedder) or self._clock.monotonic() - self._loaded_at < AGAIN_S:
            return
        if not self._loading.acquire(blocking=False):
            return
        try:
            self._threads.submit(self._load, embedder)
        except RuntimeError:  # the vault is being closed
            self._loading.release()

    def _load(self, embedder: WarmEmbedder) -> None:
        try:
            with contextlib.suppress(EmbedError):  # the search itself says so
                embedder.warm()
                self._loaded_at = self._clock.monotonic()
                log.info("the model is loaded for a client that is about to search")
        finally:
            self._loading.release()
