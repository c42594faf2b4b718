"""The second model's vectors: kept by text, apart from the index's own, forgotten with their model or their text."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from tests.support.stores import embedded, unit_rows
from vaultrag.domain import REFERENCE, EmbeddedNote, Identity, NoteId, Scale
from vaultrag.errors import BadVectors
from vaultrag.storage.vectors.multilingual import MultilingualVectors
from vaultrag.storage.vectors.vector_store import Vectors

DIMENSION = 24
SECOND = Identity("test", "second", "0123", DIMENSION)
ROWS = unit_rows(6, seed=5, dimension=DIMENSION)
SCALE = Scale(0.02, 0.4)


@pytest.fixture
def second(vectors: Vectors) -> MultilingualVectors:
    """Three notes with vectors of the first model; the second knows nothing yet."""
    vectors.multilingual.begin(SECOND, SCALE)
    _notes(vectors, "a", "b", "c")
    return vectors.multilingual


def _notes(vectors: Vectors, *hashes: str) -> None:
    rows = unit_rows(len(hashes))
    vectors.put((NoteId(n + 1), text_hash, embedded(rows[n])) for n, text_hash in enumerate(hashes))


def _made(*numbers: int, foreign: Iterable[int] = ()) -> list[tuple[str, EmbeddedNote | None, bool]]:
    return [("abcdef"[n], embedded(ROWS[n], [ROWS[n], ROWS[n - 1]]), n in foreign) for n in numbers]


def _nearest(second: MultilingualVectors, number: int) -> list[NoteId]:
    scan = second.scan(ROWS[number])
    return [] if scan is None else [note_id for note_id, _ in scan.notes(1)]


def test_what_is_lacking_and_what_is_found(second: MultilingualVectors) -> None:
    """Notes lack their vectors until these are put; then a query finds them, their passages, and the model's scale."""
    assert second.lacking() == {1: "a", 2: "b", 3: "c"}
    assert second.scan(ROWS[0]) is None
    second.put(_made(0, 1))
    assert second.lacking() == {3: "c"}
    scan = second.scan(ROWS[1], ahead=5)
    assert scan is not None
    assert scan.scale == SCALE
    (best, cosine), *_ = scan.notes(3)
    assert (best, round(cosine, 2)) == (2, 1.0)
    place = scan.passage(NoteId(2))
    assert place is not None
    assert (round(place[0], 2), *place[1:]) == (1.0, 0, 0)
    assert scan.passage(NoteId(3)) is None


def test_the_index_is_as_before(vectors: Vectors, second: MultilingualVectors) -> None:
    """The first model's vectors, and what a query of it finds, are the same with and without the second's."""
    query = unit_rows(1, seed=9)[0]
    before = vectors.scan(query).notes(3)
    second.put(_made(0, 1, 2))
    _nearest(second, 0)
    assert vectors.scan(query).notes(3) == before
    assert vectors.scan(query).scale == REFERENCE


def test_vectors_follow_their_text(vectors: Vectors, second: MultilingualVectors) -> None:
    """A note that gets the text of another, or its own of before, has that text's vectors at once; one that goes has
    none.
    """
    second.put(_made(0, 1))
    assert _nearest(second, 0) == [1]
    vectors.put([(NoteId(1), "x", embedded(unit_rows(1)[0])), (NoteId(3), "a", embedded(unit_rows(1)[0]))])
    assert second.lacking() == {1: "x"}
    vectors.delete([NoteId(1), NoteId(2)])
    assert _nearest(second, 0) == [3]
    assert vectors.reuse({NoteId(7): "b"}) == {7}
    assert _nearest(second, 1) == [7]


def test_after_a_restart_they_are_there(vectors: Vectors, second: MultilingualVectors) -> None:
    """What was put is found by whoever opens the file next, under the same identity; another one begins anew."""
    second.put(_made(0, 1, foreign=[0, 1]))
    vectors.close()
    again = Vectors.open(vectors.path, vectors.identity)
    again.multilingual.begin(SECOND, SCALE)
    assert _nearest(again.multilingual, 1) == [2]
    assert again.multilingual.mostly_foreign is True
    again.multilingual.begin(Identity("test", "third", "0123", DIMENSION), SCALE)
    assert again.multilingual.lacking() == {1: "a", 2: "b", 3: "c"}
    known: bool = again.multilingual.mostly_foreign
    assert not known
    again.close()


def test_a_text_of_which_the_model_makes_nothing(second: MultilingualVectors) -> None:
    """It is not asked again, and is no hit."""
    second.put([("a", None, True), *_made(1)])
    assert second.lacking() == {3: "c"}
    assert _nearest(second, 0) == [2]
    assert second.vector(NoteId(1)) is None


def test_only_what_is_not_english_is_compared_by_it(second: MultilingualVectors) -> None:
    """The vector that finds related notes is the second model's for a note that is not English, and for no other."""
    second.put(_made(0, 1, foreign=[1]))
    vector = second.vector(NoteId(2))
    assert vector is not None
    assert float(vector @ ROWS[1]) > 0.99
    assert second.vector(NoteId(1)) is None


def test_a_bad_vector_is_refused(second: MultilingualVectors) -> None:
    """A vector that is none, or of another size, is refused, and nothing of its batch is stored."""
    for bad in (np.full(DIMENSION, np.nan, np.float32), np.zeros(DIMENSION, np.float32), np.ones(3, np.float32)):
        with pytest.raises(BadVectors):
            second.put([*_made(0), ("b", embedded(bad), False)])
    assert len(second.lacking()) == 3


def test_damage_is_mended(vectors: Vectors, second: MultilingualVectors) -> None:
    """A row whose bytes have changed answers nothing; the regular check drops it, so that it is made again."""
    second.put(_made(0, 1))
    vectors._writer.execute("UPDATE multilingual SET code = zeroblob(length(code)) WHERE text_hash = 'a'")
    assert _nearest(second, 0) == [2]
    vectors.verify()
    assert second.lacking() == {1: "a", 3: "c"}


def test_texts_that_nobody_has_are_dropped(vectors: Vectors, second: MultilingualVectors) -> None:
    """Vectors of a text that no note has, and that was not lately one's, leave the file with the regular check."""
    second.put(_made(0, 1, 4))
    vectors.verify()
    assert [text_hash for (text_hash,) in vectors._writer.execute("SELECT text_hash FROM multilingual")] == ["a", "b"]


def test_a_scale_is_kept(vectors: Vectors) -> None:
    """What the cosines of the index's own model mean is remembered with the vectors."""
    assert vectors.scale is None
    vectors.keep_scale(SCALE)
    vectors.close()
    again = Vectors.open(vectors.path, vectors.identity)
    assert again.scale == SCALE
    assert again.scan(unit_rows(1)[0]).scale == SCALE
    again.close()
