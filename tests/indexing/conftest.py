from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.clocks import PushedClock
from tests.support.embedders import HashEmbedder
from tests.support.readers import MemoryVault
from vaultrag.domain import Identity, NoteId, NotePath
from vaultrag.indexing.embed_worker import EmbedWorker
from vaultrag.indexing.index_worker import IndexWorker
from vaultrag.indexing.vector_lifecycle import VectorLifecycle
from vaultrag.protocols import Embedder, NoteIndex, VaultReader
from vaultrag.storage.folder import StoreFolder

WAIT_S = 20.0


class House:
    """One vault's indexing, as the daemon puts it together, on a reader and an embedder of the test's choice."""

    def __init__(
        self,
        folder: Path,
        reader: VaultReader | None = None,
        embedder: Embedder | None = None,
        *,
        reconcile_s: float = 3_600.0,
    ) -> None:
        self.vault = MemoryVault()
        self.reader = reader or self.vault
        self.hash = HashEmbedder()
        self.embedder: Embedder = embedder or self.hash
        self.clock = PushedClock()
        self.chosen: list[Identity | None] = []
        self.shelf = StoreFolder(folder)
        self.index: NoteIndex = self.shelf.open_notes()
        self.meaning = VectorLifecycle(self.shelf, self._choose)
        self.embedding = EmbedWorker(self.reader, self.index, self.meaning, self.clock)
        self.worker = IndexWorker(self.reader, self.index, self.embedding, self.clock, reconcile_s=reconcile_s)
        self.embedding.changed = self.worker.notice
        self.embedding.words_first = lambda: self.worker.reading_many
        self._open = True

    def _choose(self, recorded: Identity | None) -> Embedder:
        self.chosen.append(recorded)
        return self.embedder

    def start(self) -> House:
        self.worker.start()
        self.embedding.start()
        return self

    def settle(self) -> House:
        """Wait until nothing is to be done, in either thread."""
        self.until(lambda: self.worker.settled.is_set() and self.embedding.settled.is_set(), "settled")
        return self

    def until(self, holds: Callable[[], Any], what: str = "it") -> None:
        deadline = time.monotonic() + WAIT_S
        beat = threading.Event()
        while not holds():
            assert time.monotonic() < deadline, (
                f"{what} did not come about: {self.worker.progress}, {self.meaning.view}"
            )
            beat.wait(0.005)

    def push(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.ahead += seconds
        for waiting in (self.worker._wake, self.embedding._wake):
            with waiting:
                waiting.notify_all()

    def look(self, *paths: str, confirmed: bool = False) -> House:
        """Look at these paths, or at everything, and wait until all is done."""
        if paths:
            self.worker.notice([NotePath(path) for path in paths])
        else:
            self.worker.reconcile(confirmed=confirmed)
        return self.settle()

    @property
    def paths(self) -> set[str]:
        return set(self.index.entries())

    def ids(self) -> dict[str, NoteId]:
        return {path: entry.note_id for path, entry in self.index.entries().items()}

    def vectors(self) -> dict[NoteId, str]:
        store = self.meaning.view.vectors
        assert store is not None
        return dict(store.hashes())

    def consistent(self) -> bool:
        return self.vectors() == self.index.text_hashes()

    def close(self) -> None:
        if self._open:
            self._open = False
            self.worker.close(WAIT_S)
            self.embedding.close(WAIT_S)
            self.meaning.close()
            self.index.close()  # type: ignore[attr-defined]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Callable[..., House]]:
    """Builds houses in one folder, or in others, and closes them all in the end."""
    houses: list[House] = []

    def one(folder: str = "store", **given: Any) -> House:
        houses.append(House(tmp_path / folder, **given))
        return houses[-1]

    yield one
    for house in houses:
        house.close()


Build = Callable[..., House]
