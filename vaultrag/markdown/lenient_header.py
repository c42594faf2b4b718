"""Headers that their own language refuses, read line by line, so that a slip costs the line it is in. Pure.

    title: Meeting: the budget
    tags: [#a, #b]
    private:true

Each property is read by itself: as its language has it where that works, else as it is written. A header with as many
lines of text as properties is none at all; such a note begins with a rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from vaultrag.markdown.plain_header import plain_text

Properties: TypeAlias = dict[str, str | tuple[str, ...]]
Load: TypeAlias = Callable[[str], tuple[Properties, str]]

MAX_LOADED = 200
"""Properties that are read as their language has them; those after them are taken as written."""

MAX_LOADED_CHARS = 256 * 1024
"""What these may add up to, with aliases written out."""

TEMPLATE = "{{"
"""Begins a placeholder of a template. To YAML it is a map in a map."""

_NAME = r"[^\W_][\w./-]*(?: [\w./-]+){0,3}"
_STARTS = {
    ":": re.compile(rf"""(?:["']?({_NAME})["']?[ \t]*(?::(?=[ \t]|$)|：)|([^\W\d_][\w-]*):(?=[^\s/:]))[ \t]*(.*)"""),
    "=": re.compile(rf"""(?:["']?({_NAME})["']?|(\0))[ \t]*=[ \t]*(.*)"""),
}
"""Groups: name, name of one without the space behind its colon, value."""

_CONTINUED = (" ", "\t", "- ", "]", "}")
_TABLE = re.compile(r"\[.+\][ \t]*")
_BLOCK_MARK = re.compile(r"[|>][-+0-9]*")
_ITEM = re.compile(r"""[ \t]*(?:"[^"]*"|'[^']*')[ \t]*(?=,|$)|(?:\[\[[^\[\]]*\]\]|[^,])+""")
_PLACEHOLDER = re.compile(r"(?:^|[:\n])[ \t]*+(?:-[ \t]++)?\{\{")
_COMMENTED_TAG = re.compile(
    r"^tags?:[ \t]*+(?:(?:\[[ \t]*+)?#[^\s#]|\n(?:[ \t]*+-[^\n]*+\n)*?[ \t]*+-[ \t]++#[^\s#])",
    re.MULTILINE | re.IGNORECASE,
)


class Lines(NamedTuple):
    """The properties of a header that was read line by line.

    Attributes:
        properties: By name.
        complete: False where lines were left over, which must be kept as text.
    """

    properties: Properties
    complete: bool


@dataclass(slots=True)
class _Block:
    """One property as it stands in the header: its first line's value, all lines, and those after the first."""

    name: str
    value: str
    lines: list[str]
    more: list[str] = field(default_factory=list)


def read(header: str, load: Load, sign: str = ":") -> Lines:
    """Read what can be read of a header.

    Args:
        header: The header without its fences.
        load: Reads a part of it as its language has it. Returns properties, and a problem where there is one.
        sign: What stands between a name and its value, ``:`` or ``=``.
    """
    blocks, text_lines = _blocks(header, sign)
    if text_lines >= max(1, len(blocks)):
        return Lines({}, False)
    properties: Properties = {}
    chars = 0
    for number, block in enumerate(blocks):
        loaded = _loaded(block, load) if number < MAX_LOADED and chars < MAX_LOADED_CHARS else None
        if loaded is None:
            loaded = {block.name: _as_written(block)}
        chars += sum(map(_chars, loaded.values()))
        properties.update(loaded)
    return Lines(properties, not text_lines and (bool(properties) or not header.strip()))


def needs_it(header: str) -> str:
    """Return why a header that YAML takes says something else than was meant, or nothing."""
    if TEMPLATE in header and _PLACEHOLDER.search(header):
        return "they hold placeholders of a template"
    if "#" in header and _COMMENTED_TAG.search(header):
        return "a # begins a comment in YAML, not a tag"
    return ""


def _blocks(header: str, sign: str) -> tuple[list[_Block], int]:
    """Return the properties, and how many lines belong to none."""
    blocks: list[_Block] = []
    text_lines = 0
    for line in header.split("\n"):
        if (start := _STARTS[sign].match(line)) is not None:
            blocks.append(_Block(start[1] or start[2], start[3].strip(), [line]))
        elif not line.strip() or line.startswith("#") or (sign == "=" and _TABLE.fullmatch(line)):
            pass
        elif blocks and (line.startswith(_CONTINUED) or line == "-"):
            blocks[-1].lines.append(line)
            blocks[-1].more.append(line.strip())
        else:
            text_lines += 1
    return blocks, text_lines


def _loaded(block: _Block, load: Load) -> Properties | None:
    text = "\n".join(block.lines) + "\n"
    if TEMPLATE in text or ("#" in text and block.name.lower() in ("tag", "tags")):
        return None
    properties, problem = load(text)
    if problem and "\t" in text:
        properties, problem = load(text.replace("\t", "  "))
    return None if problem or not properties else properties


def _as_written(block: _Block) -> str | tuple[str, ...]:
    if block.more and not block.value and all(line.startswith("-") for line in block.more):
        return _items(line[1:] for line in block.more)
    first = "" if _BLOCK_MARK.fullmatch(block.value) else block.value
    text = " ".join(filter(None, (first, *block.more)))
    if text.startswith("[") and text.endswith("]"):
        is_link = text.startswith("[[")
        items = _items(_ITEM.findall(text if is_link else text[1:-1]))
        return items[0] if is_link and len(items) == 1 else items
    return plain_text(_unquoted(text))


def _items(written: Iterable[str]) -> tuple[str, ...]:
    return tuple(filter(None, (plain_text(_unquoted(item.strip())) for item in written)))


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _chars(value: str | tuple[str, ...]) -> int:
    return len(value) if isinstance(value, str) else sum(map(len, value))
