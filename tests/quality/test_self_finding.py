"""Every note of the sample vault finds itself by its names, and the tool lists what is not found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.quality import self_finding
from tests.quality.baseline import VAULT
from tests.quality.self_finding import KINDS, Question, ask, read
from vaultrag.app import VaultService
from vaultrag.config import EmbedderSettings, Settings
from vaultrag.domain import Note, NotePath
from vaultrag.evaluate.run import Pipeline

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    """The sample vault, indexed without a model."""
    settings = Settings(embedder=EmbedderSettings(provider="off"))
    with Pipeline(Path(VAULT), tmp_path_factory.mktemp("home"), settings) as pipeline:
        pipeline.wait()
        yield pipeline.service


@pytest.fixture(scope="module")
def notes(service: VaultService) -> list[Note]:
    """All notes of it."""
    return read(service)


@pytest.mark.parametrize("kind", KINDS)
def test_every_note_is_first_for_its_name(service: VaultService, notes: list[Note], kind: str) -> None:
    """A note's title, alias, file name or path, however it was copied, brings it or a note of the same name first."""
    outcome = ask(service, notes, [kind])
    assert outcome.asked[kind] > 50
    assert not outcome.misses, "\n".join(map(str, outcome.misses))


@pytest.mark.parametrize("kind", ["word", "sentence", "heading", "day"])
def test_every_note_is_found_by_its_text(service: VaultService, notes: list[Note], kind: str) -> None:
    """A word, a sentence or a heading that stands in one note alone brings it; a day brings its daily note.

    Brackets are left out: in a query they are conditions.
    """
    outcome = ask(service, notes, [kind])
    assert outcome.asked[kind] > 50
    misses = [miss for miss in outcome.misses if "[" not in miss.question.text]
    assert not misses, "\n".join(map(str, misses))


def test_a_note_that_is_not_found_is_listed(
    service: VaultService, notes: list[Note], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that another note answers is a miss, and is told with the note that came first."""

    one, other = (note for note in notes if note.path in ("Daily/2024-10-14.md", "Daily/2024-11-18.md"))

    def wrong(notes: Sequence[Note]) -> Iterator[Question]:
        yield Question(one.path, one.title)
        yield Question(one.path, other.title)
        yield Question(NotePath("none.md"), other.title, within=3)

    monkeypatch.setitem(self_finding.KINDS, "wrong", wrong)
    outcome = ask(service, notes, ["wrong"])
    assert outcome.asked["wrong"] == 3
    assert [(miss.question.path, miss.first) for miss in outcome.misses] == [
        (one.path, other.path),
        ("none.md", other.path),
    ]
    assert "33.33 %" in outcome.table()
