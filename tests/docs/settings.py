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
        kind = hints[field.name]
        docs = attribute_docs(kind)
        parts.append(f"## [{field.name}]\n\n{(kind.__doc__ or '').strip()}\n")
        parts.append("| setting | default | |\n|---|---|---|")
        for setting in dataclasses.fields(kind):
            parts.append(f"| `{setting.name}` | {_value(setting.default)} | {docs[setting.name]} |")
        parts.append("")
    return "\n".join(parts)


def _value(value: object) -> str:
    if value is None:
        return "unset"
    return f"`{json.dumps(list(value) if isinstance(value, tuple) else value)}`"
