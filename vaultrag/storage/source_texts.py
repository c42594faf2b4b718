"""The text made of files of other kinds, kept beside the index: one small file each, named after the file's path.

It is what costs the most to make again, so it stands when the index is built anew, and is found by the bytes it was
made of: a file that is renamed, touched or copied is not read again. A damaged one is as good as none.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from vaultrag.domain import DiskEntry, NotePath
from vaultrag.domain.sources import Converted, SourceRecord

log = logging.getLogger(__name__)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(SourceRecord).decode


class SourceTexts:
    """Keeps texts by path. Callable from any thread."""

    def __init__(self, folder: Path, write: Callable[[Path, str], None]) -> None:
        """Look at what is kept in this folder; it is made when something is put there.

        Args:
            folder: Of the files.
            write: Replaces a small file's text at once, or not at all.
        """
        self._write = write
        self._folder = folder
        self._lock = threading.Lock()
        self._records: dict[NotePath, SourceRecord] = {}
        self._by_content: dict[str, NotePath] = {}  # one of the files with these bytes; it may have gone
        for record in self._stored():
            self._remember(record)

    def __iter__(self) -> Iterator[SourceRecord]:
        with self._lock:
            return iter(list(self._records.values()))

    def record(self, path: NotePath) -> SourceRecord | None:
        """Return what is known of the file at this path, however old."""
        with self._lock:
            return self._records.get(path)

    def same(self, content_hash: str, version: int) -> SourceRecord | None:
        """Return the record of a file with these bytes, wherever it stands or stood."""
        with self._lock:
            path = self._by_content.get(content_hash)
            record = self._records.get(path) if path is not None else None
        return (
            record if record is not None and (record.content_hash, record.version) == (content_hash, version) else None
        )

    def text(self, path: NotePath) -> str | None:
        """Return the text made of a file; None where there is none, or it is damaged."""
        record = self.record(path)
        if record is None:
            return None
        try:
            data = self._file(path).read_bytes()
            header, _, text = data.partition(b"\n")
            if _decode(header) == record and _checksum(text) == record.checksum:
                return text.decode()
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("the text made of %s cannot be read: %s", path, error)
        with self._lock:
            self._records.pop(path, None)
        return None

    def put(self, entry: DiskEntry, content_hash: str, version: int, converted: Converted) -> None:
        """Keep the text made of a file.

        Raises:
            OSError: It cannot be written.
        """
        record = SourceRecord(
            entry=entry,
            content_hash=content_hash,
            version=version,
            problem=converted.problem,
            checksum=_checksum(converted.text.encode()),
            chars=len(converted.text),
            pictures=converted.pictures,
        )
        self._write(self._file(entry.path), f"{_encode(record).decode()}\n{converted.text}")
        with self._lock:
            self._remember(record)

    def keep_only(self, paths: Collection[NotePath]) -> None:
        """Remove the texts of all other files."""
        with self._lock:
            gone = [path for path in self._records if path not in paths]
            for path in gone:
                del self._records[path]
        for path in gone:
            with suppress(OSError):
                self._file(path).unlink(missing_ok=True)

    def _remember(self, record: SourceRecord) -> None:
        self._records[record.entry.path] = record
        self._by_content[record.content_hash] = record.entry.path

    def _file(self, path: NotePath) -> Path:
        return self._folder / hashlib.blake2b(path.encode(), digest_size=16).hexdigest()

    def _stored(self) -> Iterator[SourceRecord]:
        if not self._folder.is_dir():
            return
        for file in self._folder.iterdir():
            if file.name.startswith("."):  # half written when the power went
                file.unlink(missing_ok=True)
                continue
            try:
                with file.open("rb") as opened:
                    yield _decode(opened.readline(1 << 16))
            except (OSError, msgspec.DecodeError):
                with suppress(OSError):
                    file.unlink()


def _checksum(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
