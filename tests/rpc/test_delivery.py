"""What a reader gets and in which shape, through the real socket: budgets, rules, lists, what a deed calls for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from tests.support.daemons import Raw, RunningDaemon, daemon_home
from vaultrag.app.token_budget import DeliveryOptions
from vaultrag.rpc.methods import METHODS
from vaultrag.text.token_estimate import estimate

LONG = "\n\n".join(f"Paragraph {n} of the pump book: the seal of pump {n} is looked at every week." for n in range(80))
NOTES = {
    "Rules/Night.md": "---\ncreated: 2026-02-01\ntype: rule\n---\n# Night\n\nNobody works alone at night.\n",
    "Rules/Zero.md": "---\ntype: rule\n---\n# Zero\n\nNo date of its own.\n",
    "House.md": "---\nalways: true\ncreated: 2025-03-01\ntype: rule\n---\n# House\n\nDoors stay shut, but in fire.\n",
    "Tagged.md": "---\ntags: [law/local]\ncreated: 2025-12-24\nstatus: archived\n---\n# Tagged\n\nKeep left.\n",
    "Broken.md": "---\ntitle: a: b\n  - [c\nalways: true\n---\n# Broken\n\nA rule whose header cannot be read.\n",
    "Off.md": "---\nalways: false\n---\n# Off\n\nNot a rule.\n",
    "Old limit.md": "---\ntype: limit\nsuperseded_by: '[[New limit]]'\n---\n# Old limit\n\nThe limit was 0.4.\n",
    "New limit.md": "---\ntype: limit\nvalid_from: 2025-01-01\n---\n# New limit\n\nThe limit is 0.3.\n",
    "Book.md": f"---\ntype: log\n---\n# Book\n\n{LONG}\n\n## Repair\n\nChange the gasket first.\n",
    "When/SQL.md": "---\nwhen: '*.sql'\n---\n# SQL\n\nName the table first.\n",
    "When/Push.md": "---\nwhen:\n  tool: Bash\n  command: [git push, /rm\\s+-rf?/]\n---\n# Push\n\nRun the tests.\n",
    "When/Bad.md": "---\nwhen: /(?=never)x/\n---\n# Bad\n\nNot a pattern that can be used.\n",
}
RULES = ["House.md", "Tagged.md", "Rules/Night.md", "Broken.md", "Rules/Zero.md"]


@pytest.fixture(scope="module")
def served() -> Iterator[RunningDaemon]:
    with daemon_home({"rules": {"tags": ["law"], "folders": ["Rules"]}}) as home:
        for number, (path, text) in enumerate(NOTES.items()):
            os.utime(home.write(path, text), (1_767_000_000 + number, 1_767_000_000 + number))
        daemon = home.start()
        daemon.ready()
        yield daemon


@pytest.fixture
def raw(served: RunningDaemon) -> Iterator[Raw]:
    with Raw(served.home.places, reader="agent") as raw:
        yield raw


def result(raw: Raw, method: str, **params: Any) -> Any:
    answer = raw.call(method, params)
    assert "result" in answer, answer
    return answer["result"]


def paths(notes: Any) -> list[str]:
    return [note["path"] for note in notes]


def test_without_a_wish_nothing_changes(raw: Raw) -> None:
    """A search that asks for no shape gets previews, and nothing is counted or cut."""
    answer = result(raw, "search", query="pump seal")
    assert (answer["shape"], answer["tokens"], answer["cut"]) == ("preview", 0, 0)
    (hit,) = answer["hits"]
    assert hit["preview"]
    assert not hit["line"]
    assert not hit["text"]


def test_shapes_hold_what_they_say(raw: Raw) -> None:
    """``compact`` is the sentences that fit, on one line, ``full`` the whole note, ``preview`` the passage."""
    (line,) = result(raw, "search", query="gasket", shape="compact")["hits"]
    assert line["line"].startswith("Change the gasket first.")
    assert not line["preview"]
    (whole,) = result(raw, "search", query="gasket", shape="full")["hits"]
    assert whole["text"] == NOTES["Book.md"]
    (part,) = result(raw, "search", query="gasket", shape="preview")["hits"]
    assert "gasket" in part["preview"]
    assert not part["line"]


def test_a_reader_sets_what_is_not_said(raw: Raw) -> None:
    """Both kinds of reader get single lines, a small one of fewer notes, unless the call says otherwise."""
    small = result(raw, "search", query="the rule limit pump", reader="small")
    assert small["shape"] == "compact"
    assert len(small["hits"]) <= 5
    assert result(raw, "search", query="limit", reader="small", shape="preview")["shape"] == "preview"
    assert result(raw, "search", query="limit", reader="large")["shape"] == "compact"


def test_a_budget_takes_from_the_first_lines() -> None:
    """The two best hits have the most room, unless a budget leaves the others less than theirs."""
    assert DeliveryOptions("compact").line_tokens(10) == (100, 100, 40)
    assert DeliveryOptions("compact", max_tokens=2000).line_tokens(10) == (100, 100, 40)
    assert DeliveryOptions("compact", max_tokens=780).line_tokens(10) == (70, 70, 40)
    assert DeliveryOptions("compact", max_tokens=100).line_tokens(10) == (40, 40, 40)


@pytest.mark.parametrize("shape", ["full", "preview", "compact"])
@pytest.mark.parametrize("budget", [30, 80, 200, 1000])
def test_a_search_keeps_its_budget(raw: Raw, shape: str, budget: int) -> None:
    """All hits together cost no more than the budget; what was shortened or left out is counted."""
    free = result(raw, "search", query="pump limit seal rule", shape=shape, limit=50)
    answer = result(raw, "search", query="pump limit seal rule", shape=shape, limit=50, max_tokens=budget)
    assert answer["tokens"] <= budget
    listed = [len(one["hits"]) + len(one["nearest"]) for one in (answer, free)]
    assert listed[0] + answer["cut"] == listed[1]
    read = sum(estimate(hit["text"] or hit["line"] or hit["preview"]) for hit in answer["hits"])
    assert read <= answer["tokens"]
    if free["tokens"] > budget:
        assert answer["cut"] or answer["shortened"]


def test_a_note_is_read_within_a_budget(raw: Raw) -> None:
    """A note that is too long for the budget ends with a whole line, says how many are left, and goes on from there."""
    lines = NOTES["Book.md"].rstrip("\n").split("\n")
    read: list[str] = []
    first = 1
    while first <= len(lines):
        part = result(raw, "get", path="Book.md", first_line=first, max_tokens=300)
        assert part["tokens"] <= 300
        assert part["cut"] == len(lines) - part["end_line"]
        read += part["text"].split("\n")
        first = part["end_line"] + 1
    assert read == lines


def test_a_heading_and_a_line_of_a_note(raw: Raw) -> None:
    """``get`` gives one section, or the note on one line."""
    assert result(raw, "get", path="Book.md", heading="Repair")["text"].startswith("## Repair")
    compact = result(raw, "get", path="Old limit.md", shape="compact")
    assert compact["text"] == "Old limit (limit; superseded by New limit 2024-12-31) — The limit was 0.4."


def test_every_rule_comes_whole_and_in_order(raw: Raw) -> None:
    """Marked, tagged or in a folder of rules: all come, by the day they were made, then by path, to the letter."""
    rules = result(raw, "rules")
    assert paths(rules["rules"]) == RULES
    assert [rule["text"] for rule in rules["rules"]] == [NOTES[path] for path in RULES]
    assert rules["complete"]


def test_rules_that_overflow_are_an_error_that_names_them(raw: Raw) -> None:
    """A budget that the rules do not fit is an error with every rule's name; nothing is left out in silence."""
    error = raw.call("rules", {"max_tokens": 20})["error"]
    assert error["data"]["kind"] == "RulesTooLong"
    assert all(path in error["message"] for path in RULES)
    assert "tokens" in error["data"]


def test_rules_are_the_same_bytes(served: RunningDaemon) -> None:
    """Two sessions, and a file that is touched or other notes that change between them, get the same bytes."""

    def asked() -> bytes:
        with Raw(served.home.places, reader="agent") as raw:
            raw.send(raw.request("rules", {}, 1))
            return raw.line()

    before = asked()
    os.utime(served.home.vault / "House.md")
    served.home.write("Other.md", "Something else: quagga.\n")
    served.found("quagga", "Other.md")
    assert asked() == before
    (served.home.vault / "Other.md").unlink()
    served.lost("quagga", "Other.md")


def test_recent_notes_come_latest_first(raw: Raw) -> None:
    """Notes on a line each, the latest change first; a folder or a tag narrows them, and what is cut is counted."""
    recent = result(raw, "recent", limit=3)
    assert [note for note in paths(recent["notes"]) if note != "House.md"][:2] == ["When/Bad.md", "When/Push.md"]
    assert recent["cut"] == recent["total"] - 3
    assert paths(result(raw, "recent", folder="rules")["notes"]) == ["Rules/Zero.md", "Rules/Night.md"]
    assert paths(result(raw, "recent", tag="#law")["notes"]) == ["Tagged.md"]
    assert result(raw, "recent", max_tokens=40)["tokens"] <= 40


def test_the_catalogue_keeps_its_order(served: RunningDaemon, raw: Raw) -> None:
    """By type, then by when notes were made, then by path; an edit of a note's text moves nothing."""

    def order() -> list[tuple[str, list[str]]]:
        return [(group["type"], paths(group["notes"])) for group in result(raw, "catalogue")["groups"]]

    before = order()
    assert before == [
        ("limit", ["New limit.md", "Old limit.md"]),
        ("log", ["Book.md"]),
        ("rule", ["House.md", "Rules/Night.md", "Rules/Zero.md"]),
        ("", ["Tagged.md", "Broken.md", "Off.md", "When/Bad.md", "When/Push.md", "When/SQL.md"]),
    ]
    served.home.write("Old limit.md", NOTES["Old limit.md"].replace("was 0.4", "was 0.45, a quokka"))
    served.found("quokka", "Old limit.md")
    assert order() == before
    served.home.write("Old limit.md", NOTES["Old limit.md"])
    served.lost("quokka", "Old limit.md")
    assert result(raw, "catalogue", limit=2)["cut"] == 10
    assert paths(result(raw, "catalogue", folder="When")["groups"][0]["notes"])[0] == "When/Bad.md"


@pytest.mark.parametrize(
    ("deed", "called"),
    [
        ({"path": "/home/x/db/schema.sql"}, ["When/SQL.md"]),
        ({"path": "schema.sqlite"}, []),
        ({"tool": "Bash", "command": "cd x && git  push origin"}, ["When/Push.md"]),
        ({"tool": "Bash", "command": "rm -rf build"}, ["When/Push.md"]),
        ({"tool": "Read", "command": "git push"}, []),
        ({"tool": "Bash", "command": "git pushup"}, []),
        ({}, []),
    ],
    ids=str,
)
def test_a_deed_calls_for_notes(raw: Raw, deed: dict[str, str], called: list[str]) -> None:
    """A glob fits the path, words and expressions the command, and conditions of several kinds must all fit."""
    answer = result(raw, "triggers", **deed)
    assert paths(answer["notes"]) == called
    if deed.get("command"):
        assert "When/Bad.md" in answer["problems"][0]


def test_a_note_is_called_for_once_in_a_session(raw: Raw) -> None:
    """The second time in one session it is left out; another session gets it; without a session it always comes."""

    def asked(session: str) -> list[str]:
        return paths(result(raw, "triggers", path="a.sql", session=session)["notes"])

    assert [asked(name) for name in ("s1", "s1", "s2", "s1", "", "")] == [
        ["When/SQL.md"], [], ["When/SQL.md"], [], ["When/SQL.md"], ["When/SQL.md"],
    ]  # fmt: skip


def test_what_is_called_for_keeps_its_budget(raw: Raw) -> None:
    """A note that does not fit is told on one line, and the answer says so."""
    answer = result(raw, "triggers", path="a.sql", max_tokens=3)
    assert answer["cut"] == 1
    assert answer["notes"][0]["text"].startswith("SQL — Name the table")
    assert result(raw, "triggers", path="a.sql", max_tokens=0)["cut"] == 0


def test_what_no_longer_holds_says_so(raw: Raw) -> None:
    """A superseded note is marked in every answer and stands below; a question about the past finds it."""
    hits = result(raw, "search", query="limit")["hits"]
    assert paths(hits) == ["New limit.md", "Old limit.md"]
    assert [hit["standing"] and hit["standing"]["state"] for hit in hits] == [None, "superseded"]
    assert hits[1]["standing"]["by"] == ["New limit.md"]
    listed = {note["path"]: note["standing"] for note in result(raw, "recent", limit=50)["notes"]}
    assert listed["Old limit.md"]["state"] == "superseded"
    assert result(raw, "get", path="Old limit.md")["standing"]["since"] == "2024-12-31"
    assert result(raw, "in_note", path="Old limit.md", query="limit")["standing"]["state"] == "superseded"
    explained = {hit["path"]: hit["standing"] for hit in result(raw, "explain", query="limit")["hits"]}
    assert (explained["Old limit.md"]["state"], explained["New limit.md"]) == ("superseded", None)
    (near,) = result(raw, "related", path="New limit.md")["hits"]
    assert (near["path"], near["standing"]["state"], near["evidence"][-1]["arm"]) == (
        "Old limit.md", "superseded", "superseded",
    )  # fmt: skip
    past = result(raw, "search", query="what was the limit before")["hits"]
    assert not [part for hit in past for part in hit["evidence"] if part["arm"] == "superseded"]


def test_a_rule_whose_file_is_away_is_an_error() -> None:
    """A rule that cannot be read is named in an error, and never left out in silence."""
    with daemon_home({"notes": {"max_bytes": 2000}, "watch": {"debounce_ms": 60_000, "storm_ms": 90_000}}) as home:
        home.write("Law.md", "---\nalways: true\n---\nShort.\n")
        home.start().ready()
        with Raw(home.places) as raw:
            assert paths(raw.call("rules", {})["result"]["rules"]) == ["Law.md"]
            home.write("Law.md", "---\nalways: true\n---\n" + "Long. " * 1000)
            error = raw.call("rules", {})["error"]
    assert error["data"]["kind"] == "NoteUnreadable"
    assert "Law.md" in error["message"]


HARD = {
    "Empty.md": "---\nalways: true\n---\n",
    "Stop words.md": "---\nalways: yes\n---\nthe of and\n",
    "Old.md": "---\nalways: true\nsuperseded_by: '[[New]]'\ninvalidated_by: New\nvalid_to: 2001-01-01\n---\nOld.\n",
    "New.md": "---\nAlways: 'True'\nvalid_from: 2999-01-01\n---\nNew.\n",
    "Draft.md": "---\nalways: [true]\nstatus: archived\nconfidence: 0\n---\nA draft.\n",
    "Archive/Deep/down.md": "---\nalways: on\n---\nFar down.\n",
    "Broken.md": "---\nalways: true\ntitle: [\n---\nBroken.\n",
    "Open.md": "---\nalways: true\n# never closed\n",
    "日本.md": "---\nalways: true\n---\n門は必ず閉める。\n",
}


@pytest.mark.parametrize(
    "search",
    [
        {},
        {"limit": 1},
        {"passages": False},
    ],
    ids=str,
)
def test_nothing_can_drop_a_rule(search: dict[str, Any]) -> None:
    """No limit, weight, standing, status or content keeps a rule back, nor do hundreds of others."""
    many = {f"Many/{n:03}.md": f"---\nalways: true\n---\nRule {n}.\n" for n in range(250)}
    with daemon_home({"search": search, "rules": {"max_tokens": 0}}) as home:
        for path, text in (HARD | many).items():
            home.write(path, text)
        home.write("No rule.md", "---\nalways: false\n---\nNot one.\n")
        home.start().ready()
        with Raw(home.places, reader="agent") as raw:
            for mode in ("hybrid", "words", "meaning"):  # a search between them changes nothing
                raw.call("search", {"query": "tag:#none -is:orphan path:nowhere", "mode": mode, "limit": 1})
                rules = result(raw, "rules")
                assert {rule["path"] for rule in rules["rules"]} == {*HARD, *many}
                assert {rule["path"]: rule["text"] for rule in rules["rules"]} == HARD | many


def test_rules_take_no_condition() -> None:
    """The method has no parameter by which a rule could be left out: only a bound, which is an error, and the vault."""
    assert [field.name for field in msgspec.structs.fields(METHODS["rules"].params)] == ["max_tokens", "vault"]
