"""JSON Schema to TypeScript, for the few shapes that the method table uses."""

from __future__ import annotations

from typing import Any


def declaration(name: str, schema: dict[str, Any], *, optional: bool) -> str:
    """An exported type.

    Args:
        name: Of the type.
        schema: Its definition.
        optional: Fields that are not required may be left out (parameters); else they are always there (results).
    """
    said = f"/** {schema['description']} */\n" if schema.get("description") else ""
    if "enum" in schema:
        return f"{said}export type {name} = {_type(schema)};\n"
    required = set(schema.get("required", ())) if optional else set(schema.get("properties", ()))
    fields = [
        f"  {field}{'' if field in required else '?'}: {_type(part)};"
        for field, part in schema.get("properties", {}).items()
    ]
    if not fields:
        return f"{said}export type {name} = Record<string, never>;\n"
    return f"{said}export interface {name} {{\n" + "\n".join(fields) + "\n}\n"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[1]
    if "anyOf" in schema:
        return " | ".join(_type(part) for part in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f"'{value}'" for value in schema["enum"])
    kind = schema.get("type", "unknown")
    if kind == "array":
        item = _type(schema.get("items", {}))
        return f"({item})[]" if "|" in item else f"{item}[]"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"Record<string, {_type(schema['additionalProperties'])}>"
    return {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}.get(
        str(kind), "unknown"
    )
