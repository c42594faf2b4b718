"""Related notes: near in meaning or linked, never the note itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.stores import DIMENSION, IDENTITY, add, embedded
from vaultrag.domain import NoteId
from vaultrag.retrieval.related import related
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_rows import NoteRows
from vaultrag.storage.vectors.vector_store import Vectors, VectorScan


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NoteIndex]:
    opened = NoteIndex.open(tmp_path / "n.db")
    yield opened
    opened.close()


@pytest.fixture
def notes(index: NoteIndex) -> dict[str, NoteId]:
    texts = {
        "self": "[[out]] text",
        "near": "text",
        "out": "text",
        "back": "[[self]] text",
        "far": "text",
        "blank": "",
        **{f"other{n}": "text" for n in range(10)},
    }
    return {name: add(index, f"{name}.md", text) for name, text in texts.items()}


@pytest.fixture
def scan(tmp_path: Path, notes: dict[str, NoteId]) -> Iterator[VectorScan]:
    vectors = Vectors.open(tmp_path / "v.db", IDENTITY)
    axes = np.eye(DIMENSION, dtype=np.float32)
    rows = {name: axes[place] for place, name in enumerate(notes)}
    rows["near"] = (axes[0] * 0.9 + axes[1] * np.sqrt(1 - 0.81)).astype(np.float32)
    rows["blank"] = rows["near"]
    vectors.put((note_id, name, embedded(rows[name])) for name, note_id in notes.items())
    vectors.load()
    yield vectors.scan(rows["self"])
    vectors.close()


def _names(notes: dict[str, NoteId], ids: list[NoteId]) -> list[str]:
    back = {note_id: name for name, note_id in notes.items()}
    return [back[note_id] for note_id in ids]


def test_near_and_linked(index: NoteIndex, notes: dict[str, NoteId], scan: VectorScan) -> None:
    """The nearest note comes first, then those linked either way; the parts sum to the score."""
    found = related(notes["self"], NoteRows(index), scan)
    assert _names(notes, [hit.note_id for hit in found]) == ["near", "out", "back"]
    for hit in found:
        assert hit.score == pytest.approx(sum(part.contribution for part in hit.evidence))


def test_notes_without_text_stay_out(index: NoteIndex, notes: dict[str, NoteId], scan: VectorScan) -> None:
    """A note of a title only does not crowd the list, however near."""
    assert notes["blank"] not in [hit.note_id for hit in related(notes["self"], NoteRows(index), scan)]


def test_links_alone(index: NoteIndex, notes: dict[str, NoteId]) -> None:
    """Without vectors, links speak."""
    found = related(notes["self"], NoteRows(index), None)
    assert _names(notes, [hit.note_id for hit in found]) == ["out", "back"]


def test_not_yet_linked(index: NoteIndex, notes: dict[str, NoteId], scan: VectorScan) -> None:
    """Asked for what is not linked yet, linked notes stay out."""
    found = related(notes["self"], NoteRows(index), scan, linked=False)
    assert _names(notes, [hit.note_id for hit in found]) == ["near"]


def test_allowed(index: NoteIndex, notes: dict[str, NoteId], scan: VectorScan) -> None:
    """A filter holds for both arms."""
    found = related(notes["self"], NoteRows(index), scan, allowed=frozenset({notes["back"], notes["self"]}))
    assert _names(notes, [hit.note_id for hit in found]) == ["back"]


def test_a_lone_note(index: NoteIndex) -> None:
    """A note that is joined to nothing has no relations."""
    lone = add(index, "lone.md", "text")
    assert related(lone, NoteRows(index), None) == []
