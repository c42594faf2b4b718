"""Markup inside words: what a reader sees of ``un**believ**able``, ``H~2~O``, ``<u>x</u>y`` and ``AT&amp;T``.

Only what cuts a word in two, or stands for a letter of it, is looked for: other marks stand between words, where the
tokenizer passes over them. Each replacement comes with its place, so that a position in the result leads back to the
text. Pure.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import pairwise

_EMPHASIS = re.compile(r"(\*{1,3}|~~?|==|\^)([^\W_]+)(\1)")
_TAGS = re.compile(
    r"(?<=[^\W_])(?:</?(?:a|abbr|b|bdi|big|cite|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|sup"
    r"|tt|u|var|wbr)(?:\s[^<>\n]{0,500})?>)+(?=[^\W_])",
    re.IGNORECASE,
)
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

Replacement = tuple[int, int, str]
"""From where to where in the text, and what a reader sees there."""


def replacements(text: str) -> list[Replacement]:
    """Return what to replace, in order; none of them overlap."""
    found: list[Replacement] = []
    if "&" in text and ";" in text:
        found += _entities(text)
    if "<" in text and ">" in text:
        found += [(*match.span(), "") for match in _TAGS.finditer(text)]
    if "*" in text or "~" in text or ("=" in text and "==" in text) or "^" in text:
        found += _emphasis(text)
    if len(found) < 2:
        return found
    found.sort()
    kept = found[:1]
    kept += [later for before, later in pairwise(found) if later[0] >= before[1]]
    return kept


def without_markup(text: str) -> str:
    """Return the text with its words as a reader sees them."""
    found = replacements(text)
    if not found:
        return text
    pieces: list[str] = []
    last = 0
    for start, end, shown in found:
        pieces += (text[last:start], shown)
        last = end
    return "".join((*pieces, text[last:]))


def _entities(text: str) -> Iterator[Replacement]:
    for match in ENTITY.finditer(text):
        shown = html.unescape(match[0])
        if shown != match[0]:
            yield (*match.span(), shown.replace("\n", " ").replace("\0", " "))


def _emphasis(text: str) -> Iterator[Replacement]:
    for match in _EMPHASIS.finditer(text):
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        if not (before.isalnum() or after.isalnum()):
            continue
        if match[1][0] == "*" and any(map(str.isdigit, before + match[2] + after)):
            continue  # a sum
        yield (*match.span(1), "")
        yield (*match.span(3), "")
