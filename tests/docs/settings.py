"""The page of the settings, from the dataclasses that hold them."""

from __future__ import annotations

import dataclasses
import json
import typing

from tests.docs.attributes import attribute_docs
from vaultrag.config import Settings

HEAD = """# Settings

One TOML file, and none is needed: `~/.config/vaultrag/config.toml` on Linux, or `config.toml` in `VAULTRAG_HOME` where
that is set. `vaultrag config` prints what is in force and where the file is. The daemon reads it when it starts.
"""


def page() -> str:
    parts = [HEAD]
    hints = typing.get_type_hints(Settings)
    for field in dataclasses.fields(Settings):
        parts += _table(field.name, hints[field.name])
    return "\n".join(parts)


def _table(name: str, kind: type) -> list[str]:
    docs = attribute_docs(kind)
    inner = {below: hint for below, hint in typing.get_type_hints(kind).items() if dataclasses.is_dataclass(hint)}
    parts = [f"## [{name}]\n\n{(kind.__doc__ or '').strip()}\n", "| setting | default | |\n|---|---|---|"]
    for setting in dataclasses.fields(kind):
        if setting.name not in inner:
            parts.append(f"| `{setting.name}` | {_value(setting.default)} | {docs[setting.name]} |")
    parts.append("")
    for below, hint in inner.items():
        parts += _table(f"{name}.{below}", typing.cast("type", hint))
    return parts


def _value(value: object) -> str:
    if value is None:
        return "unset"
    return f"`{json.dumps(list(value) if isinstance(value, tuple) else value)}`"
