"""What agents are answered: the tools, resources and prompts, asked by the SDK's own client."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from tests.mcp.conftest import CALLS, NOTES, Agents
from vaultrag.mcp import tools


def test_a_search_is_lean(agents: Agents) -> None:
    """A note found comes with its place, its proof, a short preview and a citation, and with nothing else."""
    answer = agents.answer("search_notes", query="mechanical seal")
    best = answer["notes"][0]
    assert (best["path"], best["title"]) == ("Pumps/Seal replacement.md", "Seal replacement")
    assert best["evidence"].split("+")[0] == "words"
    assert best["citation"] == f"{best['path']}#L{best['lines'].replace('-', '-L')}"
    assert "mechanical seal" in best["preview"]
    assert len(best["preview"]) <= 700
    assert best["holds"] == "current"
    assert set(best) == {"path", "title", "lines", "score", "tier", "evidence", "date", "holds", "preview",
                         "citation"}  # fmt: skip
    assert answer["state"] == "keyword_only"  # this daemon has no embedder, and says so


@pytest.mark.parametrize("query", ["mechanical seal", "grease", "blight", "水道"])
def test_what_was_cited_is_read(agents: Agents, query: str) -> None:
    """The citation of a search, given to read_note, brings exactly the lines of the file that it names."""
    cited = agents.answer("search_notes", query=query)["notes"][0]
    note = agents.answer("read_note", path=cited["citation"])
    first, last = map(int, cited["lines"].split("-"))
    assert note["text"] == "\n".join(NOTES[cited["path"]].split("\n")[first - 1 : last])
    assert (note["lines"], note["citation"]) == (cited["lines"], cited["citation"])


def test_nothing_found_says_so(agents: Agents) -> None:
    """An empty answer is told as one, in words too, and with what could not be searched."""
    result = agents.call("search_notes", query="unheard-of zebra")
    assert result.structured_content["notes"] == []
    assert result.structured_content["remarks"]
    assert result.content[0].text.startswith("Nothing found")


def test_a_note_is_read_whole_or_in_part(agents: Agents) -> None:
    """Whole, by lines, by heading, or on one line."""
    path = "Pumps/Seal replacement.md"
    whole = agents.answer("read_note", path=path)
    assert whole["text"] == NOTES[path].rstrip("\n")
    assert whole["citation"] == path
    section = agents.answer("read_note", path=path, heading="Order")
    assert section["text"].startswith("## Order")
    assert section["citation"] == f"{path}#L9-L11"
    assert agents.answer("read_note", path=path, first_line=7, last_line=7)["text"] == "Drain the casing first."
    assert "\n" not in agents.answer("read_note", path=path, shape="compact")["text"]


def test_what_was_cut_says_so_and_how_to_go_on(agents: Agents) -> None:
    """A budget cuts a long note at a line, and the rest can be read from where it says."""
    path, parts = "Long.md", []
    note = agents.answer("read_note", path=path, max_tokens=2000)
    while True:
        parts.append(note["text"])
        if not note["remarks"]:
            break
        start = int(note["lines"].split("-")[1]) + 1
        assert f"first_line={start}" in note["remarks"][0]
        note = agents.answer("read_note", path=path, first_line=start, max_tokens=2000)
    assert len(parts) > 2
    assert "\n".join(parts) == NOTES[path].rstrip("\n")


def test_a_search_within_a_budget_says_what_it_left_out(agents: Agents) -> None:
    """Hits that did not fit are counted in the remarks."""
    answer = agents.answer("search_notes", query="pump hall", max_tokens=60)
    assert answer["total"] > len(answer["notes"]) or any("shortened" in remark for remark in answer["remarks"])
    assert any("save tokens" in remark for remark in answer["remarks"])


def test_what_no_longer_holds_is_marked(agents: Agents) -> None:
    """A superseded note says what took its place, wherever it comes up, in words and in fields."""
    found = agents.call("search_notes", query="two pumps hall plan")
    old = next(note for note in found.structured_content["notes"] if note["path"] == "Pumps/Old plan.md")
    assert old["holds"] == "superseded by New plan [Pumps/New plan.md]"
    assert old["holds"] in found.content[0].text
    assert agents.answer("read_note", path="Pumps/Old plan.md")["holds"] == old["holds"]
    recent = agents.answer("recent_notes")["notes"]
    assert next(note for note in recent if note["path"] == "Pumps/Old plan.md")["holds"] == old["holds"]


def test_related_and_recent_notes(agents: Agents) -> None:
    """Neighbours by link, which may be left out; and the notes of the last days."""
    linked = agents.answer("related_notes", path="Pumps/Bearings.md")
    assert [note["path"] for note in linked["notes"]] == ["Pumps/Seal replacement.md"]
    assert agents.answer("related_notes", path="Pumps/Bearings.md", unlinked=True)["notes"] == []
    recent = agents.answer("recent_notes", limit=3)
    assert len(recent["notes"]) == 3
    assert recent["total"] == len(NOTES)
    times = [note["changed"] for note in recent["notes"]]
    assert times == sorted(times, reverse=True)


def test_the_status_counts_and_explains(agents: Agents) -> None:
    """How many notes there are, and why they are found by words only."""
    state = agents.answer("vault_status")
    assert (state["vault"], state["state"], state["notes"]) == ("vault", "ready", len(NOTES))
    assert state["remarks"]


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda value: json.dumps(value, ensure_ascii=False))
def test_the_text_says_what_the_fields_say(agents: Agents, name: str, arguments: dict[str, Any]) -> None:
    """A host that shows its model the text alone keeps nothing from it: every path, preview, remark is in it."""
    result = agents.call(name, **arguments)
    text = result.content[0].text
    for value in told(result.structured_content):
        assert value in text, value


def told(value: Any, key: str = "") -> list[str]:
    """Every text in an answer but those that say what is the rule (current) or stand in another one."""
    if isinstance(value, dict):
        return [text for name, part in value.items() for text in told(part, name)]
    if isinstance(value, list):
        return [text for part in value for text in told(part, key)]
    if not isinstance(value, str) or value == "current" or (key == "lines"):
        return []
    return [value.strip()]


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        (
            "read_note",
            {"path": "Nope.md"},
            "there is no note Nope.md in the index; try: search_notes, for the paths of notes",
        ),
        ("read_note", {"path": "Pumps/Bearing.md"}, "did you mean Pumps/Bearings.md?"),
        ("read_note", {"path": "../../etc/passwd"}, "the path must be inside the vault"),
        ("read_note", {"path": "Pumps/Bearings.md", "heading": "Nope"}, "has no heading 'Nope'"),
        ("read_note", {"path": "Pumps/Bearings.md", "first_line": 99}, "which has 3"),
        ("read_note", {}, "read_note: Object missing required field `path`"),
        ("read_note", {"pth": "x"}, "read_note has no argument 'pth'; did you mean path?"),
        ("search_notes", {"query": "x", "limit": 51}, "search_notes: Expected `int` <= 50 - at `$.limit`"),
        ("search_notes", {"query": ["x"]}, "search_notes: Expected `str`, got `array` - at `$.query`"),
        ("related_notes", {"path": "Nope.md"}, "there is no note Nope.md"),
        ("vault_rules", {"all": True}, "vault_rules has no argument 'all'"),
    ],
    ids=str,
)
def test_failures_are_sentences(agents: Agents, name: str, arguments: dict[str, Any], sentence: str) -> None:
    """What goes wrong is told to the model in the daemon's own sentence, with what helps, and with no traceback."""
    told = agents.failure(name, **arguments)
    assert sentence in told
    assert "Traceback" not in told
    assert "\n" not in told


def test_numbers_may_come_as_text(agents: Agents) -> None:
    """A model that writes "2" for 2 is understood."""
    assert len(agents.answer("search_notes", query="pump", limit="2")["notes"]) == 2
    assert agents.answer("related_notes", path="Pumps/Bearings.md", unlinked="true")["notes"] == []


def test_an_unforeseen_fault_is_no_end_and_no_leak(
    agents: Agents, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A fault in the program is told by its kind alone, and the session goes on."""

    async def broken(desk: object, asked: object) -> object:
        raise ValueError("a secret of a note")

    table = dict(tools.TOOLS)
    spoilt = tools.Tool(
        **{name: getattr(table["search_notes"], name) for name in tools.Tool.__slots__} | {"run": broken}
    )
    monkeypatch.setitem(tools.TOOLS, "search_notes", spoilt)

    async def talk(client: Client) -> tuple[Any, Any]:
        return await client.call_tool("search_notes", {"query": "x"}), await client.call_tool("vault_status", {})

    failed, after = agents.run(talk)
    assert failed.is_error
    assert failed.content[0].text == "an unforeseen fault (ValueError); try: vault_status"
    assert not after.is_error
    assert "secret" not in caplog.text


def test_an_unknown_tool_is_answered_with_the_nearest(agents: Agents) -> None:
    """A slip in a tool's name is a protocol error that names what was meant."""
    with pytest.raises(MCPError, match="did you mean search_notes"):
        agents.call("search_note", query="x")


def test_notes_are_resources(agents: Agents) -> None:
    """The rules come first, then the notes changed last; each that is listed can be read, by template any other."""

    async def talk(client: Client) -> None:
        listed = (await client.list_resources()).resources
        assert [resource.uri for resource in listed[:1]] == ["vault:///rules"]
        assert len(listed) == len(NOTES) + 1
        for resource in listed[1:]:
            content = (await client.read_resource(resource.uri)).contents[0]
            assert isinstance(content, TextResourceContents)
            opening, *lines, closing = content.text.split("\n")
            assert "\n".join(lines) == NOTES[resource.name].rstrip("\n")
            assert (opening[:7], closing[:14]) == ("[notes ", "[end of notes ")
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["note:///{+path}"]
        for uri in ("note:///Pumps/Bearings.md", "note:///Garden%2FTomatoes.md", "note:///日本語.md"):
            assert (await client.read_resource(uri)).contents

    agents.run(talk)


@pytest.mark.parametrize(
    "uri",
    [
        "note:///Nope.md",
        "note:///../../etc/passwd",
        "note:///%2e%2e/x",
        "note:////etc/passwd",
        "file:///etc/passwd",
        "x",
    ],
)
def test_other_resources_are_refused_in_words(agents: Agents, uri: str) -> None:
    """What is no note's URI, or no note's path, is refused with a reason."""
    with pytest.raises(MCPError) as caught:
        agents.run(lambda client: client.read_resource(uri))
    assert caught.value.error.code == -32602
    assert "try: " in caught.value.error.message


def test_prompts_begin_a_conversation(agents: Agents) -> None:
    """Both prompts name only tools that are there, and carry what the person wrote."""

    async def talk(client: Client) -> None:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == ["ask_the_vault", "weekly_review"]
        asked = await client.get_prompt("ask_the_vault", {"question": "Who changed the seal?"})
        assert "Who changed the seal?" in asked.messages[0].content.text  # type: ignore[union-attr]  # it is a text
        review = await client.get_prompt("weekly_review", {"days": "14"})
        assert "days=14" in review.messages[0].content.text  # type: ignore[union-attr]  # it is a text
        with pytest.raises(MCPError, match="ask_the_vault wants question"):
            await client.get_prompt("ask_the_vault", {})
        with pytest.raises(MCPError, match="days is 'soon'"):
            await client.get_prompt("weekly_review", {"days": "soon"})
        with pytest.raises(MCPError, match="did you mean weekly_review"):
            await client.get_prompt("weekly_revue", {})

    agents.run(talk)
