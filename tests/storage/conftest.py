from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stores import IDENTITY
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.vectors.vector_store import Vectors


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NoteIndex]:
    opened = NoteIndex.open(tmp_path / "hybrid-fts.db")
    yield opened
    opened.close()


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[Vectors]:
    opened = Vectors.open(tmp_path / "obsidian_notes.db", IDENTITY)
    yield opened
    opened.close()
