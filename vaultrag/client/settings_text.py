"""Settings as TOML, each with the sentence below it in ``config``, the one place where settings are explained."""

from __future__ import annotations

import ast
import functools
import inspect
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from vaultrag import config
from vaultrag.config import Settings


def as_toml(settings: Settings, *, commented: bool = False) -> str:
    """Return a settings file that holds these values.

    Args:
        settings: The values.
        commented: Put every setting in a comment, for a file to begin with: later defaults then take effect.
    """
    return "\n".join(_lines(settings, commented)).strip() + "\n"


def _lines(settings: Settings, commented: bool) -> Iterator[str]:
    for section in fields(settings):
        yield from _table(section.name, getattr(settings, section.name), commented)


def _table(name: str, table: Any, commented: bool) -> Iterator[str]:
    texts = explained()[type(table).__name__]
    yield f"# {texts['']}"
    yield f"[{name}]"
    inner = [setting.name for setting in fields(table) if is_dataclass(getattr(table, setting.name))]
    for setting in fields(table):
        if setting.name in inner:
            continue
        yield f"# {texts.get(setting.name, '')}"
        value = getattr(table, setting.name)
        unset = value is None
        shown = f"{setting.name} = {toml_value('' if unset else value)}"
        yield f"# {shown}" if commented or unset else shown
    yield ""
    for below in inner:  # TOML wants a table's own settings before the tables in it
        yield from _table(f"{name}.{below}", getattr(table, below), commented)


def toml_value(value: Any) -> str:
    """Return a text, number, truth value or tuple of them as TOML."""
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


@functools.cache
def explained() -> dict[str, dict[str, str]]:
    """Class name to setting to its sentence, and under the empty name the class's own."""
    return {
        node.name: {"": _first_line(ast.get_docstring(node) or ""), **dict(_sentences(node))}
        for node in ast.parse(inspect.getsource(config)).body
        if isinstance(node, ast.ClassDef)
    }


def _sentences(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, after in zip(node.body, node.body[1:], strict=False):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            yield statement.target.id, _first_line(str(after.value.value))


def _first_line(text: str) -> str:
    return " ".join(text.split())
