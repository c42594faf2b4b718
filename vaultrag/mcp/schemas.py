"""JSON Schema as hosts want it: an object at the root, nothing referred to, nothing that may be null."""

from __future__ import annotations

from typing import Any

import msgspec


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of a struct, with every ``$ref`` replaced by its target."""
    _, definitions = msgspec.json.schema_components([kind])
    inlined: dict[str, Any] = _inlined(definitions[kind.__name__], definitions)
    return inlined | {"properties": inlined.get("properties", {}), "required": inlined.get("required", [])}


def _inlined(part: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_inlined(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        beside = {key: value for key, value in part.items() if key != "$ref"}
        return _inlined(definitions[part["$ref"].rpartition("/")[2]], definitions) | beside
    # What a struct is called here tells a model nothing; a property that is called "title" is no title.
    return {
        key: _inlined(value, definitions) for key, value in part.items() if key != "title" or isinstance(value, dict)
    }
