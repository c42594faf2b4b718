"""An agent's answers are those of a vault that never held the private notes; a person's are whole."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.guard.conftest import PRIVATE, VISIBLE
from tests.support.daemons import Home, OllamaProcess, Raw, RunningDaemon, daemon_home
from vaultrag import errors
from vaultrag.rpc.client import AsyncClient, Client
from vaultrag.rpc.methods import METHODS

QUERIES = [
    "seal", "winter", "plan", "the plan for the pump hall", "pump repair", "zanzibar", "doctor visit", "Physician",
    "docter vist", "physicain", "the mondey note", "what the doctor visit says of a valve", "gaskt list", "ERR-4471",
    "zanzibar heading", "Monday", '"zanzibar seal"', "pump -winter", "-zanzibar seal",
    "tag:plant", "tag:secrettag",
    "tag:#health", "path:diary", "path:Diary/ winter", "file:secret", "is:orphan", "-is:orphan", "is:untagged",
    "[private]",
    "[private:true]", "[supersedes]", "after:2020-01-01", "before:2020-01-01 seal", "gasket", "valve frost",
    "lonely", "",
]  # fmt: skip
APPROXIMATE = {"score", "raw", "contribution", "log_odds", "confidence"}
"""Figures that BM25's average length moves a little: it is taken over all notes, and tells nothing of any one."""
TIMES = {"elapsed_ms", "uptime_s", "started_ns", "pid", "checked_ns", "times_ms"}
OF_THE_VAULT = {"id", "root", "name"}


def same(one: Any, other: Any, where: str = "") -> None:
    """Two answers say the same: to the letter, but for figures that may differ in the last places."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        assert set(one) == set(other), where
        for key in one:
            if key in APPROXIMATE and one[key] is not None and other[key] is not None:
                assert one[key] == pytest.approx(other[key], rel=0.1, abs=0.1), f"{where}.{key}"
            elif key not in TIMES | OF_THE_VAULT:
                same(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, Sequence) and not isinstance(one, str) and isinstance(other, Sequence):
        assert len(one) == len(other), f"{where}: {one} and {other}"
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            same(left, right, f"{where}[{number}]")
    else:
        assert one == other, where


def no_trace(answer: Any, *, but: str = "") -> None:
    """Nothing in the answer is of a private note; ``but``: what the question itself said comes back in it."""
    text = json.dumps(answer, ensure_ascii=False).replace(json.dumps(but, ensure_ascii=False)[1:-1], "").casefold()
    for word in but.casefold().split():  # a reason names the question's words between quotes
        text = text.replace(f'\\"{word}\\"', "")
    for word in ("zanzibar", "secrettag", "physician", "client/confidential", "health/blood", "monday", "tuesday"):
        assert word not in text, f"{word} in {text}"
    for path in PRIVATE:
        assert json.dumps(path)[1:-1].casefold() not in text, f"{path} in {text}"


def both(agent: Raw, unknowing: Raw, method: str, params: dict[str, Any], *, but: str = "") -> Any:
    """Ask the vault with private notes and the one without; they must say the same, and nothing of those notes."""
    answer, wanted = agent.call(method, params), unknowing.call(method, params)
    assert ("result" in answer) == ("result" in wanted), (answer, wanted)
    same(answer, wanted)
    no_trace(answer.get("result", answer), but=but)
    return answer


@pytest.mark.parametrize("mode", ["hybrid", "words", "meaning"])
@pytest.mark.parametrize("query", QUERIES)
def test_a_search_knows_of_no_private_note(agent: Raw, unknowing: Raw, query: str, mode: str) -> None:
    """Whatever an agent asks, hits, order, counts and reasons are those of the vault without private notes."""
    answer = both(agent, unknowing, "search", {"query": query, "mode": mode, "limit": 50}, but=query)
    assert {hit["path"] for hit in answer["result"]["hits"]} <= set(VISIBLE)


@pytest.mark.parametrize("path", ["", "Pump.md", "Lonely.md", "Nothing.md", *PRIVATE])
@pytest.mark.parametrize("query", ["seal winter", "zanzibar", "plan", "is:orphan"])
def test_an_explanation_knows_of_none(agent: Raw, unknowing: Raw, query: str, path: str) -> None:
    """How many notes hold a word, and why a note is missing: told as if the private ones did not exist."""
    params = {"query": query, "path": path}
    answer, wanted = agent.call("explain", params)["result"], unknowing.call("explain", params)["result"]
    same(answer, wanted)
    if path in PRIVATE:
        assert answer["asked"]["verdict"] == "not in the index: there is no such note in the vault"
        answer["asked"]["path"] = ""
    no_trace(answer, but=query)


@pytest.mark.parametrize("path", list(VISIBLE))
def test_related_notes_are_of_the_visible(agent: Raw, unknowing: Raw, path: str) -> None:
    """Neither by a link nor by meaning does a private note stand beside a visible one."""
    for linked in (True, False):
        both(agent, unknowing, "related", {"path": path, "linked": linked, "limit": 50})


@pytest.mark.parametrize("path", list(VISIBLE))
@pytest.mark.parametrize("query", ["seal", "winter pump", "the plan for the pump hall", "zanzibar"])
def test_places_in_a_note_are_the_notes_own(agent: Raw, unknowing: Raw, path: str, query: str) -> None:
    """Where a query stands in a visible note, and what its words weigh, tells nothing of a private one."""
    params = {"path": path, "query": query}
    answer, wanted = agent.call("in_note", params), unknowing.call("in_note", params)
    for message in (answer, wanted):
        for match in message["result"]["matches"]:
            match["weight"] = 0  # of BM25's figures, as scores are
    same(answer, wanted)
    no_trace(answer["result"], but=query)


def test_related_notes_of_a_private_folder_are_none(agent: Raw, unknowing: Raw) -> None:
    """A folder of private notes is a folder without notes."""
    path = next(iter(VISIBLE))
    for folder in ("Diary", "diary/", "Health", "Nowhere"):
        both(agent, unknowing, "related", {"path": path, "folder": folder})


@pytest.mark.parametrize("method", ["get", "related", "in_note"])
@pytest.mark.parametrize(
    "path",
    [*PRIVATE, *(path.removesuffix(".md") for path in PRIVATE), "Doctor visit.md#Zanzibar heading", "visit", "key"],
)
def test_a_private_path_is_no_note(agent: Raw, unknowing: Raw, person: Raw, method: str, path: str) -> None:
    """Asked for by its path, a private note is answered to the letter like a note that never was."""
    params = {"path": path, "query": "seal"} if method == "in_note" else {"path": path}
    answer, wanted = agent.call(method, params), unknowing.call(method, params)
    assert answer == wanted
    assert answer["error"]["data"]["kind"] == "NoteNotFound"
    no_trace(answer["error"]["data"]["hint"])
    assert "vaultrag" not in answer["error"]["data"]["hint"]
    if path in PRIVATE:
        assert "result" in person.call(method, params)


@pytest.mark.parametrize("shape", ["full", "preview", "compact"])
@pytest.mark.parametrize("query", ["seal", "the plan for the pump hall", "zanzibar", "winter valve"])
def test_no_shape_of_an_answer_tells_of_them(agent: Raw, unknowing: Raw, query: str, shape: str) -> None:
    """Whole notes, single lines and budgets are those of the vault without private notes."""
    for more in ({"max_tokens": 150}, {"reader": "small"}, {"limit": 50}):
        both(agent, unknowing, "search", {"query": query, "mode": "words", "shape": shape, **more}, but=query)


def test_the_rules_are_the_visible_ones(agent: Raw, unknowing: Raw, person: Raw) -> None:
    """A private note is no rule for an agent, and the error of a budget names and counts the visible rules only."""
    rules = both(agent, unknowing, "rules", {})["result"]["rules"]
    assert [rule["path"] for rule in rules] == ["Rule.md"]
    assert [rule["path"] for rule in person.call("rules", {})["result"]["rules"]] == ["Law.md", "Rule.md"]
    assert both(agent, unknowing, "rules", {"max_tokens": 1})["error"]["data"]["kind"] == "RulesTooLong"


@pytest.mark.parametrize("method", ["recent", "catalogue", "timeline"])
@pytest.mark.parametrize(
    "params",
    [{}, {"limit": 3}, {"max_tokens": 100}, {"folder": "Diary"}, {"folder": "Notes"}, {"tag": "plant"},
     {"tag": "secrettag"}, {"tag": "health"}],
    ids=str,
)  # fmt: skip
def test_lists_hold_the_visible_notes(agent: Raw, unknowing: Raw, method: str, params: dict[str, Any]) -> None:
    """What changed last and the catalogue list, count and mark as if the private notes did not exist."""
    both(agent, unknowing, method, params)


def test_a_deed_calls_for_visible_notes(agent: Raw, unknowing: Raw, person: Raw) -> None:
    """What an agent does brings up no private note, whatever its ``when`` says."""
    for deed in ({"path": "/project/x.pump"}, {"command": "please open the valve"}, {"tool": "Bash"}):
        both(agent, unknowing, "triggers", {**deed, "session": "one"})
        both(agent, unknowing, "triggers", {**deed, "session": "one"})
    called = person.call("triggers", {"path": "x.pump"})["result"]["notes"]
    assert {note["path"] for note in called} == {"Law.md", "Rule.md"}


def test_one_line_of_a_visible_note_tells_nothing(agent: Raw, unknowing: Raw) -> None:
    """The short shapes of a note name nothing private, also where it rests on a private note."""
    for path in VISIBLE:
        for shape in ("compact", "preview", "full"):
            answer = agent.call("get", {"path": path, "shape": shape})
            same(answer, unknowing.call("get", {"path": path, "shape": shape}))
    assert agent.call("get", {"path": "Rests.md"})["result"]["standing"]["state"] == "expired"
    assert agent.call("get", {"path": "Old plan.md"})["result"]["standing"] is None


def test_tags_are_counted_without_them(agent: Raw, unknowing: Raw, person: Raw) -> None:
    """The tags of private notes are not there, and those they share count the visible notes only."""
    tags = {row["tag"]: row["notes"] for row in both(agent, unknowing, "tags", {})["result"]}
    everything = {row["tag"]: row["notes"] for row in person.call("tags", {})["result"]}
    assert (tags["plant"], everything["plant"]) == (1, 2)
    assert "secrettag" not in tags
    assert "secrettag" in everything


@pytest.mark.parametrize("full", [True, False])
def test_the_status_counts_without_them(agent: Raw, unknowing: Raw, person: Raw, full: bool) -> None:
    """No figure of the status, and no list in it, is moved by a private note."""
    status = both(agent, unknowing, "status", {"full": full})["result"]
    assert status["notes"] == status["vaults"][0]["embedded"] == len(VISIBLE)
    assert status["vaults"][0]["counters"] == {}
    whole = person.call("status", {"full": True})["result"]
    assert whole["notes"] == len(VISIBLE | PRIVATE)
    assert [note["path"] for note in whole["vaults"][0]["problem_notes"]] == ["Broken.md", "Open end.md"]


def test_a_person_sees_everything(person: Raw) -> None:
    """For a person's client nothing is hidden: not in a search, not by its path, not in an explanation."""
    answer = person.call("search", {"query": "zanzibar", "limit": 50, "mode": "words"})["result"]
    assert {hit["path"] for hit in answer["hits"]} == set(PRIVATE)
    assert person.call("get", {"path": "Blood.md"})["result"]["title"] == "Blood"
    words = person.call("explain", {"query": "zanzibar"})["result"]["words"]
    assert words[0]["notes"] == len(PRIVATE)


@pytest.mark.parametrize("again", [{}, {"reader": "person"}])
def test_an_agent_stays_an_agent(agent: Raw, again: dict[str, str]) -> None:
    """A second hello as a person is refused, and the connection still sees what an agent sees."""
    answer = agent.call("hello", {"client": "test", **again})
    assert answer["error"]["data"]["kind"] == "NotForAgents"
    assert agent.call("get", {"path": "Blood.md"})["error"]["data"]["kind"] == "NoteNotFound"
    assert agent.call("hello", {"client": "test", "reader": "agent"})["result"]["reader"] == "agent"
    # Also when both come in one packet with the question.
    agent.send(agent.request("hello", {"client": "x", **again}, 1) + agent.request("get", {"path": "Blood.md"}, 2))
    assert ["error" in agent.receive(), "error" in agent.receive()] == [True, True]


def test_a_person_may_turn_into_an_agent(person: Raw) -> None:
    """A connection can give up its sight, for good."""
    assert "result" in person.call("get", {"path": "Blood.md"})
    assert person.call("hello", {"client": "test", "reader": "agent"})["result"]["reader"] == "agent"
    assert "error" in person.call("get", {"path": "Blood.md"})
    assert "error" in person.call("hello", {"client": "test"})


@pytest.mark.parametrize("reader", ["Agent", "root", "", None, 1, ["agent"]])
def test_a_reader_of_another_kind_is_refused(twins: tuple[RunningDaemon, RunningDaemon], reader: Any) -> None:
    """A slip in the reader's name is an error; it does not make a person of an agent."""
    with Raw(twins[0].home.places, greet=False) as raw:
        answer = raw.call("hello", {"client": "test", "reader": reader})
        assert answer["error"]["data"]["kind"] == "InvalidParams"
        assert raw.call("get", {"path": "Blood.md"})["error"]["data"]["kind"] == "InvalidRequest"


CLOSED = {
    "add_vault": {"path": "/tmp"},
    "remove_vault": {"vault": "vault"},
    "shutdown": {},
    "subscribe": {},
}


def test_a_person_who_turns_into_an_agent_is_told_of_nothing_more() -> None:
    """What was subscribed to as a person ends when the connection becomes an agent's: it names notes."""
    with daemon_home() as home:
        home.write("Pump.md", "The seal leaks.")
        home.start().ready()
        raw, person = Raw(home.places), Raw(home.places)
        raw.call("subscribe", {})
        raw.call("hello", {"client": "test", "reader": "agent"}, "again")
        person.call("subscribe", {"status": False})
        home.write("Secret.md", "---\nprivate: true\n---\nOf zanzibar.\n")
        assert person.receive()["params"]["paths"] == ["Secret.md"]
        assert raw.call("tags", {}, 7)["id"] == 7, "the first message is the answer"
        raw.close()
        person.close()


def test_what_changes_the_daemon_is_not_for_agents(agent: Raw, twins: tuple[RunningDaemon, RunningDaemon]) -> None:
    """An agent neither adds a vault (a private folder by itself, say) nor removes one, nor ends the daemon."""
    offered = agent.call("hello", {"client": "test", "reader": "agent"})["result"]["methods"]
    assert set(METHODS) - set(offered) >= set(CLOSED)
    for name in set(METHODS) - set(offered):
        answer = agent.call(name, CLOSED.get(name, {}))
        assert answer["error"]["data"]["kind"] == "NotForAgents", name
    private_folder = str(twins[0].home.vault / "Diary")
    assert "error" in agent.call("add_vault", {"path": private_folder})


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.agents])
def test_every_method_for_agents_is_tried_here(name: str) -> None:
    """A method that is opened to agents has a test above; add one, and its name to this list."""
    assert name in {"hello", "search", "explain", "related", "get", "in_note", "tags", "status", "reindex",
                    "rules", "recent", "catalogue", "triggers", "timeline"}  # fmt: skip


def test_both_clients_can_be_an_agents(twins: tuple[RunningDaemon, RunningDaemon]) -> None:
    """The Python clients pass on who reads, and get the agent's answers."""

    async def ask() -> list[str]:
        async with await AsyncClient.connect(twins[0].home.places, reader="agent") as client:
            assert client.welcome["reader"] == "agent"
            with pytest.raises(errors.NoteNotFound):
                await client.get("Blood.md")
            return [hit.path for hit in (await client.search("zanzibar seal", limit=50)).hits]

    with Client.connect(twins[0].home.places, reader="agent") as client:
        with pytest.raises(errors.NotForAgents):
            client.shutdown()
        paths = [hit.path for hit in client.search("zanzibar seal", limit=50).hits]
    assert paths
    assert set(paths) <= set(VISIBLE)
    assert asyncio.run(asyncio.wait_for(ask(), 20)) == paths


def test_words_at_once_are_the_agents_own(agent: Raw, unknowing: Raw) -> None:
    """The partial answer that goes before a search's own holds no private note either."""
    line = agent.request("search", {"query": "seal winter", "partial": True, "limit": 50}, 1)
    agent.send(line)
    unknowing.send(line)
    for _ in range(2):
        answer, wanted = agent.receive(), unknowing.receive()
        same(answer, wanted)
        no_trace(answer)


def test_reindexing_as_an_agent_tells_nothing(agent: Raw, unknowing: Raw) -> None:
    """An agent may have the vault looked at again; what comes back counts the visible notes."""
    both(agent, unknowing, "reindex", {})


# -- marks that come and go ------------------------------------------------------------------------------------------


@pytest.fixture
def changing(model: OllamaProcess) -> Iterator[Home]:
    """A vault whose changes are read late: what its files say runs ahead of the index."""
    with daemon_home({"watch": {"debounce_ms": 600_000, "storm_ms": 600_000}}) as home:
        for path, text in VISIBLE.items():
            home.write(path, text)
        yield home


def test_a_mark_holds_before_the_index_knows_it(changing: Home) -> None:
    """A note marked private is not handed out from that moment, nor shown in a hit, however late the index is."""
    daemon = changing.start()
    daemon.ready()
    with Raw(changing.places, reader="agent") as agent:
        assert "result" in agent.call("get", {"path": "Pump.md"})
        never = agent.call("get", {"path": "Pumq.md"})
        changing.write("Pump.md", "---\nprivate: true\n---\nThe seal leaks, zanzibar.\n")
        answer = agent.call("search", {"query": "seal", "mode": "words"})["result"]
        assert "Pump.md" not in [hit["path"] for hit in answer["hits"]]
        no_trace(answer)
    with Raw(changing.places, reader="agent") as agent:
        gone = agent.call("get", {"path": "Pump.md"})
        assert gone["error"]["message"] == never["error"]["message"].replace("Pumq.md", "Pump.md")
        assert "Pump" not in gone["error"]["data"]["hint"]


def test_a_mark_taken_away_shows_the_note(twins: tuple[RunningDaemon, RunningDaemon]) -> None:
    """A note that is no longer marked is found again once it is read; one that is marked anew is lost."""
    home = twins[0].home
    with Raw(home.places, reader="agent") as agent:

        def found() -> bool:
            hits = agent.call("search", {"query": "quagga", "mode": "words"})["result"]["hits"]
            return [hit["path"] for hit in hits] == ["Animal.md"]

        home.write("Animal.md", "---\nprivate: true\n---\nA quagga.\n")
        twins[0].found("quagga", "Animal.md")
        assert not found()
        home.write("Animal.md", "---\nprivate: no\n---\nA quagga.\n")
        twins[0].until(found, "the agent finds it")
        home.write("Animal.md", "---\nprivate: on\n---\nA quagga, again.\n")
        assert not found(), "the file itself is asked"
        twins[0].until(lambda: twins[0].client.get("Animal.md").properties["private"] == "on", "a person sees it")
        (home.vault / "Animal.md").unlink()
        twins[0].lost("quagga", "Animal.md")


def test_what_could_not_be_read_is_not_listed_for_agents() -> None:
    """A file too large to be read may be private: an agent is told neither its name nor that there is one."""
    with daemon_home({"notes": {"max_bytes": 1000}}) as home:
        home.write("Pump.md", "The seal leaks.\n")
        home.write("Huge.md", "---\nprivate: true\n---\n" + "x" * 5000)
        daemon = home.start()
        daemon.ready()
        assert [note.path for note in daemon.status(full=True).skipped_notes] == ["Huge.md"]
        with Raw(home.places, reader="agent") as agent:
            vault = agent.call("status", {"full": True})["result"]["vaults"][0]
            assert (vault["skipped"], vault["skipped_notes"]) == (0, [])
            verdicts = {
                agent.call("explain", {"query": "x", "path": path})["result"]["asked"]["verdict"]
                for path in ("Huge.md", "Nothing.md")
            }
            assert len(verdicts) == 1


@pytest.mark.parametrize(
    ("privacy", "told"),
    [
        ({"paths": ["Diary/", "!"]}, "privacy.paths: '!' is no pattern"),
        ({"paths": [" "]}, "names no path"),
        ({"paths": ["# a remark"]}, "names no path"),
        ({"tags": ["#"]}, "privacy.tags: an empty tag"),
        ({"tag": ["x"]}, "unknown setting privacy.tag"),
    ],
)
def test_settings_that_would_hide_nothing_are_refused(privacy: dict[str, Any], told: str) -> None:
    """A privacy setting that makes no sense stops the daemon, rather than showing what it was meant to hide."""
    with daemon_home({"privacy": privacy}) as home:
        home.write("Pump.md", "The seal leaks.\n")
        daemon = home.spawn(home.vault)
        assert daemon.process.wait(20) == 2
        assert told in home.log
        assert "Traceback" not in home.log
