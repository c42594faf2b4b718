"""What is found, what is merely near, what is not known: for agents and on the command line, with the builtin model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mcp.conftest import Agents
from tests.support.commands import Command
from tests.support.daemons import daemon_home
from vaultrag.mcp import text_answers
from vaultrag.wording import NOTHING_CLOSE, NOTHING_ELSE

pytestmark = [pytest.mark.model, pytest.mark.timeout(120)]

FOREIGN = "offside rule in ice hockey"
NOTES = {
    "Pump.md": "# Pump\n\nGrease the bearings of the pump every quarter, never while the pump is warm.\n",
    "Bread.md": "# Bread\n\nThe dough rests for eighteen hours before it is baked in the iron pot.\n",
    "Garden/Tomatoes.md": "# Tomatoes\n\nWater them in the morning; blight comes with wet leaves.\n",
    "Old/Alarm.md": "# Alarm\n\nThe siren of the tower is tested on the first Tuesday of each month.\n",
}


@pytest.fixture(scope="module")
def agents() -> Iterator[Agents]:
    with daemon_home({"embedder": {"provider": "builtin", "builtin": "english"}}) as home:
        for path, text in NOTES.items():
            home.write(path, text)
        daemon = home.start()
        daemon.until(lambda: daemon.status().state == "ready" or None, "every note has its vector", 60.0)
        yield Agents(home)


@pytest.fixture(scope="module")
def command(agents: Agents) -> Command:
    return Command(agents.home.path)


def test_what_is_near_is_offered_apart_from_what_was_found(agents: Agents) -> None:
    """The right note is found; at most three others follow as path and one sentence, under a line that says so."""
    result = agents.call("search_notes", query="how often are the bearings of the pump greased")
    answer = result.structured_content
    assert [note["path"] for note in answer["notes"]] == ["Pump.md"]
    assert not answer["abstain"]
    assert 1 <= len(answer["nearest"]) <= 3
    assert all(near["line"] in NOTES[near["path"]] for near in answer["nearest"])
    assert text_answers.NOTHING_ELSE in result.content[0].text


def test_nothing_close_is_an_abstention_with_what_is_nearest(agents: Agents) -> None:
    """A question of another field has no hit, and what came nearest is not said to be all that is known."""
    result = agents.call("search_notes", query=FOREIGN)
    answer = result.structured_content
    assert answer["abstain"]
    assert not answer["notes"]
    assert 1 <= len(answer["nearest"]) <= 3
    assert result.content[0].text.startswith(text_answers.NOTHING_CLOSE)


@pytest.mark.parametrize(
    ("arguments", "remark"),
    [
        ({"query": FOREIGN, "max_tokens": 1}, "left out to save tokens"),
        ({"query": FOREIGN, "max_tokens": 100}, "left out to save tokens"),
        ({"query": ""}, "the query is empty"),
        ({"query": "path:Nope"}, "no note meets path:Nope"),
        ({"query": "pump path:Nope"}, "no note meets path:Nope"),
        ({"query": "tag:#nope"}, "no note meets tag:nope"),
        ({"query": "pump after:2999-01-01"}, "no note meets after:2999-01-01"),
        ({"query": "path:Old path:Garden"}, "no note meets all of the filters"),
    ],
)
def test_the_vault_is_not_said_not_to_know(agents: Agents, arguments: dict[str, object], remark: str) -> None:
    """Where a budget, an empty query or a filter left nothing, that is said, and the filter is named."""
    result = agents.call("search_notes", **arguments)
    assert text_answers.NOTHING not in result.content[0].text
    assert any(remark in said for said in result.structured_content["remarks"]), result.structured_content


def test_a_budget_that_hides_what_was_found_is_no_abstention(agents: Agents) -> None:
    """What was found and did not fit into the budget was found all the same."""
    answer = agents.answer("search_notes", query="pump bearings", max_tokens=1)
    assert not answer["abstain"]
    assert answer["total"] == 1


def test_a_person_reads_the_same(command: Command) -> None:
    """Found hits, then the line and the nearest notes, each with a sentence; with --strict only the found ones."""
    out = command.run("search", "bearings of the pump", code=0).stdout
    assert out.index("Pump.md") < out.index(NOTHING_ELSE) < out.index("Bread.md")
    assert "eighteen hours" in out
    strict = command.run("search", "--strict", "bearings of the pump", code=0).stdout
    assert NOTHING_ELSE not in strict
    assert "Bread.md" not in strict
    model = command.run("search", "bearings of the pump", "--shape", "compact", code=0).stdout
    assert NOTHING_ELSE in model
    assert "- Bread.md: The dough rests" in model


def test_the_exit_code_says_whether_anything_was_found(command: Command) -> None:
    """1 means nothing strong or partial, in each form, also where --all lists weak hits; a budget changes nothing."""
    assert NOTHING_CLOSE in command.run("search", FOREIGN, code=1).stdout
    assert command.run("search", FOREIGN, "--format", "paths", code=1).stdout == ""
    assert command.run("search", FOREIGN, "--format", "paths", "--all", code=1).stdout.count(".md") >= 3
    answer = command.json("search", FOREIGN, code=1)
    assert (answer["tier"], answer["hits"]) == ("weak", [])
    assert answer["nearest"]
    assert command.json("search", FOREIGN, "--strict", code=1)["nearest"] == []
    command.run("search", "pump bearings", "--max-tokens", "1", code=0)
    assert "exclude each other" in command.run("search", "pump", "--all", "--strict", code=2).stderr
