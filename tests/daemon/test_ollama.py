"""The daemon and its model's server: away, back, without the model, with another one under the same name."""

from __future__ import annotations

import pytest

from tests.support.daemons import Home, OllamaProcess, RunningDaemon, daemon_home, ollama_process
from vaultrag.domain import Answer

TEXTS = {
    "Pump.md": "The seal of the pump leaks when the water is cold.\n",
    "Valve.md": "The valve sticks in winter and must be greased.\n",
    "Bread.md": "Flour, water, salt and patience make a loaf.\n",
}


def fill(home: Home) -> None:
    for path, text in TEXTS.items():
        home.write(path, text)


def arms(answer: Answer) -> set[str]:
    return {evidence.arm for hit in answer.hits for evidence in hit.evidence}


def full(daemon: RunningDaemon, query: str, timeout_s: float = 10.0) -> Answer:
    """Wait until a query is answered in full."""

    def look() -> Answer | None:
        answer = daemon.client.search(query)
        return answer if answer.state == "full" else None

    return daemon.until(look, "an answer in full", timeout_s)


def test_notes_are_found_by_meaning(ollama_home: Home, ollama: OllamaProcess) -> None:
    """Each note goes to the model once, whole, with its prefix, and the meaning arm has its say in the answer."""
    fill(ollama_home)
    daemon = ollama_home.start()
    status = daemon.ready()
    assert (status.embedded, status.pending, status.failed) == (3, 0, 0)
    assert sorted(ollama.documents()) == sorted(set(ollama.documents()))
    assert len(ollama.documents()) == 3
    answer = daemon.client.search("pump seal leaks")
    assert (answer.state, answer.reasons) == ("full", ())
    assert answer.hits[0].path == "Pump.md"
    assert "meaning" in arms(answer)
    embedder = daemon.client.status().embedder
    assert (embedder.provider, embedder.model, embedder.state) == ("ollama", "nomic-embed-text", "ready")
    assert embedder.dimension == 768


def test_words_answer_while_vectors_are_made(ollama_home: Home, ollama: OllamaProcess) -> None:
    """During the first embedding words find every note, and the answer says that vectors are still missing."""
    fill(ollama_home)
    for number in range(80):
        ollama_home.write(f"{number}.md", f"background number {number}\n")
    ollama.script(delay_s=0.4)
    daemon = ollama_home.start()
    daemon.found("seal leaks", "Pump.md")
    daemon.until(lambda: daemon.status().embedded or None, "some vectors are there")
    answer = daemon.client.search("seal leaks")
    assert answer.state == "indexing"
    assert answer.hits[0].path == "Pump.md"
    assert any("no vector yet" in reason.why for reason in answer.reasons)
    status = daemon.status()
    assert (status.state, status.notes) == ("embedding", 83)
    assert status.pending > 0
    assert daemon.client.status().state == "embedding"
    ollama.script(delay_s=0)
    daemon.ready()
    assert daemon.client.search("seal leaks").state == "full"


def test_fresh_words_do_not_wait_for_a_slow_model(ollama_home: Home, ollama: OllamaProcess) -> None:
    """A note written while the model is busy is found by its words at once."""
    fill(ollama_home)
    for number in range(80):
        ollama_home.write(f"{number}.md", f"background number {number}\n")
    ollama.script(delay_s=2)
    daemon = ollama_home.start()
    daemon.until(lambda: daemon.status().state == "embedding" or None, "it embeds")
    ollama_home.write("Fresh.md", "an okapi\n")
    daemon.found("okapi", "Fresh.md", timeout_s=1.5)


def test_words_go_on_without_the_server_and_meaning_comes_back(ollama_home: Home, ollama: OllamaProcess) -> None:
    """With the server dead, words answer and say why that is all; with the server back, the rest is made up for."""
    fill(ollama_home)
    daemon = ollama_home.start()
    daemon.ready()
    ollama.kill()

    answer = daemon.client.search("valve winter")
    assert answer.state == "keyword_only"
    assert [hit.path for hit in answer.hits] == ["Valve.md"]
    assert "Ollama does not answer" in answer.reasons[0].why
    assert answer.reasons[0].hint == "ollama serve"
    ollama_home.write("Fresh.md", "an okapi in the snow\n")
    daemon.found("okapi", "Fresh.md")
    status = daemon.until(
        lambda: status if (status := daemon.client.status()).embedder.state == "down" else None, "the status says so"
    )
    assert status.embedder.hint == "ollama serve"
    assert status.vaults[0].pending == 1
    assert "Traceback" not in ollama_home.log

    ollama.start()
    status = daemon.until(
        lambda: status if (status := daemon.client.status()).vaults[0].pending == 0 else None, "it catches up", 20
    )
    assert "meaning" in arms(full(daemon, "okapi snow"))
    assert daemon.client.status().embedder.state == "ready"
    assert len(ollama.documents()) == 1


def test_a_server_that_comes_later_is_waited_for(home: Home) -> None:
    """A daemon that is started before its server serves words at once, and meaning when the server is there."""
    with ollama_process() as ollama:
        ollama.kill()
        home.configure(ollama.settings)
        fill(home)
        daemon = home.start()
        daemon.found("pump", "Pump.md")
        assert daemon.client.search("pump cold").state in ("keyword_only", "indexing")
        ollama.start()
        daemon.until(lambda: daemon.status().embedded == 3 or None, "it catches up", 20)
        assert full(daemon, "pump water").hits[0].path == "Pump.md"


def test_a_missing_model_is_told_with_its_command() -> None:
    """A server without the model: words go on, and status and answers name the command that gets it."""
    with ollama_process("--no-models") as ollama, daemon_home(ollama.settings) as home:
        fill(home)
        daemon = home.start()
        status = daemon.until(
            lambda: status if (status := daemon.client.status()).embedder.state == "missing" else None, "it is missed"
        )
        assert status.embedder.hint == "ollama pull nomic-embed-text"
        answer = daemon.client.search("pump seal")
        assert answer.state == "keyword_only"
        assert answer.reasons[0].hint == "ollama pull nomic-embed-text"
        assert answer.hits[0].path == "Pump.md"
        ollama.script(models=["nomic-embed-text"])
        daemon.client.reindex()
        daemon.until(lambda: daemon.status().embedded == 3 or None, "the model is used", 5)
        assert full(daemon, "pump cold").hits[0].path == "Pump.md"


@pytest.mark.slow
def test_a_model_replaced_under_its_name_is_noticed(ollama_home: Home, ollama: OllamaProcess) -> None:
    """Another model under the same name: words go on, vectors are made again beside, and change places when done."""
    fill(ollama_home)
    for number in range(40):
        ollama_home.write(f"{number}.md", f"background number {number}\n")
    daemon = ollama_home.start()
    folder = ollama_home.places.vault_folder(daemon.ready().id)
    first = daemon.client.status().embedder.identity
    full(daemon, "pump seal")
    ollama.script(digest="f" * 64, delay_s=0.5)

    def mismatch() -> Answer | None:
        answer = daemon.client.search("valve winter")
        return answer if answer.state == "model_mismatch" else None

    answer = daemon.until(mismatch, "another model is noticed", 20)
    assert answer.hits[0].path == "Valve.md"
    assert "meaning" not in arms(answer)
    daemon.until(lambda: list(folder.glob("obsidian_notes.*.db")) or None, "it builds beside the old file", 5)
    assert daemon.client.search("valve winter grease").state == "model_mismatch"
    ollama.script(delay_s=0)
    assert full(daemon, "pump seal leaks", 20).hits[0].path == "Pump.md"
    status = daemon.client.status()
    assert status.vaults[0].embedded == 43
    assert status.embedder.identity != first
    assert len(ollama.documents()) == 2 * 43


@pytest.mark.slow
@pytest.mark.model
def test_going_back_to_a_provider_costs_nothing(ollama_home: Home, ollama: OllamaProcess) -> None:
    """Vectors of the provider used before are kept: to change the setting and change it back embeds nothing again."""
    fill(ollama_home)
    daemon = ollama_home.start()
    daemon.ready()
    daemon.stop()
    ollama_home.configure({"embedder": {"provider": "builtin"}})
    daemon = ollama_home.start()
    assert daemon.ready().counters["texts_embedded"] == 3
    assert full(daemon, "pump seal").hits[0].path == "Pump.md"
    assert daemon.client.status().embedder.provider == "builtin"
    daemon.stop()
    sent = len(ollama.documents())

    ollama_home.configure(ollama.settings)
    daemon = ollama_home.start()
    assert daemon.ready().counters["texts_embedded"] == 0
    assert full(daemon, "pump seal").hits[0].path == "Pump.md"
    assert daemon.client.status().embedder.provider == "ollama"
    assert len(ollama.documents()) == sent


@pytest.mark.slow
def test_switched_off_and_on_again_costs_nothing(ollama_home: Home, ollama: OllamaProcess) -> None:
    """With meaning switched off words answer and say so; switched on again, the vectors are still there."""
    fill(ollama_home)
    daemon = ollama_home.start()
    daemon.ready()
    daemon.stop()
    ollama_home.configure({"embedder": {"provider": "off"}})
    daemon = ollama_home.start()
    answer = daemon.client.search("pump seal")
    assert answer.state == "keyword_only"
    assert "switched off" in answer.reasons[0].why
    assert daemon.client.status().embedder.state == "off"
    assert daemon.ready().state == "ready"
    daemon.stop()
    ollama_home.configure(ollama.settings)
    daemon = ollama_home.start()
    assert daemon.ready().counters["texts_embedded"] == 0
    assert full(daemon, "pump seal").hits[0].path == "Pump.md"


def test_one_bad_note_stops_no_other(ollama_home: Home, ollama: OllamaProcess) -> None:
    """A note that the model cannot take is listed with the reason; all others have their vectors."""
    fill(ollama_home)
    ollama_home.write("Poison.md", "a venomous snake\n")
    ollama.script(poison={"venomous": "nan"})
    daemon = ollama_home.start()
    status = daemon.until(
        lambda: status if (status := daemon.status(full=True)).failed and not status.pending else None, "it is listed"
    )
    assert (status.embedded, status.failed, status.state) == (3, 1, "ready")
    assert [note.path for note in status.problem_notes] == ["Poison.md"]
    assert "no vector" in status.problem_notes[0].reason
    assert daemon.client.search("venomous").hits[0].path == "Poison.md"


LONG = "\n\n".join(f"Paragraph {n} tells of pressure and flow in the upper tank of the house." for n in range(12))


def test_passages_follow_the_vectors(ollama_home: Home, ollama: OllamaProcess) -> None:
    """Once all notes have their vectors, passages follow while search is full, survive a crash, and find the line."""
    fill(ollama_home)
    for number in range(20):
        ollama_home.write(f"{number}.md", f"{LONG}\n\nBackground number {number}.\n")
    ollama_home.write("Rule.md", f"{LONG}\n\nNever feed the okapi after midnight.\n\n{LONG}\n")
    ollama.script(delay_s=0.1)
    daemon = ollama_home.start()
    status = daemon.ready()
    assert status.passages_pending > 0
    assert daemon.client.search("pump seal leaks").state == "full"
    daemon.until(lambda: 0 < daemon.status().passages_pending < 20 or None, "some have their passages")
    daemon.kill()
    ollama.script(delay_s=0)
    daemon = ollama_home.start()
    daemon.until(lambda: not daemon.ready().passages_pending or None, "all have their passages", 20)
    assert daemon.counters["texts_embedded"] == 0
    documents = ollama.documents()
    assert len(documents) < len(set(documents)) + 100  # at most what was under way is made again
    answer = full(daemon, "feed the okapi after midnight")
    assert answer.hits[0].path == "Rule.md"
    assert answer.hits[0].start_line <= 25 <= answer.hits[0].end_line
    assert "passages" in arms(answer)


def test_without_passages(ollama_home: Home, ollama: OllamaProcess) -> None:
    """With passages switched off each note meets the model once; switched on again, they are made and nothing else."""
    ollama_home.configure({**ollama.settings, "search": {"passages": False}})
    ollama_home.write("Long.md", LONG)
    daemon = ollama_home.start()
    assert daemon.ready().passages_pending == 0
    assert full(daemon, "pressure and flow").hits[0].path == "Long.md"
    assert len(ollama.documents()) == 1
    assert daemon.stop() == 0
    ollama_home.configure(ollama.settings)
    daemon = ollama_home.start()
    daemon.until(lambda: len(ollama.documents()) > 1 or None, "passages are made")
    daemon.until(lambda: not daemon.ready().passages_pending or None, "all are made")
    assert daemon.counters["texts_embedded"] == 0
