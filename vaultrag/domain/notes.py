"""One Markdown file, read: its title, links, headings, tags, and the text that is embedded.

Lines are 1-based and count the file's own lines; body lines count from 0 at the first line after the frontmatter, so
that an edit to the frontmatter moves no passage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

NotePath = NewType("NotePath", str)
"""Vault-relative path with ``/`` between its parts, byte for byte as the file system gives it."""

NoteId = NewType("NoteId", int)
"""Row id of a note in ``hybrid-fts.db``, and of its vector in ``obsidian_notes.db``. Never reused."""


class LinkKind(StrEnum):
    WIKILINK = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Link:
    """One link out of a note. ``target`` is as written, without heading, block and alias; empty for the note itself."""

    target: str
    line: int
    kind: LinkKind = LinkKind.WIKILINK
    alias: str = ""
    heading: str = ""
    block: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class NoteText:
    """The text of a note that is embedded.

    ``text`` is the cleaned body. Cleaning blanks things out but never adds or removes a line, so line ``n`` of ``text``
    is line ``n`` of the body.
    """

    title: str
    text: str

    @property
    def hash(self) -> str:
        """Names the embedded text: equal text, equal vector, whatever the file is called or where it lies."""
        return hashlib.blake2b(f"{self.title}\0{self.text}".encode("utf-8", "replace"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Note:
    """One Markdown file, parsed. ``body`` is the text after the frontmatter, from file line ``body_line`` on."""

    path: NotePath
    title: str
    body: str
    body_line: int
    text: NoteText
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    properties: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
