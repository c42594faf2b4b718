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

from vaultrag.cli.render.words import one_line
from vaultrag.model import Hit

LineFormat = Literal["jsonl", "tsv", "vimgrep", "links", "paths"]

_NOT_IN_WIKILINKS = re.compile(r"[\[\]|#^]")


def hit_as_line(hit: Hit, form: LineFormat, root: Path, text: str = "") -> str:
    """The hit on one line, without a line break.

    Args:
        hit: A hit.
        form: Which columns.
        root: The vault's folder.
        text: The note's own lines from ``hit.start_line`` on, by which vimgrep's column is exact.
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
    """A link to a note that works from every note of its vault, whatever other notes are called.

    A name that Obsidian's own links cannot hold gets a Markdown link.
    """
    bare = path[:-3] if path.endswith(".md") else path
    name = PurePosixPath(bare).name
    if _NOT_IN_WIKILINKS.search(bare):
        escaped = name.replace("[", "\\[").replace("]", "\\]")
        return f"[{escaped}]({quote(path, errors='surrogateescape')})"
    return f"[[{bare}]]" if bare == name else f"[[{bare}|{name}]]"


def passage(hit: Hit) -> str:
    """The passage on one line."""
    return " ".join(one_line(hit.preview).split())


def _place(hit: Hit, text: str) -> tuple[int, int, str]:
    """Line, column (both from 1, the column in bytes, as Vim counts) and text of the line that matches first."""
    shown_at = text.find(hit.preview) if hit.preview else -1
    if shown_at < 0:  # the note has changed since, or is not at hand
        text, shown_at = hit.preview, 0
    at = shown_at + (hit.spans[0].start if hit.spans else 0)
    begun = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[begun : len(text) if end < 0 else end]
    return (hit.start_line or 1) + text.count("\n", 0, at), len(text[begun:at].encode()) + 1, line
