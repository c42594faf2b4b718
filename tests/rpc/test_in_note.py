"""``in_note`` through the real socket: where a query stands in one note."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.rpc.test_methods import cut
from tests.support.daemons import Raw, RunningDaemon, daemon_home

LONG = "---\ntags: [plant]\n---\n# Seals 🦭\n\nThe seal leaks.\n\n## Repair\n\nNothing here.\n\n" + (
    "🦓 word " * 60 + "the gasket of the seal 😀 sits here " + "and more " * 60 + "\nThe last seal.\n"
)


@pytest.fixture(scope="module")
def seals() -> Iterator[RunningDaemon]:
    with daemon_home() as home:
        home.write("Seals.md", LONG)
        home.write("Empty.md", "")
        daemon = home.start()
        daemon.ready()
        yield daemon


def ask(daemon: RunningDaemon, positions: str = "codepoint", **params: Any) -> dict[str, Any]:
    """The answer for the note about seals."""
    with Raw(daemon.home.places, positions=positions) as raw:
        answer: dict[str, Any] = raw.call("in_note", {"path": "Seals.md", **params})["result"]
        return answer


def test_the_lines_with_the_words_come_in_the_notes_order(seals: RunningDaemon) -> None:
    """Each line that holds a word is named once, by the file's own lines, under its heading."""
    found = ask(seals, query="seal")
    assert [match["line"] for match in found["matches"]] == [4, 6, 12, 13]
    assert [match["heading"] for match in found["matches"]] == ["Seals 🦭", "Seals 🦭", "Repair", "Repair"]
    assert found["total"] == 4
    assert (found["path"], found["title"], found["query"]) == ("Seals.md", "Seals", "seal")


def test_the_weightiest_lines_are_kept(seals: RunningDaemon) -> None:
    """Where there are more lines than wanted, those that hold the most of the query stay, and the rest are counted."""
    found = ask(seals, query="gasket seal", limit=1)
    assert [match["line"] for match in found["matches"]] == [12]
    assert found["total"] == 4
    assert found["matches"][0]["weight"] == pytest.approx(1.0)


@pytest.mark.parametrize("positions", ["codepoint", "utf-16", "byte"])
def test_a_long_line_is_cut_around_its_match(seals: RunningDaemon, positions: str) -> None:
    """The column says where the cut text begins in its line, and the spans what matches, in the client's units."""
    match = ask(seals, positions, query="gasket")["matches"][0]
    line = LONG.split("\n")[match["line"] - 1]
    length = len(line.encode("utf-16-le")) // 2 if positions == "utf-16" else len(line.encode())
    whole = {"start": match["column"], "end": len(line) if positions == "codepoint" else length}
    assert cut(line, whole, positions).startswith(match["text"])
    assert len(match["text"]) <= 240
    assert [cut(match["text"], span, positions) for span in match["spans"]] == ["gasket"]


def test_a_word_still_being_typed_matches(seals: RunningDaemon) -> None:
    """The last word may go on."""
    assert [match["line"] for match in ask(seals, query="gask")["matches"]] == [12]


@pytest.mark.parametrize("query", ["", "  ", "nowhere", "!?", "tag:#plant", "-seal", "x" * 5_000])
def test_nothing_to_find_is_an_answer(seals: RunningDaemon, query: str) -> None:
    """A query that stands nowhere in the note, or that has no words, has no lines."""
    found = ask(seals, query=query)
    assert (found["matches"], found["total"], found["start_line"]) == ([], 0, 0)


def test_an_empty_note_has_no_lines(seals: RunningDaemon) -> None:
    """A note of nothing but its name is answered like any other."""
    with Raw(seals.home.places) as raw:
        assert raw.call("in_note", {"path": "Empty.md", "query": "seal"})["result"]["matches"] == []


def test_without_a_model_the_answer_says_so(seals: RunningDaemon) -> None:
    """Words only, and the reason, where there is no embedder; plain where only words were asked for."""
    assert ask(seals, query="seal")["state"] == "keyword_only"
    assert ask(seals, query="seal", mode="words")["state"] == "full"


def test_a_note_deleted_since_is_unreadable(seals: RunningDaemon) -> None:
    """A note that has just gone from the disk is told apart from one that never was."""
    path = seals.home.write("Brief.md", "The seal is brief.")
    seals.found("brief", "Brief.md")
    path.unlink()
    with Raw(seals.home.places) as raw:
        error = raw.call("in_note", {"path": "Brief.md", "query": "seal"})["error"]
    assert error["data"]["kind"] in ("NoteUnreadable", "NoteNotFound")


def test_the_passage_nearest_in_meaning_is_named(slow: Raw) -> None:
    """With a model the lines of the nearest passage come besides, and a search by meaning has no lines of words."""
    found = slow.call("in_note", {"path": "Pump.md", "query": "seal", "mode": "meaning"})["result"]
    assert found["matches"] == []
    assert 4 <= found["start_line"] <= found["end_line"] <= 10
