"""The threads that have files of other kinds read, one after the other, the newest first, while nobody waits.

One reads text, the other recognises text in pictures (OCR), which takes seconds a page: when nothing else is to be
done. Each sleeps until there is a file. The process that reads is ended when it has had nothing to do for a while.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from vaultrag.domain import Content, DiskEntry, NotePath
from vaultrag.domain.kinds import kind_of
from vaultrag.domain.sources import Converted
from vaultrag.indexing.applier import content_hash
from vaultrag.protocols import SourceConverter, SourceStore, VaultFiles

log = logging.getLogger(__name__)

IDLE_S = 10.0
LOOK_S = 0.5
"""How often it is asked whether there is time."""


class SourceWorker:
    """Makes the texts that are asked for."""

    def __init__(
        self,
        disk: VaultFiles,
        texts: SourceStore,
        process: SourceConverter,
        *,
        version: int,
        name: str = "vault",
        recognise: bool = False,
        yield_to_queries: Callable[[], None] = lambda: None,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        """Prepare the thread; ``start`` starts it.

        Args:
            disk: The vault's files.
            texts: Keeps what is made.
            process: Makes it.
            version: Of the readers in the process.
            name: Of the vault.
            recognise: The process recognises the text in pictures.
            yield_to_queries: Waits while somebody waits for an answer.
            busy: Returns whether something more urgent is to be done.
        """
        self._disk = disk
        self._texts = texts
        self._process = process
        self._version = version
        self._recognise = recognise
        self._give_way = yield_to_queries
        self._busy = busy
        self._wake = threading.Condition()
        self._asked: dict[NotePath, DiskEntry] = {}
        self._stopping = False
        self._thread = threading.Thread(
            target=self._run, name=f"{'ocr' if recognise else 'sources'}-{name}", daemon=True
        )
        self.changed: Callable[[Iterable[NotePath]], None] = lambda paths: None
        """Told, in this thread, of each file whose text is there or has changed."""
        self.files_read = 0
        """Files that were read since the start; one whose bytes are known is not read again."""

    @property
    def waiting(self) -> int:
        """Return the number of files that are still to be read."""
        return len(self._asked)

    def start(self) -> None:
        self._thread.start()

    def ask(self, entry: DiskEntry) -> None:
        """Have a file read. Callable from any thread."""
        with self._wake:
            if self._asked.get(entry.path) != entry:
                self._asked[entry.path] = entry
                self._wake.notify()

    def close(self, timeout_s: float = 5.0) -> None:
        """Stop; the file at hand is broken off."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._process.stop()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        self._process.close()

    def _run(self) -> None:
        while (entry := self._next()) is not None:
            try:
                self._give_way()
                self._make(entry)
            except OSError as error:
                log.warning("the text made of %s cannot be kept: %s", entry.path, error)
            except Exception:
                log.exception("%s cannot be read, by a fault that was not foreseen", entry.path)
            finally:
                with self._wake:
                    if self._asked.get(entry.path) == entry:
                        del self._asked[entry.path]

    def _next(self) -> DiskEntry | None:
        """Wait for a file, and for time to read it; None when it is time to stop."""
        with self._wake:
            while not self._stopping:
                if not self._asked:
                    came = self._wake.wait(IDLE_S if self._process.running else None)
                    if not came:
                        self._process.close()
                elif self._busy():
                    self._wake.wait(LOOK_S)
                else:
                    return max(self._asked.values(), key=lambda entry: entry.mtime_ns)
            return None

    def _make(self, entry: DiskEntry) -> None:
        path, kind = entry.path, kind_of(entry.path)
        result = self._disk.read(path)
        if kind is None or not isinstance(result, Content):
            return  # gone, or not to be read now: the next look at the vault tells
        named = content_hash(kind.encode() + b"\0" + result.data)
        known = self._texts.same(named, self._version)
        if known is not None and not (self._recognise and known.pictures):
            text = self._texts.text(known.entry.path)
            if text is not None:
                self._keep(result.entry, named, Converted(text, known.problem, known.pictures))
                return
        converted = self._process.convert(kind, result.data, known.pictures if known is not None else 1)
        if not self._stopping:
            self.files_read += 1
            self._keep(result.entry, named, converted)

    def _keep(self, entry: DiskEntry, named: str, converted: Converted) -> None:
        if self._recognise:  # what could not be recognised is not tried again
            converted = converted._replace(pictures=0)
        self._texts.put(entry, named, self._version, converted)
        self.changed([entry.path])
