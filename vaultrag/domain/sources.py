"""The text that is made of a file of another kind than Markdown."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vaultrag.domain.changes import DiskEntry


class Converted(NamedTuple):
    """A file's text, as Markdown.

    Attributes:
        text: Empty where the file could not be read.
        problem: What could not be read, in words for a person; empty where all could.
        pictures: Pages that are pictures, whose text can only be recognised (OCR).
    """

    text: str
    problem: str
    pictures: int = 0


class SourceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A text that is kept.

    Attributes:
        entry: The file's stat when it was read.
        content_hash: Names its bytes.
        version: Of the readers that read it.
        problem: What could not be read, in words for a person; empty where all could.
        checksum: Of the text.
        chars: Of the text.
        pictures: Pages whose text is still to be recognised (OCR).
    """

    entry: DiskEntry
    content_hash: str
    version: int
    problem: str
    checksum: str
    chars: int
    pictures: int = 0
