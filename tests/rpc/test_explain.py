"""``explain``: the parts of a score, and the reason why a note is missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daemons import RunningDaemon, daemon_home
from vaultrag.rpc.client import Client


@pytest.fixture(scope="module")
def daemon() -> Iterator[RunningDaemon]:
    """A daemon whose vault holds a note about a seal, one about bread, a binary one and an excluded one."""
    with daemon_home({}) as home:
        home.write("Seal.md", "Replace the mechanical seal of the pump.\n")
        home.write("Bread.md", "---\ntags: [kitchen]\n---\nFlour and water.\n")
        home.write("Hidden/Diary.md", "The seal is a secret.\n")
        home.write(".vaultragignore", "Hidden/\n")
        (home.vault / "Picture.md").write_bytes(bytes(range(256)) * 40)
        running = home.start()
        running.ready()
        yield running


def test_the_parts_sum_to_the_score(daemon: RunningDaemon) -> None:
    """What the arms add up to is the score, to the last digit that matters."""
    explanation = daemon.client.explain("mechanical seal pump")
    assert explanation.hits[0].path == "Seal.md"
    assert explanation.hits[0].found
    for hit in explanation.hits:
        assert sum(part.contribution for part in hit.evidence) == pytest.approx(hit.score)


def test_every_word_is_accounted_for(daemon: RunningDaemon) -> None:
    """Each word of the query is shown with the number of notes that hold it, and its part in the search."""
    words = {word.text: word for word in daemon.client.explain("the seal of WO-17").words}
    assert words["seal"].notes == 1
    assert words["the"].role == "stop"
    assert words["wo 17"].role == "phrase"
    assert words["wo 17"].notes == 0


@pytest.mark.parametrize(
    ("query", "path", "reason"),
    [
        ("seal", "Hidden/Diary.md", ".vaultragignore"),
        ("seal", "Picture.md", "binary"),
        ("seal", "Nowhere.md", "no such note"),
        ("flour tag:kitchen", "Seal.md", "filters"),
    ],
)
def test_a_missing_note_is_given_its_reason(daemon: RunningDaemon, query: str, path: str, reason: str) -> None:
    """For a note that is not in the answer the reason is said: excluded, skipped, absent, filtered out."""
    asked = daemon.client.explain(query, path=path).asked
    assert asked is not None
    assert not asked.found
    assert reason in asked.verdict


def test_a_missing_note_is_given_what_helps(daemon: RunningDaemon) -> None:
    """The explanation guesses and repairs as ``why`` does: the note that was perhaps meant, or the step to take."""
    for path, hint in [("Sael.md", "did you mean Seal.md?"), ("Hidden/Diary.md", "take the line out of")]:
        asked = daemon.client.explain("seal", path=path).asked
        assert asked is not None
        assert asked.hint.startswith(hint)
        assert daemon.client.why(path).hint == asked.hint


def test_an_agent_is_given_no_command(daemon: RunningDaemon) -> None:
    """An agent gets the guess, and no step that is the owner's to take."""
    with Client.connect(daemon.home.places, reader="agent") as agent:
        guess, blank = (agent.explain("seal", path=path).asked for path in ("Sael.md", "Hidden/Diary.md"))
    assert guess is not None
    assert guess.hint == "did you mean Seal.md?"
    assert blank is not None
    assert blank.hint == ""


def test_a_weak_note_says_so(daemon: RunningDaemon) -> None:
    """A note that a retriever brought but that is too far from the question is explained as weak."""
    explanation = daemon.client.explain("water of the antarctic shelf in winter", path="Bread.md")
    assert explanation.asked is not None
    assert not explanation.asked.found
    assert "weak" in explanation.asked.verdict
    assert explanation.asked.tier == "weak"
    assert explanation.asked.score < explanation.params["partial"]
