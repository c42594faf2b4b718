"""Headers in TOML, between two lines ``+++``, as Hugo and Zola write them. Pure.

Values become texts as those of YAML do: tables are flattened with dots, lists become tuples, dates are in ISO form.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from datetime import date, time
from typing import Any

from vaultrag.markdown.lenient_header import Properties

MAX_DEPTH = 24
"""Tables and lists within each other."""

MAX_DOTS = 200
"""In a line with a table in it. ``tomllib`` takes a minute for a name of 30,000 parts."""

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")


def read(header: str) -> tuple[Properties, str, int]:
    """Read a header. Never raises.

    Returns:
        (properties, problem, line): the problem is empty when all went well; the line counts from 1, 0 is unknown.
    """
    if any(map(_is_deep, header.split("\n"))):
        return {}, f"they are nested more than {MAX_DEPTH} deep", 0
    try:
        document = tomllib.loads(header, parse_float=str)
        return _flat(document), "", 0
    except (ValueError, RecursionError) as error:  # tomllib's own fault is a ValueError
        text = str(error)
        place = _PLACE.search(text)
        reason = _PLACE.sub("", text.partition("\n")[0]) if isinstance(error, tomllib.TOMLDecodeError) else ""
        return {}, reason or "it is not valid TOML", int(place[1] or 0) if place else 0


def _is_deep(line: str) -> bool:
    return line.partition("=")[0].count(".") > MAX_DEPTH or ("{" in line and line.count(".") > MAX_DOTS)


def _flat(document: dict[str, Any]) -> Properties:
    single: Properties = {}
    lists: dict[str, list[str]] = {}
    for name, value, in_list in _values("", document, False, 0):
        if value is None:
            lists.setdefault(name, [])
        elif in_list:
            lists.setdefault(name, []).extend(filter(None, (value,)))
        else:
            single[name] = value
    return {**single, **{name: tuple(values) for name, values in lists.items()}}


def _values(name: str, value: Any, in_list: bool, depth: int) -> Iterator[tuple[str, str | None, bool]]:
    """Yield (name, text, whether it is one of several); no text for a list, so that an empty one is known."""
    if depth > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(f"{name}.{key}" if name else key, inner, in_list, depth + 1)
    elif isinstance(value, list):
        if not any(isinstance(inner, dict) for inner in value):
            yield name, None, True
        for inner in value:
            yield from _values(name, inner, True, depth + 1)
    else:
        yield name, _text(value), in_list


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date | time) else str(value).strip()
