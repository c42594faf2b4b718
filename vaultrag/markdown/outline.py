"""What a note says about itself: headings, tags, aliases.

Headings and inline tags are looked for in prose (``lifting.Lifted``), where code and comments are out of the way.
Tags follow Obsidian: any script, emoji, ``_ - /``, at least one sign that is no digit, and no ``#`` in the result.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from vaultrag.domain import Heading
from vaultrag.markdown.cleaning import visible
from vaultrag.markdown.code_masking import Lifted

Properties: TypeAlias = Mapping[str, str | tuple[str, ...]]

# The text is searched with a line end in front, so that every line begins with one: a pattern that starts with a
# literal is found by memchr, one that starts with "^" is tried at every character.
_ATX = re.compile(r"\n {0,3}(#{1,6})(?=[ \t\n]|\Z)[ \t]*+([^\n]*)")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_SETEXT = re.compile(r"\n(={2,}|-{3,})[ \t]*+(?=\n|\Z)")
_NO_TITLE = re.compile(r"[ \t]*(?:$|[#>|]|[-*+][ \t]|\d+[.)][ \t]|[-*_=:| \t]+$)")

# What may not be in a tag: white space, ASCII signs but _ - /, and the punctuation of other scripts.
_NO_TAG = (
    r"\s\x00-\x20!-,.:-@\[-\^`{-~\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f"
    r"\u3000-\u3004\u3008-\u3020\u3030\u303d\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff40\uff5b-\uff65«»¡¿·"
)
# Links are matched to be passed over: "[[note#heading]]" and "](#heading)" are no tags.
_TAG = re.compile(rf"\[\[[^\[\]\n]*+\]\]|\]\([^()\n]*+\)|#(?<![^\s(|>]#)([^{_NO_TAG}]++)")

_NO_TAG_BEGINS = "# \t\n"
"""What follows the ``#`` of a heading, or the end of the text: such lines need not be searched."""


def headings(lifted: Lifted, first_line: int) -> tuple[Heading, ...]:
    """Headings of both kinds, in order, with their visible text.

    Args:
        first_line: File line of the body's first line.
    """
    text = "\n" + lifted.text
    found: list[Heading] = []
    if "#" in text:
        line, counted = first_line - 1, 0
        for match in _ATX.finditer(text):
            line += text.count("\n", counted, match.start() + 1)
            counted = match.start() + 1
            title = match[2]
            if title.endswith("#") or title[-1:] in " \t":
                title = _CLOSING_MARKS.sub("", title)
            if title := _title(lifted, title, match.start(2) - 1):
                found.append(Heading(len(match[1]), title, line))
    if ("=" in text and "\n==" in text) or "\n---" in text:
        found.extend(_setext(lifted, text, first_line))
        found.sort(key=lambda heading: heading.line)
    return tuple(found)


def _setext(lifted: Lifted, text: str, first_line: int) -> Iterator[Heading]:
    line, counted = first_line - 1, 0
    for match in _SETEXT.finditer(text):
        start = match.start()
        line += text.count("\n", counted, start)
        counted = start
        title_start = text.rfind("\n", 0, start) + 1
        title = text[title_start:start]
        before = text[max(0, text.rfind("\n", 0, max(0, title_start - 1))) : title_start].strip()
        # Only a paragraph of one line: under a longer one, a rule was meant far more often than a heading.
        if title_start and not _NO_TITLE.match(title) and not before:
            yield Heading(1 if match[1][0] == "=" else 2, _title(lifted, title, title_start - 1), line)


def _title(lifted: Lifted, title: str, position: int) -> str:
    if "\0" in title:
        title = lifted.restore(title, lifted.before(position))
    return visible(title)


def inline_tags(lifted: Lifted) -> Iterator[str]:
    """Tags in the text, as written, without ``#``."""
    text = lifted.text
    place = text.find("#")
    while place >= 0:
        if text[place + 1 : place + 2] in _NO_TAG_BEGINS:
            place = text.find("#", place + 1)
            continue
        end = text.find("\n", place)
        end = end if end >= 0 else len(text)
        for match in _TAG.finditer(text, text.rfind("\n", 0, place) + 1, end):
            if (tag := match[1]) is not None:
                tag = tag.strip("/").rstrip("-")
                if tag and not tag.isdecimal():
                    yield tag
        place = text.find("#", end)


def header_tags(properties: Properties) -> Iterator[str]:
    """Tags from ``tags`` and ``tag``: a list, or one text split at commas and white space, with or without ``#``."""
    for value in _named(properties, ("tags", "tag", "taxonomies.tags")):
        for text in (value,) if isinstance(value, str) else value:
            for word in text.replace(",", " ").split():
                yield word.strip("#").strip("/")


def aliases(properties: Properties) -> tuple[str, ...]:
    """Other names from ``aliases`` and ``alias``: a list, or one text split at commas."""
    names: list[str] = []
    for value in _named(properties, ("aliases", "alias")):
        names.extend(value.split(",") if isinstance(value, str) else value)
    return distinct(" ".join(name.split()) for name in names)


def _named(properties: Properties, names: tuple[str, ...]) -> Iterator[str | tuple[str, ...]]:
    return (value for key, value in properties.items() if key.lower() in names)


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Composed (NFC), empty ones dropped, the first spelling of each kept, whatever its case."""
    kept: dict[str, str] = {}
    for name in names:
        composed = name if name.isascii() else unicodedata.normalize("NFC", name)
        if composed:
            kept.setdefault(composed.casefold(), composed)
    return tuple(kept.values())
