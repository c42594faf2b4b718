"""The page of the socket's methods, from the method table."""

from __future__ import annotations

import typing

import msgspec

from tests.docs.attributes import attribute_docs
from vaultrag import errors
from vaultrag.rpc.methods import METHODS, NOTIFICATIONS, Method
from vaultrag.rpc.protocol import CANCEL, PARTIAL, PROTOCOL_MAX, PROTOCOL_MIN

HEAD = f"""# The socket's methods

JSON-RPC 2.0, one JSON text a line, UTF-8, both ways; protocol {PROTOCOL_MIN} to {PROTOCOL_MAX}. The socket's path
stands in `daemon.json` in vaultrag's data folder (`~/.local/share/obsidian-rag/` on Linux). `hello` is the first call
on a connection.

- Parameters are an object with names. An unknown name is an error, not ignored.
- An error has a `code`, a `message`, and in `data` its `kind` (see [ERRORS.md](../ERRORS.md)) and a `hint`: what helps.
- `{PARTIAL}` is a notification, `{{"id": <the call's id>, "answer": …}}`, sent before the answer where asked for.
- `{CANCEL}` with `{{"id": …}}` takes a call back. A cancelled call is answered all the same, with the error `Cancelled`
  (or with its result, if that was quicker).
- A client through which a model reads says `"reader": "agent"` in `hello`. From then on that connection gets answers
  as if the private notes (`private: true`, and the setting `[privacy]`) did not exist, and may call only what is for
  agents.
- Over TCP the first line must be `hello` with the token. To anything else the daemon says only that, and hangs up.
- `subscribe` has `status/changed` and `notes/changed` sent, until the connection ends.
- Lines are 1-based and inclusive; spans and columns count code points, or UTF-16 units or bytes for a client that says
  so in `hello`.

```
→ {{"jsonrpc":"2.0","id":1,"method":"hello","params":{{"client":"example/1"}}}}
→ {{"jsonrpc":"2.0","id":2,"method":"search","params":{{"query":"pump seal","limit":3}}}}
```
"""


def page() -> str:
    schemas, components = msgspec.json.schema_components(
        [
            *(kind for method in METHODS.values() for kind in (method.params, method.result)),
            *(kind for kind, _ in NOTIFICATIONS.values()),
        ],
        ref_template="#{name}",
    )
    del schemas
    parts = [HEAD]
    parts += [_method(method) for method in METHODS.values()]
    parts.append("## Results\n")
    taken = {method.params.__name__ for method in METHODS.values()}
    parts += [_shape(name, schema) for name, schema in sorted(components.items()) if name not in taken]
    return "\n".join(parts)


def _method(method: Method) -> str:
    docs = attribute_docs(method.params)
    lines = [f"## {method.name}\n", f"{method.summary}\n"]
    fields = msgspec.structs.fields(method.params)
    if fields:
        lines.append("| parameter | type | default | |\n|---|---|---|---|")
        for field in fields:
            default = "required" if field.required else f"`{msgspec.json.encode(field.default).decode()}`"
            lines.append(f"| `{field.name}` | {_type(field.type)} | {default} | {docs.get(field.name, '')} |")
        lines.append("")
    lines.append(f"Result: {_result(method.result)}.\n")
    if not method.agents:
        lines.append("Not for agents.\n")
    if method.errors:
        codes = ", ".join(f"`{name}` ({getattr(errors, name).code})" for name in method.errors)
        lines.append(f"Errors: {codes}.\n")
    return "\n".join(lines)


def _type(kind: object) -> str:
    if typing.get_origin(kind) is typing.Literal:
        return " or ".join(f"`{value}`" for value in typing.get_args(kind))
    names = {str: "text", int: "whole number", bool: "true or false", float: "number"}
    return names.get(kind, str(kind)) if isinstance(kind, type) else str(kind)


def _result(kind: object) -> str:
    if typing.get_origin(kind) is tuple:
        return f"a list of {_result(typing.get_args(kind)[0])}"
    name = getattr(kind, "__name__", str(kind))
    return f"[{name}](#{name.lower()})"


def _shape(name: str, schema: dict[str, typing.Any]) -> str:
    lines = [f"### {name}\n"]
    if text := schema.get("description", ""):
        first = text.split("\n\n")[0]
        lines.append(" ".join(first.replace("``", "`").split()) + "\n")
    if "enum" in schema:
        lines.append(", ".join(f"`{value}`" for value in schema["enum"]) + "\n")
    properties = schema.get("properties", {})
    if properties:
        lines.append("| field | type |\n|---|---|")
        lines += [f"| `{field}` | {_json_type(part)} |" for field, part in properties.items()]
        lines.append("")
    return "\n".join(lines)


def _json_type(schema: dict[str, typing.Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].lstrip("#")
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_json_type(part) for part in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    kind = str(schema.get("type", "any"))
    if kind == "array" and "items" in schema:
        return f"list of {_json_type(schema['items'])}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_json_type(schema['additionalProperties'])}"
    return kind
