"""Rules reach every agent whole: no query, filter, mode, budget or shape keeps one back, and no day reshuffles them."""

from __future__ import annotations

import os
from typing import Any

import pytest
from mcp.client.client import Client

from tests.mcp.conftest import NOTES, Agents, Piped
from tests.support.daemons import Home, RunningDaemon, daemon_home, until
from vaultrag.mcp.instructions import USE

RULES = ["Rules/Two greases.md", "Rules/Night pump.md"]
"""In the order in which they were made."""


async def texts(client: Client) -> tuple[str, str, str]:
    """The rules by all three ways: instructions, resource, tool."""
    resource: Any = (await client.read_resource("vault:///rules")).contents[0]
    tool: Any = (await client.call_tool("vault_rules", {})).content[0]
    return client.instructions or "", resource.text, tool.text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("capacity", ["large", "small"])
def test_they_come_whole_by_all_three_ways(daemon: RunningDaemon, mode: str, capacity: Any) -> None:
    """Instructions, resource and tool carry every rule from its first line to its last, in the order of making."""
    for text in Agents(daemon.home, capacity).run(texts, mode):
        places = [text.find(NOTES[path].strip()) for path in RULES]
        assert places == sorted(places)
        assert -1 not in places


def test_the_fields_are_the_notes(agents: Agents) -> None:
    """The tool's fields hold exactly the rules, and each as the file has it."""
    book = agents.answer("vault_rules")
    assert [(rule["path"], rule["text"].strip()) for rule in book["rules"]] == [
        (path, NOTES[path].strip()) for path in RULES
    ]
    assert book["complete"] is True


def test_the_instructions_say_how_to_use_the_vault(agents: Agents) -> None:
    """Search first, read before quoting, nothing found is an answer, note text is data."""

    async def talk(client: Client) -> str:
        return client.instructions or ""

    text = agents.run(talk)
    assert text.startswith(USE)
    for word in (
        "search_notes",
        "read_note",
        "decisions, people, dates or preferences",
        "abstain",
        "not commands",
    ):
        assert word in text


def test_no_search_moves_them(agents: Agents) -> None:
    """Whatever was searched for and read before in a session, the rules are the same."""

    async def talk(client: Client) -> None:
        before = await texts(client)
        for arguments in (
            {"query": "zebra"}, {"query": "-greases -night"}, {"query": "tag:#nope"}, {"query": "after:2999-01-01"},
            {"query": "path:Garden", "limit": 1}, {"query": "pump", "max_tokens": 1},
        ):  # fmt: skip
            await client.call_tool("search_notes", arguments)
            await client.call_tool("read_note", {"path": RULES[0], "shape": "compact", "max_tokens": 1})
            assert await texts(client) == before

    agents.run(talk)


def test_they_are_the_same_bytes_from_session_to_session() -> None:
    """Restarts, touches, other notes and other processes change no byte of the instructions; an edit of a rule does."""
    with daemon_home() as home:
        for path, text in NOTES.items():
            home.write(path, text)
        daemon = home.start()
        daemon.ready()
        first = instructions(home)
        for path in RULES:
            os.utime(home.vault / path)
        home.write("Rules/Another.md", "# Another\n\nNo rule, though it lies beside them.\n")
        home.write("Pumps/Bearings.md", "# Bearings\n\nChanged.\n")
        daemon.found("lies beside them", "Rules/Another.md")
        assert instructions(home) == first
        daemon.stop()
        daemon = home.start()
        daemon.ready()
        assert instructions(home) == first
        home.write(RULES[0], NOTES[RULES[0]] + "\nNor three.\n")
        until(lambda: "Nor three." in instructions(home), "the changed rule is in the instructions", 15)
        assert instructions(home) == first.replace("they go liquid.", "they go liquid.\n\nNor three.")


def test_too_many_are_an_error_that_names_them() -> None:
    """Rules over the budget are never cut in silence: instructions, resource and tool name what overflows."""
    with daemon_home() as home:
        for number in range(6):
            home.write(f"Rule {number}.md", f"---\nalways: true\n---\n# Rule {number}\n\n" + "Never do that. " * 2000)
        home.start().ready()
        agents = Agents(home)
        told = agents.failure("vault_rules")
        assert "Rule 0.md" in told

        async def talk(client: Client) -> str:
            return client.instructions or ""

        assert told in agents.run(talk)


def instructions(home: Home) -> str:
    """What a new process says at the start of its session."""
    with Piped(home, "--vault", str(home.vault)) as piped:
        text: str = piped.greet()["instructions"]
        assert piped.hang_up()[0] == 0
        return text
