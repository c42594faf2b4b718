"""The kinds of file that are read, told by the ends of their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

Kind = Literal[
    "note", "text", "org", "canvas", "base", "pdf", "word", "slides", "sheet", "epub", "html", "mail", "image"
]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

SUFFIXES: Final[Mapping[str, Kind]] = {
    ".md": "note",
    ".markdown": "note",
    ".txt": "text",
    ".org": "org",
    ".canvas": "canvas",
    ".base": "base",
    ".pdf": "pdf",
    ".docx": "word",
    ".pptx": "slides",
    ".xlsx": "sheet",
    ".epub": "epub",
    ".html": "html",
    ".htm": "html",
    ".eml": "mail",
    ".png": "image",
    ".jpg": "image",
    ".jpeg": "image",
    ".webp": "image",
    ".bmp": "image",
    ".tif": "image",
    ".tiff": "image",
}

ANY_FILE: Final = "file"
"""In a query: every kind but notes."""

AS_WRITTEN: Final[frozenset[Kind]] = frozenset(("note", "text"))
"""The kinds whose files are the text itself; what the others hold is made into Markdown (``vaultrag.sources``)."""


def kind_of(path: str) -> Kind | None:
    """Return the kind of a file, by its name in whatever case; None for one that is not read."""
    dot = path.rfind(".")
    return SUFFIXES.get(path[dot:].lower()) if dot > path.rfind("/") + 1 else None


def opens_in_editor(path: str) -> bool:
    """Return whether a person edits such a file as text."""
    return kind_of(path) in (*AS_WRITTEN, "org", None)


def suffixes_of(kinds: str) -> tuple[str, ...]:
    """Return the ends of names of the kinds in this list, which has commas between them."""
    wanted = kinds.split(",")
    return tuple(
        suffix for suffix, kind in SUFFIXES.items() if kind in wanted or (ANY_FILE in wanted and kind != "note")
    )


def is_converted(path: str) -> bool:
    """Return whether the text of this file is made from it, so that its lines are none of the file's."""
    kind = kind_of(path)
    return kind is not None and kind not in AS_WRITTEN


@dataclass(frozen=True, slots=True)
class ReadKinds:
    """The kinds of file that are read in a vault.

    Attributes:
        read: Those that are read.
        lacking: Those that would be, with what must be installed for it.
        max_bytes: Of a file that is converted; larger ones are listed, not read.
    """

    read: frozenset[Kind] = frozenset(("note",))
    lacking: Mapping[Kind, str] = field(default_factory=dict)
    max_bytes: int = 50_000_000


ONLY_NOTES: Final = ReadKinds()


_PAGE = re.compile(r"(Page|Slide) (\d+)(?:: .*)?")


def subpath(path: str, heading: str) -> str:
    """Return the place in a converted file that a heading stands for, as a link to the file says it.

    ``#page=7`` of a PDF, as Obsidian writes it; ``#slide=3``, ``#Sheet Budget``; empty without a heading.
    """
    if match := _PAGE.fullmatch(heading):
        return f"#{match[1].lower()}={match[2]}"
    return f"#{heading}" if heading else ""
