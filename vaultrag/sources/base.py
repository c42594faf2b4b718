"""Obsidian's bases: names, filters, formulas and columns of a table of notes, and not what it shows. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from vaultrag.sources.source_text import Section, SourceText, Unreadable, plain

_MAX_DEPTH = 20


def read_base(data: bytes) -> SourceText:
    """Read a base: each view a section, what holds for all of them before."""
    if data.count(b"&") > 100 or data.count(b"*") > 10_000:
        raise Unreadable("it refers to itself too often")
    try:
        content = yaml.safe_load(data.decode("utf-8", "replace"))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Unreadable("damaged: it is no YAML") from error
    if content is None:
        return SourceText(())
    if not isinstance(content, dict):
        raise Unreadable("damaged: it is no base")
    views = content.pop("views", None)
    sections = [Section("", _text(content))]
    for view in views if isinstance(views, list) else ():
        if isinstance(view, dict):
            name, kind = str(view.pop("name", "")), str(view.pop("type", ""))
            sections.append(Section(f"View {name}".strip(), "\n".join(filter(None, (plain(kind), _text(view))))))
    return SourceText(sections)


def _text(value: object) -> str:
    return "\n".join(_lines(value, "", 0))


def _lines(value: object, name: str, depth: int) -> Iterator[str]:
    lead = f"{name}: " if name else ""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lines(inner, f"{name} {key}".strip(), depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _lines(inner, name, depth + 1)
    elif value is not None:
        yield plain(f"{lead}{value}")
