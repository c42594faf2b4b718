"""What is said of the state of things is true: on the real process, with real files and a real stand-in for Ollama."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.daemons import REPOSITORY, Home


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
