"""Hits as lines for other programs: a hit a line, columns that stay what they are.

tsv      file <tab> line <tab> score <tab> title <tab> passage     file absolute, line 1 where none is known
vimgrep  file:line:column:passage                                  for quickfix lists
links    [[Folder/Note|Note]]                                      to paste into a note
paths    file                                              as it is with --null, else fit for a terminal
jsonl    the hit, as the daemon gave it
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import quote

import msgspec

from vaultrag.domain import Hit
from vaultrag.domain.kinds import is_converted
from vaultrag.wording import one_line

LineFormat = Literal["jsonl", "tsv", "vimgrep", "links", "paths"]

_NOT_IN_WIKILINKS = re.compile(r"[\[\]|#^]")


def hit_as_line(hit: Hit, form: LineFormat, root: Path, text: str = "") -> str:
    """Return the hit on one line, without a line break.

    Args:
        hit: A hit.
        form: Which columns.
        root: The vault's folder.
        text: The note's own lines from ``hit.start_line`` on, by which vimgrep's column is exact in bytes.
    """
    match form:
        case "jsonl":
            return msgspec.json.encode(hit).decode()
        case "tsv":
            columns = (str(root / hit.path), str(hit.start_line or 1), f"{hit.score:.4f}", hit.title, passage(hit))
            return "\t".join(one_line(column) for column in columns)
        case "vimgrep":
            line, column, shown = _place(hit, text)
            return f"{one_line(str(root / hit.path))}:{line}:{column}:{one_line(shown)}"
        case "links":
            return one_line(link_to(hit.path))
        case "paths":
            return one_line(str(root / hit.path))


def link_to(path: str) -> str:
    """Return a link to a note that works from every note of its vault, whatever other notes are called.

    A name that Obsidian's own links cannot hold gets a Markdown link.
    """
    bare = path[:-3] if path.endswith(".md") else path
    name = PurePosixPath(bare).name
    if _NOT_IN_WIKILINKS.search(bare):
        escaped = name.replace("[", "\\[").replace("]", "\\]")
        return f"[{escaped}]({quote(path, errors='surrogateescape')})"
    return f"[[{bare}]]" if bare == name else f"[[{bare}|{name}]]"


def passage(hit: Hit) -> str:
    """Return the passage on one line."""
    return " ".join(one_line(hit.preview).split())


def byte_column(line: str, column: int) -> int:
    """Return a column in bytes, from 1, as Vim counts."""
    return len(line[:column].encode("utf-8", "surrogatepass")) + 1


def _place(hit: Hit, text: str) -> tuple[int, int, str]:
    """Line and column (both from 1, the column in bytes) of the first match, and the line of the preview it is on."""
    if not hit.places or is_converted(hit.path):
        number = 1 if is_converted(hit.path) else hit.start_line or 1  # no line of the text made of a file is its own
        return number, 1, next((line for line in hit.preview.split("\n") if line.strip()), "")
    place = hit.places[0]
    lines, number = text.split("\n"), place.line - hit.start_line
    line = lines[number] if 0 <= number < len(lines) else ""
    at = hit.spans[0].start if hit.spans else 0
    begun = hit.preview.rfind("\n", 0, at) + 1
    end = hit.preview.find("\n", at)
    shown = hit.preview[begun : len(hit.preview) if end < 0 else end]
    return place.line, byte_column(line, place.start) if line else place.start + 1, shown
