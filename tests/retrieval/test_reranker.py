"""A reranker, where one is plugged in; without one, nothing is different."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from vaultrag.config import EmbedderSettings, SearchSettings, Settings
from vaultrag.errors import EmbedderUnavailable
from vaultrag.evaluate.run import Pipeline
from vaultrag.model import Answer
from vaultrag.ports import Reranker
from vaultrag.service.asking import Asking
from vaultrag.service.delivering import Delivery


class Shortest:
    """Likes short texts best; and keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.shown = list(texts)
        return [-float(len(text)) for text in texts]


class Down:
    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        raise EmbedderUnavailable("not today")


def _answers(tmp_path: Path, *rerankers: Reranker | None) -> list[Answer]:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "long.md").write_text("pump pump pump seal seal and a lot more to read of it", "utf-8")
    (vault / "short.md").write_text("a pump seal", "utf-8")
    (vault / "middle.md").write_text("the pump has a seal, says the book", "utf-8")
    settings = Settings(embedder=EmbedderSettings(provider="off"))
    with Pipeline(vault, tmp_path / "home", settings) as pipeline:
        pipeline.wait()
        parts = pipeline.parts
        return [
            Asking(replace(parts, reranker=reranker), SearchSettings()).search(
                "pump seal", mode="hybrid", typing=False, preview_chars=None, partial=None, wish=Delivery(limit=2)
            )
            for reranker in rerankers
        ]


@pytest.mark.timeout(60)
def test_a_reranker_orders_what_was_found(tmp_path: Path) -> None:
    """It is shown titles and passages of the best hits, more than are asked for, and its order is the answer's."""
    second = Shortest()
    plain, asked, down, none = _answers(tmp_path, None, second, Down(), None)
    assert len(second.shown) == 3
    assert "short\na pump seal" in second.shown
    assert [hit.path for hit in asked.hits] == ["short.md", "middle.md"]
    for hit in asked.hits:
        assert sum(part.contribution for part in hit.evidence) == pytest.approx(hit.score)
    assert [hit.path for hit in down.hits] == [hit.path for hit in plain.hits]
    assert none.hits == plain.hits
