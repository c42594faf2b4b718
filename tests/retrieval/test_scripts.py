"""Which queries are left to the words, because the model cannot read their script."""

from __future__ import annotations

import pytest

from vaultrag.retrieval.pipeline import _other_script


@pytest.mark.parametrize("query", ["水泵检修", "насос", "ポンプの点検 P-101", "μετρητής"])
def test_other_scripts_are_told(query: str) -> None:
    """A query whose letters are mostly of another script than Latin is foreign to a Latin model."""
    assert _other_script(query)


@pytest.mark.parametrize("query", ["pump", "Überlauf prüfen", "Séjour", "the 水泵 of the water works", "", "12 §"])
def test_latin_text_is_not(query: str) -> None:
    """Latin letters with accents, a foreign word among English ones, and signs are not."""
    assert not _other_script(query)
