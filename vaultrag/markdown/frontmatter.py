"""A note's properties: find the header, read its YAML (or TOML) as text.

Two things are decided here that a plain ``yaml.safe_load`` decides otherwise:

- Values are kept *as written*. ``1.10`` stays ``1.10`` and ``007`` stays ``007``; only ``true``/``false``, null and
  timestamps are brought into one spelling. So no number is too long to convert and no 30th of February raises.
- The document is built from the parser's events, without recursion and with limits on depth and on the size of what
  aliases blow up to. A header can be wrong, but it can neither raise nor take long.

A header that YAML refuses is read line by line (``lenient_header``), and the problem is told in words. What belongs to
no property stays in the note's text, so that no word is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import yaml
from frontmatter.default_handlers import YAMLHandler
from yaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

from vaultrag.markdown import lenient_header, plain_header, toml_header
from vaultrag.markdown.lenient_header import Properties
from vaultrag.markdown.plain_header import plain_text

try:
    from yaml import CSafeLoader as _Base
except ImportError:  # a PyYAML built without libyaml: same events, ten times slower
    from yaml import SafeLoader as _Base  # type: ignore[assignment]

MAX_HEADER_CHARS = 64 * 1024
"""A longer header is not read. Real ones have a few hundred characters."""

MAX_DEPTH = 24
"""Maps and lists within each other."""

MAX_FLAT_CHARS = 4 * MAX_HEADER_CHARS
"""What the properties may add up to once aliases are written out."""

FIRST_HEADER_LINE = 2
"""File line of the header's first line: line 1 is the opening fence."""

TOML = "+++"
"""Opens and closes a header in TOML; nothing else does."""

_OPENING = re.compile(r"(?:---|\+\+\+)[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE)
_CLOSING_TOML = re.compile(r"^\+\+\+[ \t]*$\n?", re.MULTILINE)

_SALVAGED = re.compile(
    r"""(?:^|[{,])[ \t]*["']?(private|always)["']?[ \t]*(?::(?=[ \t]|$)|=)[ \t]*([^,}\n]*)""",
    re.MULTILINE | re.IGNORECASE,
)
_MEANT = re.compile(r"""^[ \t]*["']?private["']?[ \t]*[:：=][ \t]*([^\s:=][^\n]*)""", re.MULTILINE | re.IGNORECASE)
"""A line that means to hide the note, also where it is no YAML for want of a space."""
_GLUED = re.compile(r"""^["']?private["']?[ \t]*(?::(?=[^\s:])|[：=])[^\n]*""", re.MULTILINE | re.IGNORECASE)
_LATE = re.compile(r"(?:[ \t]*\n)+(?:---|\+\+\+)[ \t]*\n")

_HANDLER = YAMLHandler()

_Value: TypeAlias = "str | list[_Value] | _FlowList | dict[str, _Value]"


class Header(NamedTuple):
    """A header's properties, and how sound they are.

    Attributes:
        properties: By name.
        problem: What is wrong with it, as one sentence for a person; else empty.
        complete: False where some of it belongs to no property, and must be kept as text.
    """

    properties: Properties
    problem: str = ""
    complete: bool = True


_NO_HEADER = Header({})


class _FlowList(list[Any]):
    """A list written in brackets: the only kind that may be an unquoted ``[[wikilink]]``."""


class _TooMuch(ValueError):
    """The header is valid YAML but beyond the limits."""


def split(text: str) -> tuple[str | None, str, int]:
    """Take a note apart into its header and its body.

    Only a bare ``---`` (or ``+++``) as the very first line opens a header, as in Obsidian: ``--- start-multi-column``
    and ``----`` are text. A header that is never closed is text, too.

    Args:
        text: The whole file, without byte-order mark, with ``\\n`` line ends.

    Returns:
        (header without its fences or None, body, file line of the body's first line).
    """
    if not text.startswith(("---", TOML)):
        return None, text, 1
    opening = _OPENING.match(text)
    closing = (_CLOSING_TOML if text[0] == "+" else _CLOSING).search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return None, text, 1
    header = text[opening.end() : closing.start()]
    return header, text[closing.end() :], FIRST_HEADER_LINE + 1 + header.count("\n")


def read(text: str) -> tuple[Header, str, int]:
    """Read a note's header, and find its body. Never raises.

    Returns:
        (header, body, file line of the body's first line). A header that is not ``complete`` is part of the body.
    """
    if not text.startswith(("---", TOML)) and "rivate" not in text and "RIVATE" not in text:
        return _NO_HEADER, text, 1
    written, body, body_line = split(text)
    if written is None:
        properties = salvage(text) if text.startswith(("---", TOML)) else {}
        problem = "the header is never closed; its private was heeded all the same" if "private" in properties else ""
        header = Header(properties, problem)
    else:
        header = parse(written, toml=text[0] == "+")
        if header.problem:
            marks = salvage(written)
            others = {name: value for name, value in header.properties.items() if name.lower() not in marks}
            header = header._replace(properties={**others, **marks})
        if not header.complete:
            body, body_line = text, 1
    if "rivate" in text or "RIVATE" in text:
        properties, problem = _amended(text, written, header.properties)
        header = header._replace(properties=properties, problem="; ".join(filter(None, (header.problem, problem))))
    return header, body, body_line


def body_of(text: str) -> tuple[str, int]:
    """Return a note's body, and the file line of its first line: ``read`` without the properties."""
    header, body, body_line = split(text)
    if header is None or _is_plain(header) or parse(header, toml=text[0] == "+").complete:
        return body, body_line
    return text, 1


@lru_cache(maxsize=128)
def _is_plain(header: str) -> bool:
    return plain_header.read(header) is not None


def parse(header: str, *, toml: bool = False) -> Header:
    """Read a header's properties. Never raises.

    Nested maps are flattened with dots (``author.name``); a list becomes a tuple of texts; ``[[x]]``, which YAML takes
    for a list in a list, becomes the text ``[[x]]`` again.
    """
    if len(header) > MAX_HEADER_CHARS:
        limit = f"{MAX_HEADER_CHARS // 1024} KB"
        return Header({}, f"properties not read: they are longer than {limit}", complete=False)
    if toml:
        properties, reason, line = toml_header.read(header)
        return _line_by_line(header, _placed(reason, line), _load_toml, "=") if reason else Header(properties)
    if (plain := plain_header.read(header)) is not None:
        return Header(plain)
    properties, reason = _parse_yaml(header)
    if reason := reason or lenient_header.needs_it(header):
        return _line_by_line(header, reason, _parse_yaml, ":")
    return Header(properties, complete=bool(properties) or not header.strip())


def _line_by_line(header: str, reason: str, load: lenient_header.Load, sign: str) -> Header:
    lines = lenient_header.read(header, load, sign)
    how = "properties read line by line" if lines.properties else "properties not read"
    return Header(lines.properties, f"{how}: {reason}", lines.complete)


def _load_toml(text: str) -> tuple[Properties, str]:
    properties, reason, _ = toml_header.read(text)
    return properties, reason


def _parse_yaml(header: str) -> tuple[Properties, str]:
    try:
        document = _HANDLER.load(header, Loader=_TextLoader)
        if isinstance(document, dict):
            return _flatten(document), ""
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return {}, _placed(error.problem or error.context or "not valid YAML", mark.line + 1 if mark else 0)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return {}, str(error) if isinstance(error, _TooMuch) else "they hold characters that YAML does not allow"
    return ({}, "") if not document else ({}, "they are not `name: value` lines")


def salvage(text: str) -> Properties:
    """Read what must be known even of a header that cannot be read, or that is never closed.

    Whether it says ``private``, so that a slip shows no secret, and ``always``, so that a slip drops no rule. A line
    that means ``private`` counts wherever it stands; ``always`` only where a header would be.

    Args:
        text: The header, or a file that begins with an opening fence and has no closing one.
    """
    opening = _OPENING.match(text)
    whole = text = text[opening.end() :] if opening else text
    if opening:
        text = text.partition("\n\n")[0]
    found: dict[str, list[str]] = {}
    for name, value in _SALVAGED.findall(text):
        found.setdefault(name.lower(), []).append(_bare(value))
    for value in _MEANT.findall(whole):
        found.setdefault("private", []).append(_bare(value))
    return {name: tuple(values) for name, values in found.items()}


def _amended(text: str, header: str | None, properties: Properties) -> tuple[Properties, str]:
    """Add a ``private`` that was meant and that YAML does not see, and say what is to be mended.

    Returns:
        (properties, problem): those given and no problem, where nothing was meant.
    """
    if header is None:
        if (late := _LATE.match(text)) is None:
            return properties, ""
        late_text = text[late.end() - len(late[0].lstrip()) :]
        header = split(late_text)[0]
        if header is None:
            return properties, ""
        said = parse(header, toml=late_text[0] == "+").properties or salvage(header)
        if not (mark := said.get("private")):
            return properties, ""
        problem = "the header does not begin in the first line; its private was heeded all the same"
        return {**properties, "private": mark}, problem
    if "private" in map(str.casefold, properties) or (glued := _GLUED.search(header)) is None:
        return properties, ""
    mended = {**properties, "private": salvage(glued[0])["private"]}
    return mended, "no space after private: in the header; it was heeded all the same"


def _bare(value: str) -> str:
    return value.split(" #")[0].strip(" \t\"'")


def _placed(reason: str, line: int) -> str:
    """Name the file's line to a reason that names the header's, counted from 1; 0 is unknown."""
    return f"{reason} (line {line - 1 + FIRST_HEADER_LINE})" if line else reason


class _TextLoader(_Base):
    """A YAML loader whose document is made of text, lists and maps only."""

    def get_single_data(self) -> Any:
        root: list[_Value] = []
        stack: list[_Value] = [root]
        keys: list[str | None] = [None]  # the key a map on the stack waits to give a value to
        anchors: dict[str, _Value] = {}
        opened: list[Any] = []
        next_event: Callable[[], Any] = self.get_event
        while (event := next_event()) is not None:
            kind = type(event)
            if kind is ScalarEvent:
                value: _Value = _scalar(event)
                if event.anchor:
                    anchors[event.anchor] = value
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if len(stack) > MAX_DEPTH:
                    raise _TooMuch(f"they are nested more than {MAX_DEPTH} deep")
                stack.append(_collection(event))
                keys.append(None)
                opened.append(event.anchor)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value = stack.pop()
                keys.pop()
                # Named only now that it is complete: an alias inside it finds nothing, so nothing holds itself.
                if (anchor := opened.pop()) is not None:
                    anchors[anchor] = value
            elif kind is AliasEvent:
                value = anchors.get(event.anchor, "")
            else:
                continue
            _place(value, stack[-1], keys)
        return root[0] if root else ""


def _collection(event: Any) -> _Value:
    if isinstance(event, MappingStartEvent):
        return {}
    return _FlowList() if event.flow_style else []


def _place(value: _Value, parent: _Value, keys: list[str | None]) -> None:
    """Put a finished value into the collection it stands in; in a map, every other value is a key."""
    if isinstance(parent, list):
        parent.append(value)
    elif isinstance(parent, dict):
        if (key := keys[-1]) is None:
            keys[-1] = value if isinstance(value, str) else ""
            return
        keys[-1] = None
        if key == "<<" and isinstance(value, dict):
            for name, inherited in value.items():
                parent.setdefault(name, inherited)
        else:
            parent[key] = value


def _scalar(event: Any) -> str:
    text: str = event.value
    if event.style:  # quoted or a block: text, whatever it looks like
        return text.strip()
    return plain_text(text)


class _Flattening:
    """Writes out maps in maps. The budget is what stops a header whose aliases double at every line."""

    def __init__(self) -> None:
        self.budget = MAX_FLAT_CHARS
        self.single: dict[str, str] = {}
        self.lists: dict[str, list[str]] = {}

    def add(self, name: str, value: _Value, in_list: bool = False) -> None:
        if isinstance(value, list) and (link := _wikilink(value)):
            value = link
        self.budget -= 1 + len(name) + (len(value) if isinstance(value, str) else 0)
        if self.budget < 0:
            raise _TooMuch("their aliases add up to too much text")
        if isinstance(value, dict):
            for key, inner in value.items():
                self.add(f"{name}.{key}", inner, in_list)
        elif isinstance(value, list):
            if not any(isinstance(inner, dict) for inner in value):
                self.lists.setdefault(name, [])  # an empty list is a value, too
            for inner in value:
                self.add(name, inner, True)
        elif not in_list:
            self.single[name] = value
        elif value:
            self.lists.setdefault(name, []).append(value)


def _flatten(document: dict[str, _Value]) -> Properties:
    flat = _Flattening()
    for key, value in document.items():
        flat.add(key, value)
    return {**flat.single, **{name: tuple(values) for name, values in flat.lists.items()}}


def _wikilink(value: list[_Value]) -> str:
    if len(value) != 1 or not isinstance(value, _FlowList) or not isinstance(value[0], _FlowList):
        return ""
    names = [name for name in value[0] if isinstance(name, str)]
    return f"[[{', '.join(names)}]]" if names and len(names) == len(value[0]) else ""
