"""What a reader makes of a file, and the Markdown that this becomes. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import yaml

MAX_CHARS = 5_000_000
"""Of one file; a longer text is cut, and says so."""


class Unreadable(Exception):
    """The file cannot be read; the message says why, in words for a person."""


@dataclass(frozen=True, slots=True)
class Section:
    """A page, slide, sheet, chapter or card.

    Attributes:
        heading: ``Page 7``, plain text on one line; empty for none.
        text: Markdown. What comes out of the file as plain text has gone through ``plain``.
    """

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file, read.

    Attributes:
        sections: In reading order.
        title: The one that the file gives itself; empty for none.
        properties: What else it says of itself: ``author``, ``created`` (ISO), ``tags``.
        problem: What could not be read of it, in words for a person; empty where all could.
        pictures: Pages that are pictures, and were not read.
    """

    sections: Sequence[Section]
    title: str = ""
    properties: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    problem: str = ""
    pictures: int = 0


_MEANT = re.compile(
    r"(?<!\w)#(?=\S)"  # a tag
    r"|^(?=\#{1,6}[ \t]|```|~~~|[>|]|---+[ \t]*$|===+[ \t]*$)"  # a heading, fence, quotation, table, rule
    r"|\[|!(?=\[)"  # links
    r"|%(?=%)|<(?=[%!/A-Za-z])|:(?=:)|\^(?=[A-Za-z0-9-]+[ \t]*$)",  # comments, HTML, fields, block ids
    re.MULTILINE,
)


def plain(text: str) -> str:
    r"""Return plain text as Markdown that shows it and means nothing more: ``#1`` becomes ``\#1``."""
    return _MEANT.sub(lambda match: "\\" + match[0], text)


def one_line(text: str) -> str:
    """Return text without line ends, for a heading or a title."""
    return " ".join(text.split())


def markdown(source: SourceText) -> str:
    """Write a file's text as a note."""
    header: dict[str, object] = {}
    if title := one_line(source.title):
        header["title"] = title
    header |= {name: value if isinstance(value, str) else list(value) for name, value in source.properties.items()}
    parts = [f"---\n{yaml.safe_dump(header, allow_unicode=True, sort_keys=False, width=10_000)}---\n"] if header else []
    size = 0
    for section in source.sections:
        text = section.text.strip("\n")
        if section.heading:
            parts.append(f"## {plain(one_line(section.heading))}\n")
        if text:
            parts.append(f"{text[: MAX_CHARS - size]}\n")
        size += len(text)
        if size >= MAX_CHARS:
            break
    return "\n".join(parts)
