"""How the status looks."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from vaultrag.cli.render.status import status_blocks, summary, vault_line, vault_lines
from vaultrag.domain import DaemonStatus, EmbedderStatus, NotePath, Skipped, VaultStatus

BUILTIN = EmbedderStatus("builtin", "small-model", "ready")
DOWN = EmbedderStatus("ollama", "nomic-embed-text", "down", "Ollama does not answer", "ollama serve")
VAULT = VaultStatus("notes-1", "Notes", "/home/me/Notes", "ready", notes=1234, embedded=1234, watching="native events")


def daemon(embedder: EmbedderStatus, *vaults: VaultStatus) -> DaemonStatus:
    return DaemonStatus(7, "0.1.0", "ready", 3700.0, 0, 1234, 0, 0, embedder, vaults)


def drawn(status: DaemonStatus, *, full: bool = False) -> str:
    paper = Console(file=StringIO(), width=80, markup=False)
    with paper.capture() as text:
        for block in status_blocks(status, full=full):
            paper.print(block)
    return text.get()


def test_status_shows_the_daemon_its_embedder_and_each_vault() -> None:
    """One block says who serves, one a vault says what is served."""
    text = drawn(daemon(BUILTIN, VAULT, replace(VAULT, name="Work [x]", state="embedding", pending=5, eta_s=61.0)))
    for part in ("vaultrag 0.1.0", "process 7", "up 1 h", "builtin small-model, ready", "1,234 notes", "/home/me/Notes",
                 "native events", "Work [x]", "5 to embed", "about 1 min left"):  # fmt: skip
        assert part in text


def test_status_says_why_the_embedder_is_away_and_what_to_do() -> None:
    """A model that is away is shown with the reason and the command."""
    text = drawn(daemon(DOWN, VAULT))
    assert "Ollama does not answer" in text
    assert "try: ollama serve" in text


def test_status_in_full_lists_what_is_left_out() -> None:
    """``--full`` names each skipped note with its reason; else they are counted."""
    vault = replace(VAULT, skipped=1, skipped_notes=(Skipped(NotePath("big.md"), "larger than 10 MB"),))
    assert "big.md: larger than 10 MB" in drawn(daemon(BUILTIN, vault), full=True)
    assert "big.md" not in drawn(daemon(BUILTIN, vault))
    assert "1 skipped" in drawn(daemon(BUILTIN, vault))


def test_status_without_a_vault_says_how_to_add_one() -> None:
    """A daemon with nothing to serve says what to type."""
    assert "vaultrag up ~/Notes" in drawn(daemon(BUILTIN))
    assert "vaultrag up ~/Notes" in summary(daemon(BUILTIN), [])


@pytest.mark.parametrize(
    ("vault", "embedder", "told"),
    [
        (VAULT, BUILTIN, "searchable by words and meaning (builtin small-model)"),
        (replace(VAULT, pending=9), BUILTIN, "meaning follows (9 to go)"),
        (replace(VAULT, embedded=0), BUILTIN, "meaning follows (at work)"),
        (VAULT, DOWN, "searchable by words (Ollama does not answer; try: ollama serve)"),
        (replace(VAULT, state="away", why="the folder is away"), BUILTIN, "away: the folder is away"),
        (replace(VAULT, state="indexing"), BUILTIN, "being read"),
        (replace(VAULT, notes=0, embedded=0), BUILTIN, "0 notes"),
    ],
)
def test_a_vault_in_one_line_says_what_can_be_searched(vault: VaultStatus, embedder: EmbedderStatus, told: str) -> None:
    """``up`` ends with what one can do now."""
    assert told in vault_line(vault, embedder)


def test_up_points_at_what_was_skipped() -> None:
    """Left-out notes are counted, with the command that lists them."""
    text = summary(daemon(BUILTIN), [replace(VAULT, skipped=2, problems=1)])
    assert "2 skipped, 1 odd: vaultrag status --full" in text


def test_the_list_of_vaults_is_in_columns_and_keeps_brackets() -> None:
    """A vault's name is shown as it is, not read as markup, and folders stand below each other."""
    first, second = vault_lines([replace(VAULT, name="[red]Notes"), replace(VAULT, name="日本", state="embedding")])
    assert first.plain == "[red]Notes  1,234 notes  ready      /home/me/Notes"
    assert second.plain == "日本        1,234 notes  embedding  /home/me/Notes"
