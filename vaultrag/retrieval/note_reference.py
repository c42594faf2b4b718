"""The forms in which a note is referred to when its name is copied: a link, an Obsidian URI, a citation, a path.

[[a/b|shown]]  ![[b#Heading]]  [shown](a/b.md)      a link
obsidian://open?vault=V&file=a%2Fb                  Obsidian's own address of a note
a/b.md#L3-L7  a/b.md#Heading  a/b.md:12  c.pdf#page=7  a citation
a/b.md  a\\b  /home/me/vault/a/b.md                  a path
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from unicodedata import normalize
from urllib.parse import parse_qs, unquote, urlsplit

from vaultrag.domain.kinds import SUFFIXES
from vaultrag.markdown.links import MARKDOWN_TAIL, WIKILINK_TAIL
from vaultrag.markdown.titles import without_suffix

MAX_CHARS = 1_000
"""A longer text is no name; file systems take 255 bytes a part."""

_LINK = re.compile(rf"!?\[(?:{WIKILINK_TAIL}|{MARKDOWN_TAIL})")
_ENDS = "|".join(f"(?<={re.escape(suffix)})" for suffix in SUFFIXES)
_CITED = re.compile(rf"(?s)(.+?)(?:#L\d+(?:-L?\d+)?|(?:{_ENDS})(?:#.*|:\d+(?:[:-]\d+)*:?))", re.IGNORECASE)
_ABSOLUTE = re.compile(r"/|~|[A-Za-z]:/|file://")


@dataclass(frozen=True, slots=True)
class Reference:
    """The note that a text refers to.

    Attributes:
        target: A name or a path with ``/`` between its parts, without ``.md`` or ``.markdown``.
        certain: The form is that of a reference, so that its last part may be taken for a name.
        absolute: The path does not begin in the vault.
    """

    target: str
    certain: bool = False
    absolute: bool = False

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.target.rsplit("/", 1)[-1]

    def is_path(self, path: str) -> bool:
        """Return True if the target is this path of a note, with or without what leads to the vault."""
        wanted, path = same_form(self.target), same_form(without_suffix(path))
        return wanted == path or (self.absolute and wanted.endswith(f"/{path}"))

    def ends_path(self, path: str) -> bool:
        """Return True if the target is the end of this path, a folder at least."""
        return "/" in self.target and same_form(without_suffix(path)).endswith(f"/{same_form(self.target)}")


def reference_of(text: str) -> Reference:
    """Read what a text refers to; a plain name refers to itself."""
    text = text.strip()
    if len(text) > MAX_CHARS:
        return Reference("")
    target, certain = _linked(text), True
    if target is None:
        target, certain = text, False
        if cited := _CITED.fullmatch(target):
            target, certain = cited[1], True
    else:
        target = target.partition("#")[0]
    target = target.strip().replace("\\", "/")
    absolute = _ABSOLUTE.match(target) is not None
    target = re.sub(r"^(?:\./)+", "", target)
    if (bare := without_suffix(target)) != target:
        target, certain = bare, True
    return Reference(target, certain, absolute)


def same_form(name: str) -> str:
    """Return the name as names are compared sign for sign: letter case and the number of blanks do not matter."""
    return " ".join(normalize("NFC", name).casefold().split())


def _linked(text: str) -> str | None:
    """Return what a link or an address leads to; None where the text as a whole is neither."""
    if text.startswith("obsidian:"):
        try:
            address = urlsplit(text)
            asked = parse_qs(address.query)
        except ValueError:
            return None
        if file := asked.get("file") or asked.get("path"):
            return file[0]
        return unquote(address.path) if address.netloc == "vault" else None  # /V/a/b: the vault's name comes first
    match = _LINK.fullmatch(text)
    if match is None:
        return None
    wiki, _, _, angled, bare = match.groups()
    if wiki is not None:
        return str(wiki).removesuffix("\\")  # in a table the bar is written as "\|"
    target = unquote(angled or bare or "")
    return target if target and "://" not in target else None
