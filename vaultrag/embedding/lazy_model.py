"""A model that is loaded at its first use, and leaves memory after a while without any."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from vaultrag.embedding.memory import give_back_memory
from vaultrag.errors import EmbedderUnavailable

Model = TypeVar("Model")


class LazyModel(Generic[Model]):
    """Holds one model. Callable from any thread; the model is loaded once, however many ask for it.

    Args:
        load: Brings the model into memory.
        idle_unload_s: It leaves memory after so long without use.
        clock: Monotonic seconds.
    """

    def __init__(
        self, load: Callable[[], Model], idle_unload_s: float = 300.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._load = load
        self._idle_unload_s = idle_unload_s
        self._clock = clock
        self._lock = threading.Lock()
        self._model: Model | None = None
        self._users = 0
        self._last_used = 0.0
        self._closed = threading.Event()
        self._keeper: threading.Thread | None = None

    @property
    def loaded(self) -> bool:
        """Return whether the model is in memory."""
        return self._model is not None

    @property
    def closed(self) -> bool:
        """Return whether it has been closed for good."""
        return self._closed.is_set()

    @contextmanager
    def use(self) -> Iterator[Model]:
        """Give the model, loaded where it is not; it stays in memory until the end of the block.

        Raises:
            EmbedderUnavailable: It has been closed.
            ModelBroken: It cannot be loaded.
        """
        with self._lock:
            if self._closed.is_set():
                raise EmbedderUnavailable("the builtin model is closed")
            if self._model is None:
                self._model = self._load()
                self._last_used = self._clock()
                # Lives only as long as the model is loaded: an idle daemon has no thread for this.
                self._keeper = threading.Thread(target=self._keep, name="vaultrag-model-idle", daemon=True)
                self._keeper.start()
            model = self._model
            self._users += 1
        try:
            yield model
        finally:
            with self._lock:
                self._users -= 1
                self._last_used = self._clock()

    def unload_if_idle(self, now: float) -> bool:
        """Drop the model when nobody has used it for ``idle_unload_s``. Returns whether it did."""
        with self._lock:
            if self._model is None or self._users or now - self._last_used < self._idle_unload_s:
                return False
            self._model = self._keeper = None
        give_back_memory()
        return True

    def close(self) -> None:
        """Drop the model and end the thread that watches for idleness. A call under way still gets its answer."""
        self._closed.set()
        with self._lock:
            keeper, self._keeper = self._keeper, None
            loaded, self._model = self._model is not None, None
        if keeper is not None and keeper is not threading.current_thread():
            keeper.join()
        if loaded:
            give_back_memory()

    def _keep(self) -> None:
        pause = self._idle_unload_s
        while not self._closed.wait(max(pause, 0.01)):
            now = self._clock()
            if self.unload_if_idle(now) or self._keeper is not threading.current_thread():
                return
            pause = self._idle_unload_s if self._users else self._last_used + self._idle_unload_s - now
