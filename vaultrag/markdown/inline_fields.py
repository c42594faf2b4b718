"""Properties in a note's text, as Dataview and Logseq write them. Pure.

    due:: 2026-03-14                 a line of its own, in a list too
    Talked to [who:: [[Jane Roe]]]   within a line; in round brackets alike
    alias:: Pump, The pump           above all other text: of the page, as in Logseq

A title or an alias counts above all other text only: further down it is one of an entry. What an agent is given unasked
(``always``, ``when``) is said in a header only, so that no copied text gives itself that place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vaultrag.markdown.code_masking import Lifted
from vaultrag.markdown.lenient_header import Properties
from vaultrag.markdown.plain_header import plain_text

MAX_FIELDS = 500
MAX_VALUE_CHARS = 2_000

_NAME = r"[^\W\d_][\w/-]{0,40}(?: [\w/-]{1,40}){0,3}"
_LINE = re.compile(
    rf"[ \t>]*+(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]++(?:\[.\][ \t]++)?)?(?:\*\*|__|[*_])?({_NAME})(?:\*\*|__|[*_])?::"
    r"(?:\*\*|__|[*_])?(?:[ \t]++([^\n]*)|(?=\n|\Z|\[\[|#))"
)
_BRACKETED = re.compile(
    rf"\[({_NAME})::[ \t]*+((?:[^\[\]\n]|\[\[[^\[\]\n]*\]\]|\[[^\[\]\n]*\])*+)\]|\(({_NAME})::[ \t]++([^()\n]*+)\)"
)
_LINK = r"[ \t]*+(?:\[\[[^\[\]\n]*\]\]|#[^\s,]+)[ \t]*+"
_LINKS = re.compile(rf"{_LINK}(?:,{_LINK})++")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

_OF_THE_PAGE = frozenset(("title", "alias", "aliases"))
_IN_HEADERS_ONLY = ("always", "when")
_NAME_LISTS = frozenset(("alias", "aliases", "tags", "tag"))


@dataclass(frozen=True, slots=True)
class Fields:
    """A note's inline fields: values by name, and the tags among them."""

    properties: Mapping[str, tuple[str, ...]]
    tags: tuple[str, ...] = ()


NONE = Fields({})


def inline_fields(lifted: Lifted) -> Fields:
    """Find the fields in a body whose code and comments were lifted out."""
    if "::" not in lifted.text:
        return NONE
    top = _end_of_page_fields(lifted.text)
    found: dict[str, tuple[str, ...]] = {}
    names: dict[str, str] = {}
    tags: list[str] = []
    for count, (name, value, place) in enumerate(_written(lifted.text)):
        if count >= MAX_FIELDS:
            break
        key = name.casefold()
        if key.startswith(_IN_HEADERS_ONLY) or (key in _OF_THE_PAGE and place >= top) or _is_machine_made(key, value):
            continue
        if "\0" in value:
            value = lifted.restore(value, lifted.before(place))
        values = _values(key, value.strip()[:MAX_VALUE_CHARS])
        if key in ("tags", "tag"):
            tags += [tag.strip("#") for tag in values if " #" not in tag]
        name = names.setdefault(key, name)
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *values)))
    return Fields(found, tuple(tags))


def merged(header: Properties, fields: Fields) -> Properties:
    """Return a header's properties with the fields added. The header's title stays; other values join the header's."""
    spelled = {name.casefold(): name for name in header}
    both = dict(header)
    for name, values in fields.properties.items():
        before = header.get(spelled.get(name.casefold(), name), ())
        if name.casefold() == "title" and before:
            continue
        every = tuple(dict.fromkeys((*((before,) if isinstance(before, str) else before), *values)))
        is_list = (isinstance(before, tuple) and bool(before)) or len(every) > 1
        both[spelled.get(name.casefold(), name)] = every if is_list else "".join(every)
    return both


def _written(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield (name, value, where the value begins) of each field."""
    place = text.find("::")
    while place >= 0:
        start, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
        end = end if end >= 0 else len(text)
        if (line := _LINE.match(text, start, end)) is not None:
            yield line[1], line[2] if line[2] is not None else text[line.end() : end], line.end(1)
        for match in _BRACKETED.finditer(text, line.end(1) if line else start, end):
            yield match[1] or match[3], match[2] or match[4] or "", match.start()
        place = text.find("::", end)


def _end_of_page_fields(text: str) -> int:
    """Return where the first line begins that is neither blank nor a field."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = end if end >= 0 else len(text)
        if text[start:end].strip(" \t-") and _LINE.match(text, start, end) is None:
            break
        start = end + 1
    return start


def _values(key: str, value: str) -> tuple[str, ...]:
    if key in _NAME_LISTS:
        pieces = (piece.strip().removeprefix("#").removeprefix("[[").removesuffix("]]") for piece in value.split(","))
        return tuple(filter(None, pieces))
    if "," in value and _LINKS.fullmatch(value):
        return tuple(piece.strip() for piece in value.split(","))
    return (plain_text(value),)


def _is_machine_made(key: str, value: str) -> bool:
    """Tell what Logseq keeps beside a block from what a person wrote."""
    return key == "collapsed" or (key == "id" and _UUID.fullmatch(value.strip()) is not None)
