"""What is said of the state of things is true: on the real process, with real files and a real stand-in for Ollama."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.fault.test_disk import fill_up, small_disk
from tests.support.daemons import REPOSITORY, Home, OllamaProcess, RunningDaemon, daemon_home, ollama_process, until
from vaultrag.domain import Answer
from vaultrag.domain.requests import Search
from vaultrag.errors import VaultRefused
from vaultrag.rpc.client import Client


@pytest.mark.parametrize(
    "text",
    ["raise ImportError('no such library')", "__version__ = '0.1.9'\ndef loadable_path(): return __file__"],
    ids=["absent", "for another machine"],
)
def test_words_are_served_without_the_vector_library(ollama_home: Home, tmp_path: Path, text: str) -> None:
    """Where sqlite-vec cannot be loaded, words are found, and answer and status say what is missing and what helps."""
    (tmp_path / "sqlite_vec.py").write_text(text)
    ollama_home.write("Pump.md", "The pump leaks.\n")
    daemon = ollama_home.start(env={"PYTHONPATH": f"{tmp_path}:{REPOSITORY}"})
    daemon.found("leaks", "Pump.md")

    def named() -> bool:
        answer = daemon.client.search("leaks")
        reasons = " ".join(reason.why + reason.hint for reason in answer.reasons)
        return answer.state == "keyword_only" and "sqlite-vec" in reasons and "pip install" in reasons

    daemon.until(named, "the answer names the library and the command")
    status = daemon.client.status()
    assert "sqlite-vec" in status.vaults[0].why
    assert status.embedder.state == "waiting"
    ollama_home.write("Fresh.md", "an okapi\n")
    daemon.found("okapi", "Fresh.md")


def test_a_rewritten_note_is_no_hit(home: Home) -> None:
    """A note whose file was rewritten is not shown for words that it held before, also before the index knows."""
    home.configure({"watch": {"debounce_ms": 60_000, "storm_ms": 60_000}})
    home.write("Pump.md", "The okapi leaks.\n")
    home.write("Valve.md", "The okapi turns.\n")
    daemon = home.start()
    daemon.found("okapi", "Pump.md", timeout_s=10)
    home.write("Pump.md", "The tax is due.\n")
    home.write("Valve.md", "The okapi turns, and turns.\n")
    answer = daemon.client.search("okapi")
    assert [(hit.path, hit.stale) for hit in answer.hits] == [("Valve.md", True)]
    assert answer.total == 1
    assert not answer.index.current


def test_an_answer_names_its_index_and_its_times(ollama_home: Home) -> None:
    """Search, explain and hello carry the build and the identity of the index; a search, what each retriever took."""
    ollama_home.write("Pump.md", "The pump leaks.\n")
    ollama_home.write("Seal.md", "Changed in spring, see [[Pump]].\n")
    daemon = ollama_home.start()
    status = daemon.ready()
    daemon.until(lambda: daemon.client.search("pump").index.current or None, "the index is current")
    answer, explained = daemon.client.search("pump"), daemon.client.explain("pump")
    expected = (daemon.client.status().build, status.identity)
    with daemon.connect() as client:
        assert (client.welcome["build"], client.welcome["identity"]) == expected
    for index in (answer.index, explained.index):
        assert (index.build, index.identity) == expected
        assert (index.current, index.pending) == (True, 0)
        assert index.checked_ns > 0
    assert {"words", "names", "meaning", "embed"} <= set(answer.times_ms)
    assert {"words", "names", "meaning"} <= set(explained.times_ms)
    (related,) = (hit for hit in daemon.client.related("Pump.md").hits if hit.path == "Seal.md")
    assert {part.source for part in related.evidence if part.arm == "links"} == {("Pump.md",)}


def command(home: Home, *args: str) -> subprocess.CompletedProcess[str]:
    """Run ``vaultrag`` in this home."""
    return subprocess.run(
        [sys.executable, "-m", "vaultrag", *args],
        cwd=home.base,
        env=home.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )


# -- a full disk -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="a small file system is mounted as Linux does it")
def test_a_full_disk_is_never_taken_for_nothing(home: Home) -> None:
    """On a full disk an empty answer says that the index could not be written and how old it is; a restart names it."""
    with small_disk(home.places.data, "2m"):
        home.write("Pump.md", "The pump leaks.\n")
        daemon = home.start()
        daemon.found("leaks", "Pump.md")
        fill_up(home.places.data / "big")
        for number in range(4):  # more than what is left in the pages that are there
            home.write(f"{number}.md", "".join(f"okapi{number}x{word} " for word in range(30_000)))

        def refused() -> Answer | None:
            answer = daemon.client.search("okapi3x7")
            return answer if any("cannot be written" in reason.why for reason in answer.reasons) else None

        answer = daemon.until(refused, "the answer says that the index cannot be written", 30)
        assert not answer.index.current
        assert answer.index.pending > 0
        (reason,) = (reason for reason in answer.reasons if "cannot be written" in reason.why)
        assert reason.state == "partial"
        assert " s ago" in reason.why
        assert "make room" in reason.hint
        for method in ("recent", "catalogue", "rules", "triggers"):
            told = daemon.client.call(method, {})["reasons"]
            assert any("cannot be written" in one["why"] for one in told), method
        asked = command(home, "search", "okapi3x7")
        assert asked.returncode == 3
        assert "cannot be written" in asked.stdout
        assert "another word" not in asked.stdout
        scans = daemon.counters["scans"]
        home.write("Small.md", "a quagga\n")  # what can still be written does not hide what could not
        daemon.until(lambda: daemon.counters["scans"] > scans or None, "it is looked at")
        assert not daemon.client.search("okapi3x7").index.current

        daemon.stop()
        fill_up(home.places.data / "bigger")
        daemon = home.start()
        for query in ("leaks", "okapi3x7"):
            asked = command(home, "search", query)
            assert asked.returncode in (0, 2, 3), asked
            assert "no vault is served" not in asked.stdout + asked.stderr
            assert "cannot be" in asked.stdout + asked.stderr
        for path in ("big", "bigger"):
            (home.places.data / path).unlink()
        subprocess.run(["mount", "-o", "remount,size=64m", str(home.places.data)], check=True)
        until(lambda: command(home, "search", "okapi3x7").returncode == 0 or None, "all is made good", 60)
        until(lambda: command(home, "search", "zebra").returncode == 1 or None, "nothing is nothing again", 30)


# -- refused ---------------------------------------------------------------------------------------------------------


def newer(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def folder_instead(path: Path) -> None:
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink()
    (path / "inside").mkdir(parents=True)


@pytest.mark.parametrize(
    ("harm", "word"), [(newer, "newer"), (folder_instead, "a folder stands in its place")], ids=["newer", "a folder"]
)
def test_a_vault_that_cannot_be_opened_is_named(home: Home, tmp_path: Path, harm: Any, word: str) -> None:
    """A vault whose index cannot be opened is named with the reason in status, errors and other vaults' answers."""
    other = tmp_path / "Other"
    other.mkdir()
    (other / "Tea.md").write_text("green tea\n")
    home.write("Pump.md", "The pump leaks.\n")
    daemon = home.start(home.vault, other)
    refused = daemon.ready().id
    daemon.stop()
    index = home.places.vault_folder(refused) / "hybrid-fts.db"
    harm(index)
    daemon = home.start(home.vault, other)
    by_id = {vault.id: vault for vault in daemon.client.status().vaults}
    assert by_id[refused].state == "refused"
    assert word in by_id[refused].why
    assert by_id[refused].hint
    assert daemon.client.status().state == "refused"
    with pytest.raises(VaultRefused, match=word):
        daemon.client.search("leaks", vault="vault")
    answer = daemon.client.search("tea", vault="Other")
    assert answer.hits[0].path == "Tea.md"
    assert any("the vault vault cannot be opened" in reason.why and word in reason.why for reason in answer.reasons)
    daemon.client.remove_vault("Other")
    asked = command(home, "search", "leaks")
    assert asked.returncode == 2
    assert word in asked.stderr
    assert "no vault is served" not in asked.stderr
    assert "cannot be opened" in command(home, "status").stdout + command(home, "vaults").stdout + asked.stderr
    daemon.client.remove_vault(refused)
    assert daemon.client.status().vaults == ()
    assert home.registered() == []


# -- a slow model ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningDaemon, OllamaProcess]]:
    """A daemon with all its vectors, whose model has become so slow that no answer can wait for it."""
    with ollama_process() as ollama, daemon_home(ollama.settings) as home:
        home.configure({**ollama.settings, "search": {"deadline_s": 0.3}})
        home.write("Pump.md", "The pump leaks.\n")
        daemon = home.start()
        daemon.ready()
        daemon.until(lambda: not daemon.status().passages_pending or None, "the passages are made")
        ollama.script(delay_s=8.0)
        yield daemon, ollama


def test_words_do_not_wait_for_a_cold_model(cold: tuple[RunningDaemon, OllamaProcess]) -> None:
    """At the deadline an answer holds what words have found and is partial, in search, explain and in a note."""
    daemon, _ = cold
    answer = daemon.client.search("the pump that leaks")
    assert (answer.state, [hit.path for hit in answer.hits]) == ("partial", ["Pump.md"])
    assert any("has not answered within" in reason.why for reason in answer.reasons)
    assert daemon.client.explain("a pump which leaks").state == "partial"
    assert daemon.client.in_note("Pump.md", "leaks of a pump").state == "partial"
    asked = command(daemon.home, "search", "what leaks here")
    assert (asked.returncode, "not complete" in asked.stdout) == (0, True)
    assert command(daemon.home, "search", "zebra stripes").returncode == 3
    assert daemon.client.call("search", {"query": "pump of ours", "deadline_ms": 1})["state"] == "partial"


def test_who_was_given_the_words_waits_for_the_rest(cold: tuple[RunningDaemon, OllamaProcess]) -> None:
    """A client that asked for the words' part at once gets it, and then the whole answer, however long that takes."""
    daemon, ollama = cold
    ollama.script(delay_s=1.0)
    parts: list[Answer] = []
    daemon.until(
        lambda: daemon.client.ask(Search("warm again", partial=True), parts.append).state == "full" or None, "it waits"
    )
    assert parts


def test_the_model_is_warmed_for_who_searches(ollama_home: Home, ollama: OllamaProcess) -> None:
    """A hello that says that a search follows has the model loaded, once; any other hello asks it nothing."""
    ollama_home.write("Pump.md", "The pump leaks.\n")
    daemon = ollama_home.start()
    daemon.until(lambda: not daemon.ready().passages_pending or None, "all vectors are made")
    ollama.script(reset=True)
    for searches in (False, False, True, True, True):
        with Client.connect(ollama_home.places, searches=searches):
            pass
    until(lambda: ollama.calls().get("/api/embed") or None, "the model is loaded")
    assert daemon.client.search("the pump that leaks", limit=3).state == "full"
    assert ollama.calls()["/api/embed"] == 2
    assert ollama.inputs() == ["search_query: the pump that leaks"]


# -- everything in the vault -----------------------------------------------------------------------------------------


def test_everything_in_the_vault_is_counted(home: Home) -> None:
    """Status counts each file of a vault by what became of it, and lists what is not in the index with the reason."""
    for path in ("A.md", "B/C.md", "Plan.md", "Plan-ANNS-PC.md", "Alone-ANNS-PC.md", "Old/Plan.conflict.md"):
        home.write(path, "a quagga\n")
    for path in ("plain.txt", "a.PDF", "b.pdf", "c.canvas", "d.mdown", "noend", "e.zip", "f.ZIP"):
        home.write(path, "no note\n")
    for path in ("Archive/X.md", "Archive/deep/Y.md", "Archive/z.png"):
        home.write(path, "left out\n")
    home.write(".obsidian/app.json", '{"userIgnoreFilters": ["Archive/"]}')
    home.write(".hidden.md", "hidden\n")
    home.write("binary.md", b"\0\1\2" * 100)
    daemon = home.start()
    daemon.found("quagga", "A.md", 10)
    daemon.until(lambda: daemon.client.search("quagga").index.current, "all is read")
    (vault,) = daemon.client.status(full=True, files=True).vaults
    rule = "one of Obsidian's excluded files (.obsidian/app.json): Archive/"
    assert {(one.fate, one.why): one.files for one in vault.files} == {
        ("indexed", "note"): 4,
        ("indexed", "pdf"): 2,
        ("indexed", "text"): 1,
        ("indexed", "canvas"): 1,
        ("skipped", "a sync-conflict copy"): 2,
        ("skipped", "binary content"): 1,
        ("excluded", rule): 3,
        ("other", ".zip"): 2,
        ("other", ".mdown"): 1,
        ("other", "no suffix"): 1,
        ("hidden", "hidden: not looked into"): 2,
    }
    listed = {one.why: one.paths for one in vault.files}
    assert list(listed[rule]) == ["Archive/X.md", "Archive/deep/Y.md", "Archive/z.png"]
    assert list(listed["a sync-conflict copy"]) == ["Old/Plan.conflict.md", "Plan-ANNS-PC.md"]
    told = " ".join(command(home, "status").stdout.replace("│", " ").split())
    assert "files: 8 indexed (4 note, 2 pdf, 1 canvas, 1 text), 3 skipped, 3 excluded, 4 of other kinds (2 .zip" in told
    assert "Archive/deep/Y.md" in command(home, "status", "--full").stdout
    with Client.connect(home.places, reader="agent") as agent:
        assert list(agent.status(files=True).vaults[0].files) == []

    for path, why in (
        ("e.zip", "files of its kind are not read"),
        ("Old", "a folder"),
        ("nowhere.txt", "there is no such note"),
    ):
        asked = command(home, "why", path)
        assert why in asked.stdout, asked
        assert ("there is no such note" in asked.stdout) == (path == "nowhere.txt")


def test_what_helps_fits_the_command(home: Home) -> None:
    """Where nothing is related, no option is proposed that ``related`` does not have."""
    home.write("Alone.md", "words of its own\n")
    daemon = home.start()
    daemon.found("words", "Alone.md", 10)
    for options in ((), ("--unlinked",)):
        asked = command(home, "related", "Alone.md", *options)
        assert asked.returncode == 1, asked
        assert "--mode" not in asked.stdout
        assert ("without --unlinked" in asked.stdout) == bool(options)
