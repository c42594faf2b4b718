"""The model and its server: what it does to some notes, and to all; and another model in its place."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.fault.homes import made_good, unharmed
from tests.fault.ledger import Ledger, times
from tests.fault.truth import Texts, Truth, fill, first_word, hash_of, sent_whole, stored, text_of, whole
from tests.support.daemons import Home, OllamaProcess, RunningDaemon
from vaultrag.domain import Answer

# -- one bad note, and the whole server ------------------------------------------------------------------------------

POISON = {
    "500 with NaN": "nan",
    "400 with NaN": "nan_400",
    "400 for no good reason": "bad",
    "a crash of the runner": "crash",
    "a cut connection": "drop",
    "a vector of zeros": "zero",
    "nulls in the vector": "null",
}


@pytest.mark.parametrize("fault", times(["a cut connection"], list(POISON)))
def test_one_note_that_the_model_cannot_take(
    ollama_home: Home, ollama: OllamaProcess, ledger: Ledger, fault: str
) -> None:
    """The one note is listed with the reason and found by its words; all others have their vectors."""
    home = ollama_home
    texts = fill(home, 20)
    bad = "Folder 3/Note 7.md"
    ollama.script(poison={first_word(texts[bad]): POISON[fault]})
    with ledger.attempt(f"embedder: {fault}") as entry:
        daemon = home.start()

        def isolated() -> bool:
            status = daemon.status(full=True)
            return status.failed == 1 and not status.pending and bad in {n.path for n in status.problem_notes}

        daemon.until(isolated, "the one note is listed", 60)
        status = daemon.status(full=True)
        assert (status.embedded, status.state) == (19, "ready")
        (reason,) = [note.reason for note in status.problem_notes if note.path == bad]
        assert reason.startswith("no vector: ")
        assert len(reason) > len("no vector: ") + 5
        assert daemon.client.search(first_word(texts[bad]), mode="words").hits[0].path == bad
        ollama.script(poison={})
        daemon.client.reindex()
        made_good(daemon)
        truth = Truth(daemon, texts, meaning=True)
        entry.lost, entry.wrong = len(truth.lost), len(truth.wrong)
        unharmed(home)


def test_a_note_that_is_over_the_context(ollama_home: Home, ollama: OllamaProcess, ledger: Ledger) -> None:
    """A note of which one part is refused as too long, however short, has a vector of the rest."""
    home = ollama_home
    texts = fill(home, 20)
    path = "Folder 3/Note 7.md"
    ollama.script(poison={first_word(texts[path]): "too_long"})
    with ledger.attempt("embedder: 400 over the context") as entry:
        daemon = home.start()
        made_good(daemon)
        entry.lost = 20 - daemon.status().embedded
        assert daemon.status().failed == 0
        assert daemon.client.search(" ".join(texts[path].split()[-6:]), mode="meaning").hits[0].path == path
        unharmed(home)


SERVER: dict[str, dict[str, Any]] = {
    "500 for everything": {"fail_always": 500},
    "503, busy": {"fail_always": 503},
    "too many vectors": {"count_off": 1},
    "too few vectors": {"count_off": -1},
    "vectors of another length": {"dimension_off": 5},
    "answers cut in the middle": {"drop": 10_000},
    "another program on the port": {"garbage": True},
    "404, no such model": {"models": []},
    "slower than it may be": {"delay_s": 30.0},
}


@pytest.mark.parametrize("fault", times(["too few vectors", "slower than it may be"], list(SERVER)))
def test_a_server_that_serves_nobody(ollama_home: Home, ollama: OllamaProcess, ledger: Ledger, fault: str) -> None:
    """Words go on, and the answer says why that is all; in the end all notes have their vectors."""
    home = ollama_home
    home.configure({"embedder": {**ollama.settings["embedder"], "timeout_s": 1.0}})
    texts = fill(home, 12)
    daemon = home.start()
    made_good(daemon)
    with ledger.attempt(f"embedder: {fault}") as entry:
        ollama.script(**SERVER[fault])
        for number in range(4):
            texts[f"Fresh {number}.md"] = text_of(700 + number)
            home.write(f"Fresh {number}.md", texts[f"Fresh {number}.md"])
        for number in range(4):
            daemon.found(first_word(text_of(700 + number)), f"Fresh {number}.md", 10)

        def only_words() -> Answer | None:
            answer = daemon.client.search(f"{first_word(text_of(700))} pump {''.join(random.choices('abcdefgh', k=8))}")
            return answer if answer.state in ("keyword_only", "model_mismatch") else None

        answer = daemon.until(only_words, "the answer says that words are all", 30)
        assert answer.hits[0].path == "Fresh 0.md"
        assert answer.reasons[0].why
        assert daemon.status().notes == 16
        ollama.script(reset=True, models=["nomic-embed-text"])
        daemon.client.reindex()
        daemon.until(lambda: (whole(daemon.status()) and daemon.status().failed == 0) or None, "all is made good", 90)
        truth = Truth(daemon, texts, meaning=True)
        entry.lost, entry.wrong = len(truth.lost), len(truth.wrong)
        unharmed(home)


# -- another model ---------------------------------------------------------------------------------------------------


def test_the_model_changes_and_changes_back(ollama_home: Home, ollama: OllamaProcess, ledger: Ledger) -> None:
    """Another model: words go on and say why, vectors are made beside and swapped in; going back calls no model."""
    home = ollama_home
    home.configure({**ollama.settings, "search": {"passages": False}})
    texts = fill(home, 40)
    daemon = home.start()
    made_good(daemon)
    first = daemon.client.status().embedder.identity
    with ledger.attempt("model change, uninterrupted") as entry:
        daemon.stop()
        ollama.script(digest="e" * 64, delay_s=0.3)
        daemon = home.start()
        answer = daemon.until(lambda: _mismatched(daemon, texts), "another model is noticed", 20)
        assert answer.hits[0].path == "Folder 1/Note 1.md"
        assert "made again" in answer.reasons[0].why
        assert {evidence.arm for hit in answer.hits for evidence in hit.evidence} & {"meaning", "passages"} == set()
        assert daemon.status().state == "embedding"
        ollama.script(delay_s=0)
        made_good(daemon)
        truth = Truth(daemon, texts, meaning=True)
        assert daemon.client.status().embedder.identity != first
        daemon.stop()

        sent = len(ollama.documents())
        ollama.script(digest="0a109f422b47e3a30ba2b10eca18548e944e8a23073ee3f3e947efcf3c45e59f")
        daemon = home.start()
        made_good(daemon)
        assert daemon.client.status().embedder.identity == first
        back = Truth(daemon, texts, meaning=True)
        entry.lost, entry.wrong = len(truth.lost + back.lost), len(truth.wrong + back.wrong)
        assert ollama.documents()[sent:] == []


def _mismatched(daemon: RunningDaemon, texts: Texts) -> Answer | None:
    answer = daemon.client.search(first_word(texts["Folder 1/Note 1.md"]))
    return answer if answer.state == "model_mismatch" else None


@pytest.mark.timeout(600)
def test_a_change_of_model_that_is_interrupted_resumes(
    ollama_home: Home, ollama: OllamaProcess, ledger: Ledger
) -> None:
    """Killed again and again while another model's vectors are made, the daemon makes none of them a second time."""
    home = ollama_home
    home.configure({**ollama.settings, "search": {"passages": False}})
    texts = fill(home, 96)
    daemon = home.start()
    made_good(daemon)
    dice = random.Random("interrupted")
    for round_ in range(times(1, 6)):
        with ledger.attempt("model change, interrupted 3 times") as entry:
            daemon.stop()
            before = len(ollama.documents())
            digest = f"{round_ + 1:02x}" * 32
            ollama.script(digest=digest, delay_s=0.1)
            for _ in range(3):
                known = {text_hash for kept, text_hash in stored(home) if digest.startswith(kept)}
                had = {text for path, text in texts.items() if hash_of(path, text) in known}
                begun = len(ollama.documents())
                done = begun + dice.randrange(17, 25)  # a batch is sixteen
                daemon = home.start()
                daemon.until(lambda done=done: len(ollama.documents()) >= done or None, "it works at it", 60)  # type: ignore[misc]
                daemon.kill()
                assert not had & set(sent_whole(ollama.documents()[begun:], texts.values()))
            assert known, "nothing had been stored when it was killed"
            ollama.script(delay_s=0)
            daemon = home.start()
            made_good(daemon)
            truth = Truth(daemon, texts, meaning=True)
            entry.lost, entry.wrong = len(truth.lost), len(truth.wrong)
            counts = sent_whole(ollama.documents()[before:], texts.values())
            assert len(counts) == 96
            # Each time it was killed, what had been asked for and was not yet stored: a batch at most.
            assert sum(counts.values()) <= 96 + 3 * 16
