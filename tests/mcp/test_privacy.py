"""Private notes and an agent over MCP: a vault that has them answers like one that never had."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tests.guard.conftest import PRIVATE, VISIBLE
from tests.guard.test_privacy import QUERIES, no_trace, same
from tests.mcp.conftest import Agents
from tests.support.daemons import RunningDaemon
from vaultrag.mcp import resources


@pytest.fixture
def both(twins: tuple[RunningDaemon, RunningDaemon]) -> tuple[Agents, Agents]:
    """Agents at the vault with private notes, and at the one that never had any."""
    return Agents(twins[0].home), Agents(twins[1].home)


async def everything(client: Client, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """The answers of tools, failures too, as plain values."""
    return [(await client.call_tool(name, given)).model_dump(mode="json") for name, given in calls]


def compare(both: tuple[Agents, Agents], calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Ask both; they must say the same, and nothing of a private note but what the question itself said."""
    knowing, unknowing = (agents.run(lambda client: everything(client, calls)) for agents in both)
    for (name, given), one, other in zip(calls, knowing, unknowing, strict=True):
        same(one["structured_content"], other["structured_content"], name)
        assert one["is_error"] == other["is_error"]
        asked = str(given.get("query", given.get("path", "")))
        no_trace(one["structured_content"], but=asked)
        if one["is_error"]:
            assert one["content"] == other["content"]
    return knowing


def test_no_search_knows_of_them(both: tuple[Agents, Agents]) -> None:
    """Whatever is searched for: the same notes, counts, states and remarks as without private notes."""
    for answer in compare(both, [("search_notes", {"query": query, "limit": 50}) for query in QUERIES]):
        assert {note["path"] for note in answer["structured_content"]["notes"]} <= set(VISIBLE)


@pytest.mark.parametrize("tool", ["read_note", "related_notes"])
def test_no_path_reaches_them(both: tuple[Agents, Agents], tool: str) -> None:
    """By path, citation, name, slip or detour, a private note is answered to the letter like one that never was."""
    paths = [
        form
        for path in PRIVATE
        for form in (
            path,
            path.removesuffix(".md"),
            f"{path}#L1-L3",
            path.lower(),
            f"./{path}",
            f"Notes/../{path}",
            path[1:],
        )
    ]
    for answer in compare(both, [(tool, {"path": path}) for path in paths]):
        assert answer["is_error"]


def test_no_list_or_count_has_them(both: tuple[Agents, Agents]) -> None:
    """Recent notes, related notes, rules and the state of the vault are those of the visible notes."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("recent_notes", {"limit": 50}), ("vault_rules", {}), ("vault_status", {}), ("vault_timeline", {"limit": 50}),
        *(("related_notes", {"path": path, "limit": 50}) for path in VISIBLE),
        *(("read_note", {"path": path}) for path in VISIBLE),
        *(("read_note", {"path": path, "shape": "compact"}) for path in VISIBLE),
    ]  # fmt: skip
    answers = [one["structured_content"] for one in compare(both, calls)]
    assert {note["path"] for note in answers[0]["notes"]} == set(VISIBLE)
    assert answers[0]["total"] == answers[2]["notes"] == len(VISIBLE)


def test_no_resource_is_one(both: tuple[Agents, Agents]) -> None:
    """They are not listed, cannot be read by their URI, and stand in no instruction."""

    async def talk(client: Client) -> Any:
        listed = [resource.model_dump(mode="json") for resource in (await client.list_resources()).resources]
        refused = []
        for path in PRIVATE:
            with pytest.raises(MCPError) as caught:
                await client.read_resource(resources.uri_of(path))
            refused.append(caught.value.error.message)
        return listed, refused, client.instructions

    one, other = (agents.run(talk) for agents in both)
    assert one == other
    no_trace([one[0], one[2]])


def test_the_text_tells_no_more_than_the_fields(both: tuple[Agents, Agents]) -> None:
    """What a model reads as text has no trace of them either."""
    calls: list[tuple[str, dict[str, Any]]] = [("search_notes", {"query": "seal winter plan"}), ("recent_notes", {})]
    for answer in compare(both, calls):
        no_trace(answer["content"])


def test_an_agent_cannot_turn_into_a_person(both: tuple[Agents, Agents]) -> None:
    """No argument of any tool says who is asking."""

    async def talk(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            assert "person" not in json.dumps(tool.model_dump(mode="json")["input_schema"])
            for name in ("reader", "vault", "private", "agent"):
                result = await client.call_tool(tool.name, {"path": "Blood.md", "query": "zanzibar", name: "person"})
                assert result.is_error

    both[0].run(talk)
