"""Passages on the disk say what the same passages in memory say, of the notes that come into question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.stores import unit_rows
from vaultrag.domain import EmbeddedNote, Identity, NoteId
from vaultrag.storage.vectors.passages import Cosines, Ids, PassageRow, Passages
from vaultrag.storage.vectors.vector_store import Vectors

DIMENSION = 16
NOTES = 60
QUERY = unit_rows(1, 77, dimension=DIMENSION)[0]


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[Vectors]:
    """Sixty notes of three passages each; the last has none to be had, and those of the one before are to be made."""
    store = Vectors.open(tmp_path / "obsidian_notes.db", Identity("test", "random", "1", DIMENSION))
    for number in range(1, NOTES + 1):
        passages = unit_rows(3, number, dimension=DIMENSION)
        lines = tuple((place, place + 1) for place in range(3))
        whole = number < NOTES - 1
        note = EmbeddedNote(passages[0], 1.0, lines if whole else (), passages if whole else None)
        store.put([(NoteId(number), f"text {number}", note)])
    store.put_passages(f"text {NOTES}", (), ())
    yield store
    store.close()


def on_disk(vectors: Vectors) -> Passages:
    passages = Passages(DIMENSION, vectors._passages_of, room_bytes=0)
    passages.expect(1)
    passages.take(vectors._passages_of([NoteId(number) for number in range(1, NOTES + 1)]))
    assert not passages.in_memory
    return passages


def near(vectors: Vectors) -> tuple[Ids, Cosines]:
    found = vectors.scan(QUERY).notes(NOTES)
    return np.array([note_id for note_id, _ in found], np.int64), np.array([cosine for _, cosine in found])


def test_the_same_as_in_memory(vectors: Vectors) -> None:
    """Best passage, its place and its cosine are those that a look through memory finds, note by note."""
    there, here = on_disk(vectors).scan(QUERY, NOTES), vectors._passages.scan(QUERY, NOTES)
    ids = np.arange(1, NOTES + 1)
    assert there.best_of(ids) == pytest.approx(here.best_of(ids), nan_ok=True)
    assert np.isnan(there.best_of(ids)).sum() == 2
    for note_id in map(NoteId, range(1, NOTES + 2)):
        assert there.place(note_id) == here.place(note_id)


def test_the_nearest_are_found_wherever_their_note_stands(vectors: Vectors) -> None:
    """Every passage is compared: one near passage brings its note, though the note's own vector is far off."""
    passages = unit_rows(6, 500, dimension=DIMENSION)
    passages[3] = QUERY
    vectors.put([(NoteId(99), "text 99", EmbeddedNote(-QUERY, 1.0, tuple((n, n) for n in range(6)), passages))])
    store = on_disk(vectors)
    store.take(vectors._passages_of([NoteId(99)]))
    ids, cosines = near(vectors)
    found, best = store.scan(QUERY, NOTES + 1).nearest(5, None, lambda count: (ids[:count], cosines[:count]))
    assert found[0] == 99
    assert best[0] == pytest.approx(1.0, abs=0.01)
    assert best.tolist() == sorted(best.tolist(), reverse=True)
    assert 99 not in store.scan(QUERY, NOTES + 1).nearest(5, frozenset({NoteId(1)}), lambda count: near_none())[0]


def near_none() -> tuple[Ids, Cosines]:
    return np.zeros(0, np.int64), np.zeros(0)


def test_notes_that_wait_for_theirs(vectors: Vectors) -> None:
    """A note whose passages are still to be made is in the list by its own vector; one that has none is not."""
    ids, cosines = near(vectors)
    found, best = on_disk(vectors).scan(QUERY, NOTES).nearest(NOTES, None, lambda count: (ids, cosines))
    listed = dict(zip(found.tolist(), best.tolist(), strict=True))
    assert listed[NOTES - 1] == pytest.approx(dict(zip(ids.tolist(), cosines.tolist(), strict=True))[NOTES - 1])
    assert NOTES not in listed
    assert len(listed) == NOTES - 1


def test_they_leave_memory_when_they_are_too_many(vectors: Vectors) -> None:
    """Beyond the room that there is, nothing is held any more; once all are dropped, there is room again."""
    passages = Passages(DIMENSION, vectors._passages_of, room_bytes=20_000)
    rows = vectors._passages_of([NoteId(number) for number in range(1, NOTES - 1)])
    passages.take(rows[:2])
    assert 0 < passages.nbytes <= 20_000
    for number in range(30):
        passages.take([PassageRow(NoteId(1_000 * number + row.note_id), *row[1:]) for row in rows])
    assert not passages.in_memory
    assert passages.scan(QUERY, NOTES).place(NoteId(3)) is not None
    passages.clear()
    assert passages.in_memory


def test_a_search_of_such_a_file(vectors: Vectors) -> None:
    """A search of a file whose passages do not fit into memory finds the notes that it finds of one whose do."""
    one = vectors.scan(QUERY).matches(20, None, np.array([NoteId(2)]))
    vectors._passages = on_disk(vectors)
    other = vectors.scan(QUERY).matches(20, None, np.array([NoteId(2)]))
    shared = np.intersect1d(one.ids, other.ids)
    assert len(shared) >= 20
    assert {n for n, _ in vectors.scan(QUERY).notes(20)} | {2} <= set(other.ids.tolist())
    here, there = np.searchsorted(one.ids, shared), np.searchsorted(other.ids, shared)
    assert other.notes[there] == pytest.approx(one.notes[here])
    assert other.passages[there] == pytest.approx(one.passages[here], nan_ok=True)
    assert other.counts[there].tolist() == one.counts[here].tolist()


def test_a_file_that_cannot_be_read(vectors: Vectors) -> None:
    """Without its file a scan on the disk says nothing of passages, and raises nothing."""
    scan = on_disk(vectors).scan(QUERY, NOTES)
    vectors.close()
    assert np.isnan(scan.best_of(np.array([1, 2]))).all()
