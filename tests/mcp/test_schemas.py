"""The schemas of the tools: what hosts can take, and what the tools keep to."""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from mcp.client.client import Client
from mcp_types import Tool

from tests.mcp.conftest import CALLS, Agents

# Hosts generate code from schemas; a property must not be a word of the languages they do it in.
RESERVED = {*keyword.kwlist, *keyword.softkwlist, "$ref", "$defs"}
OTHERS = """
    abstract arguments boolean break byte case catch char const constructor debugger default delete do double enum eval
    export extends false final float fn for func function goto id impl implements instanceof int interface let long map
    mod mut native new null package private protected prototype pub public range ref schema select self short static
    struct super switch synchronized this throw throws trait transient true typeof unsafe use var void volatile where
"""
RESERVED |= set(OTHERS.split())


@pytest.fixture(scope="module")
def described(agents: Agents) -> dict[str, Tool]:
    async def talk(client: Client) -> dict[str, Tool]:
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    return agents.run(talk)


def walk(schema: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        yield where, schema
        for key, value in schema.items():
            yield from walk(value, f"{where}.{key}")
    elif isinstance(schema, list):
        for number, value in enumerate(schema):
            yield from walk(value, f"{where}[{number}]")


def test_there_are_seven_tools(described: dict[str, Tool]) -> None:
    """Few tools, each a verb or a thing of the vault, with a description and a title."""
    assert list(described) == [
        "search_notes", "read_note", "related_notes", "recent_notes", "vault_timeline", "vault_rules",
        "vault_status",
    ]  # fmt: skip
    assert all(tool.title and tool.description for tool in described.values())


def test_every_tool_only_reads(described: dict[str, Tool]) -> None:
    """A host may call every tool without asking: none changes anything, none leaves the machine."""
    for tool in described.values():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.open_world_hint is False


def test_schemas_are_plain(described: dict[str, Tool]) -> None:
    """An object at the root with properties and a list of what is required; no references, no null, no choices."""
    for tool in described.values():
        for schema in (tool.input_schema, tool.output_schema):
            assert schema is not None
            assert schema["type"] == "object"
            assert isinstance(schema["properties"], dict)
            jsonschema.Draft202012Validator.check_schema(schema)
            for where, part in walk(schema):
                assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf", "not"} & set(part), f"{tool.name}{where}"
                assert part.get("type") != "null", f"{tool.name}{where}"
                if "properties" in part and isinstance(part["properties"], dict) and part.get("type") == "object":
                    assert isinstance(part.get("required"), list), f"{tool.name}{where}"
                    assert set(part["required"]) <= set(part["properties"]), f"{tool.name}{where}"


def test_no_property_has_a_reserved_name(described: dict[str, Tool]) -> None:
    """Properties are identifiers that no language keeps for itself."""
    for tool in described.values():
        for schema in (tool.input_schema, tool.output_schema):
            for where, part in walk(schema):
                properties = part.get("properties")
                if part.get("type") == "object" and isinstance(properties, dict):
                    for name in properties:
                        assert name.isidentifier(), f"{tool.name}{where}: {name}"
                        assert name not in RESERVED, f"{tool.name}{where}: {name}"


def test_arguments_left_out_have_defaults(described: dict[str, Tool]) -> None:
    """What is not required has a default of its own type."""
    for tool in described.values():
        for name, schema in tool.input_schema["properties"].items():
            if name not in tool.input_schema["required"]:
                jsonschema.validate(schema["default"], schema)


def test_the_descriptions_are_short(described: dict[str, Tool]) -> None:
    """All tools together cost a session little: their text is in every prompt."""
    whole = json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in described.values()])
    assert len(whole) < 2_000 * len(described)


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda value: json.dumps(value, ensure_ascii=False))
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_answers_keep_to_their_schema(
    agents: Agents, described: dict[str, Tool], name: str, arguments: dict[str, Any], mode: str
) -> None:
    """Every answer has the form that its tool promises, and nothing besides, in the old protocol and the new one."""
    schema = described[name].output_schema
    assert schema is not None
    result: Any = agents.run(lambda client: client.call_tool(name, arguments), mode)
    assert not result.is_error
    jsonschema.validate(result.structured_content, schema)
    jsonschema.validate(arguments, described[name].input_schema)
    for value, part in pairs(result.structured_content, schema):
        assert set(value) == set(part["properties"])


def pairs(value: Any, schema: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every object in an answer, with the schema that it is held to."""
    if isinstance(value, dict):
        yield value, schema
        for key, part in value.items():
            yield from pairs(part, schema["properties"][key])
    elif isinstance(value, list):
        for part in value:
            yield from pairs(part, schema["items"])
