"""Headers as nearly everybody writes them, read without a YAML parser, which takes three times as long. Pure.

    title: Some words
    tags: [pump, pump/seal]
    aliases:
      - Another name
    source: "[[Note]]"

A header with one line that is not of these few kinds is left to ``frontmatter``, whole: what is read here comes out as
it would there. ``plain_text`` says for both what a value that stands in no quotes means.
"""

from __future__ import annotations

import re

_KEY = r"[A-Za-z_][\w-]{0,99}"
# It begins with a letter or a digit, and holds no sign that YAML might take for more than a sign.
_PLAIN = r"[^\W_](?:[\w ./()&'+;!?%=-]|:(?=[\w/]))*(?<! )"
_ITEM = r"[^\W_](?:[\w ./+-])*(?<! )"
_LINE = re.compile(
    rf"({_KEY}):(?: (?:({_PLAIN}(?:,{_PLAIN}|, {_PLAIN})*)|\"([ !#-\[\]-~]*)\"|\[({_ITEM}(?:, {_ITEM})*)\])"
    rf"|((?:\n  - (?:{_PLAIN}|\"[ !#-\[\]-~]*\"))+))?(?:\n|\Z)"
)
"""Groups: name, value, value in quotes, list in brackets, list with an item a line."""

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
# Obsidian reads YAML 1.2, where yes, no, on and off are words like any other.
_BOOLEANS = {"true": "true", "True": "true", "TRUE": "true", "false": "false", "False": "false", "FALSE": "false"}
_DATE = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d\d)(:\d\d(?:\.\d*)?)?[ \t]*(Z|[-+]\d\d?(?::?\d\d)?)?)?"
)


def read(header: str) -> dict[str, str | tuple[str, ...]] | None:
    """Return the properties of a header; None for one that is not as plain as all that."""
    single: dict[str, str] = {}
    lists: dict[str, tuple[str, ...]] = {}
    position = 0
    while position < len(header):
        found = _LINE.match(header, position)
        if found is None:
            return None
        position = found.end()
        name, value, quoted, items, lines = found.groups()
        name = plain_text(name)
        if name in single or name in lists:
            return None
        if value is not None:
            single[name] = plain_text(value)
        elif items is not None:
            lists[name] = tuple(filter(None, map(plain_text, items.split(", "))))
        elif lines is not None:
            lists[name] = tuple(filter(None, map(_item, lines.split("\n  - ")[1:])))
        else:
            single[name] = quoted.strip() if quoted else ""
    return {**single, **lists} if position else None


def plain_text(text: str) -> str:
    """Return the meaning of a value without quotes: truth, nothing and dates in one spelling each, else as written."""
    if text in _NULLS:
        return ""
    if (word := _BOOLEANS.get(text)) is not None:
        return word
    if text[:4].isdigit() and (found := _DATE.fullmatch(text)):
        return _iso(found)
    return text


def _item(written: str) -> str:
    return written[1:-1].strip() if written[0] == '"' else plain_text(written)


def _iso(found: re.Match[str]) -> str:
    year, month, day, hour, minute, seconds, zone = found.groups()
    date = f"{year}-{month:0>2}-{day:0>2}"
    return date if hour is None else f"{date}T{hour:0>2}:{minute}{seconds or ''}{zone or ''}"
