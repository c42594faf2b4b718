"""Sixty questions whose answers lie in files of other kinds, among all notes of the sample vault."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.quality import file_vault
from tests.support.daemons import until
from vaultrag.app import VaultService
from vaultrag.config import EmbedderSettings, Places, Settings
from vaultrag.daemon.vaults import EmbedderPool, open_vault
from vaultrag.domain.requests import Search

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(300)]

SAMPLE_VAULT = Path(__file__).parents[2] / "sample-vault"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    folder, home = tmp_path_factory.mktemp("files") / "vault", tmp_path_factory.mktemp("home")
    shutil.copytree(SAMPLE_VAULT, folder)
    shutil.rmtree(folder / "Attachments")
    file_vault.write(folder / "Attachments")
    settings = Settings(embedder=EmbedderSettings(provider="builtin"))
    embedders = EmbedderPool(settings)
    places = Places(home / "config.toml", home / "data", home / "run")
    service = open_vault(folder.resolve(), places, settings, embedders)

    def done() -> bool:
        status = service.status()
        return status.state == "ready" and not (status.files_waiting or status.pending or status.passages_pending)

    until(done, "all is read and embedded", 240, 0.2)
    yield service
    service.close()
    embedders.close()


def test_questions_about_files(vault: VaultService) -> None:
    """Nine of ten questions have their file among the first three hits."""
    asked = [(question, path) for path, questions in file_vault.QUESTIONS.items() for question in questions]
    assert len(asked) == 60
    missed = []
    for question, name in asked:
        hits = vault.search(Search(question, limit=3, deadline_ms=0, include_weak=True)).hits
        if f"Attachments/{name}" not in {hit.path for hit in hits}:
            missed.append((question, [hit.path for hit in hits]))
    assert len(missed) <= 6, missed


def test_files_do_not_push_notes_aside(vault: VaultService) -> None:
    """A question about a note finds the note first, also where ``kind:note`` is not said."""
    for question, path in (
        ("how often must the pump be greased", "Reference/Pump hall operating manual.md"),
        ("E_CONN_0x8007", ""),
    ):
        first = vault.search(Search(question, limit=1, deadline_ms=0, include_weak=True)).hits[0]
        assert first.kind == "note"
        assert path in ("", first.path)
