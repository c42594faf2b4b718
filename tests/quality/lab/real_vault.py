"""The notes of real vaults, unpacked beside each other, with their links, for sets that are made of them."""

from __future__ import annotations

import posixpath
import re
import tarfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from vaultrag.markdown.links import MARKDOWN_TAIL, WIKILINK_TAIL

ARCHIVE = "vaults/features.tar.gz"
SOURCES = ("tasks-docs", "silverbullet-docs", "foam-docs", "dataview-docs")
"""Folders of the archive: documentation of four programs, in English, whose notes link to each other."""

LINK = re.compile(rf"!?\[(?:{WIKILINK_TAIL}|{MARKDOWN_TAIL})")
FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class FoundLink:
    """One link between two notes.

    Attributes:
        text: What a reader sees.
        line: The line that holds it, as written.
        span: Where the link stands in that line.
    """

    source: str
    target: str
    text: str
    line: str
    span: tuple[int, int]


def unpack(data: Path, vault: Path) -> dict[str, str]:
    """Write the notes of the sources below ``vault`` and return their texts by path. Files that exist are kept."""
    texts = {}
    with tarfile.open(data / ARCHIVE) as archive:
        for member in archive:
            parts = member.name.split("/")
            if not member.isfile() or not member.name.endswith(".md") or len(parts) < 3 or parts[1] not in SOURCES:
                continue
            file = archive.extractfile(member)
            path = "/".join(parts[1:])
            content = file.read() if file is not None else b""
            texts[path] = content.decode("utf-8", "replace")
            if not (vault / path).exists():
                (vault / path).parent.mkdir(parents=True, exist_ok=True)
                (vault / path).write_bytes(content)
    return dict(sorted(texts.items()))


def title(path: str) -> str:
    """Return the note's name, which these vaults link by."""
    return posixpath.basename(path).removesuffix(".md").replace("-", " ").replace("_", " ").strip()


def prose(text: str) -> list[str]:
    """Return the lines outside the header and outside code blocks."""
    lines, fenced = text.splitlines(), False
    if lines and lines[0].strip() == "---":
        end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
        lines = lines[end + 1 :]
    kept = []
    for line in lines:
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            kept.append(line)
    return kept


def links(texts: dict[str, str]) -> list[FoundLink]:
    """Return the links that lead to exactly one other note of the same source."""
    by_name: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path in texts:
        source = path.split("/", 1)[0]
        name = path.split("/", 1)[1].removesuffix(".md").casefold()
        for part in {name, posixpath.basename(name)}:
            by_name[source, part].add(path)
    found = []
    for path, text in texts.items():
        for line in prose(text):
            for match in LINK.finditer(line):
                wiki, alias, label, angled, bare = match.groups()
                if match[0].startswith("!"):
                    continue
                written, _, heading = (wiki if wiki is not None else unquote(angled or bare or "")).partition("#")
                written = written.rstrip("\\").strip()
                shown = (alias or heading.split("#")[-1] or posixpath.basename(written)) if wiki is not None else label
                targets = _resolve(path, written, by_name)
                if len(targets) == 1 and targets != {path}:
                    found.append(FoundLink(path, next(iter(targets)), shown.strip(), line, match.span()))
    return found


def _resolve(path: str, written: str, by_name: dict[tuple[str, str], set[str]]) -> set[str]:
    source, inside = path.split("/", 1)
    name = written.removesuffix(".md").casefold()
    if "://" in written or not name:
        return set()
    relative = posixpath.normpath(posixpath.join(posixpath.dirname(inside).casefold(), name))
    for candidate in (relative, name.lstrip("/"), posixpath.basename(name)):
        if found := by_name.get((source, candidate)):
            return found
    return set()
