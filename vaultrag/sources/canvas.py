"""Obsidian's canvases, after the published JSON Canvas 1.0: cards, groups and what the lines between them say. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from vaultrag.sources.source_text import Section, SourceText, Unreadable, one_line, plain

Node = Mapping[str, Any]


def read_canvas(data: bytes) -> SourceText:
    """Read a canvas: each group a section with its cards, from the top down and from left to right."""
    try:
        content = msgspec.json.decode(data or b"{}")
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"damaged: it is no JSON ({error})") from error
    if not isinstance(content, dict):
        raise Unreadable("damaged: it is no canvas")
    nodes = sorted(_objects(content.get("nodes")), key=_place)
    groups = [node for node in nodes if node.get("type") == "group"]
    cards = [node for node in nodes if node.get("type") != "group"]
    within = {id(card): _smallest_around(card, groups) for card in cards}
    sections = [Section("", _cards(card for card in cards if within[id(card)] is None))]
    for group in groups:
        inside = _cards(card for card in cards if within[id(card)] is group)
        if inside or _text(group, "label"):
            sections.append(Section(_text(group, "label"), inside))
    lines = list(_lines(_objects(content.get("edges")), nodes))
    if lines:
        sections.append(Section("", "\n".join(lines)))
    return SourceText(sections)


def _cards(cards: Iterable[Node]) -> str:
    return "\n\n".join(filter(None, map(_card, cards)))


def _card(node: Node) -> str:
    if node.get("type") == "text":
        return _text(node, "text")  # Markdown already
    if node.get("type") == "file" and (file := _text(node, "file")):
        return f"[[{file}{_text(node, 'subpath')}]]"
    if url := _text(node, "url"):
        return f"<{url}>"
    return ""


def _lines(edges: Iterable[Node], nodes: Iterable[Node]) -> Iterable[str]:
    """Yield what the lines say that have a label."""
    named = {_text(node, "id"): _name(node) for node in nodes}
    for edge in edges:
        if label := one_line(_text(edge, "label")):
            ends = (named.get(_text(edge, end), "") for end in ("fromNode", "toNode"))
            yield plain(" → ".join(filter(None, [*ends])) + f": {label}")


def _name(node: Node) -> str:
    name = _text(node, "label") or _text(node, "file") or _text(node, "text").strip().split("\n")[0]
    return one_line(name.lstrip("#"))[:80]


def _smallest_around(card: Node, groups: Iterable[Node]) -> Node | None:
    x, y = _number(card, "x") + _number(card, "width") / 2, _number(card, "y") + _number(card, "height") / 2
    around = [
        group
        for group in groups
        if _number(group, "x") <= x <= _number(group, "x") + _number(group, "width")
        and _number(group, "y") <= y <= _number(group, "y") + _number(group, "height")
    ]
    return min(around, key=lambda group: _number(group, "width") * _number(group, "height"), default=None)


def _place(node: Node) -> tuple[float, float]:
    return _number(node, "y"), _number(node, "x")


def _objects(value: object) -> list[Node]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(node: Node, name: str) -> str:
    value = node.get(name)
    return value if isinstance(value, str) else ""


def _number(node: Node, name: str) -> float:
    value = node.get(name)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e12 else 0.0
