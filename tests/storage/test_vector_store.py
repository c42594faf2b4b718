"""The vectors: one a note, none that is no direction, and the same answers as vec0 itself gives."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.stores import DIMENSION, IDENTITY, embedded, nearest_by_vec0, passages_in, unit_rows
from vaultrag.domain import EmbeddedNote, NoteId
from vaultrag.errors import BadVectors, StoreCorrupt, StoreError
from vaultrag.storage.sqlite import connect, forget_damage, rows, scalar
from vaultrag.storage.vectors import vector_rows
from vaultrag.storage.vectors.vector_store import Vectors


def _fill(vectors: Vectors, count: int, seed: int = 1) -> NDArray[np.float32]:
    made = unit_rows(count, seed)
    vectors.put((NoteId(n + 1), f"h{n + 1}", embedded(made[n], [made[n]])) for n in range(count))
    return made


def _count(vectors: Vectors, table: str) -> int:
    return int(scalar(vectors._writer, f"SELECT count(*) FROM {table}"))


def test_put_and_ask(vectors: Vectors) -> None:
    """A vector that is stored comes back, with its hash and the share it covers."""
    row = unit_rows(1)[0]
    vectors.put([(NoteId(3), "h", replace(embedded(row), covered=0.5))])
    assert np.array_equal(vectors.vector(NoteId(3)), row)  # type: ignore[arg-type]
    assert vectors.hashes() == {3: "h"}
    assert vectors.covered(NoteId(3)) == 0.5
    assert vectors.vector(NoteId(4)) is None
    assert vectors.covered(NoteId(4)) is None


def test_one_row_a_note(vectors: Vectors) -> None:
    """However often a note is embedded anew, it has one vector, and the file stops growing."""
    made = unit_rows(300)
    for n in range(300):
        vectors.put([(NoteId(1), f"h{n}", embedded(made[n]))])
    assert _count(vectors, "note_vectors") == _count(vectors, "vector_notes") == 1
    assert np.array_equal(vectors.vector(NoteId(1)), made[299])  # type: ignore[arg-type]
    assert _count(vectors, "note_vectors_chunks") == 1


def test_a_damaged_chunk_is_told_as_such(tmp_path: Path) -> None:
    """A damaged page among vec0's chunks is told as damage, though vec0 reports it as an error like any other."""
    path = tmp_path / "damaged.db"
    vectors = Vectors.open(path, replace(IDENTITY, dimension=768))
    vectors.put([(NoteId(1), "h1", embedded(unit_rows(1, dimension=768)[0]))])
    vectors.close()
    with path.open("r+b") as file:
        # Behind the first page of a chain of overflow pages stands the number of the next one.
        pages = path.stat().st_size // 4096
        for page in range(pages * 3 // 4, pages):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)
    vectors = Vectors.open(path, replace(IDENTITY, dimension=768))
    with pytest.raises(StoreCorrupt):
        vectors.put([(NoteId(n), f"h{n}", embedded(unit_rows(1, n, 768)[0])) for n in range(1_000)])
    vectors.close()
    forget_damage(path)


def test_spoilt_vectors_are_dropped(tmp_path: Path) -> None:
    """A vector whose bytes were changed on the disk is not searched: it counts as missing, and is made again."""
    path = tmp_path / "spoilt.db"
    vectors = Vectors.open(path, IDENTITY)
    _fill(vectors, 3)
    writer = connect(path)
    writer.execute("UPDATE note_vectors SET embedding = ? WHERE note_id = 2", (b"\x41" * 4 * IDENTITY.dimension,))
    writer.close()
    vectors.close()
    vectors = Vectors.open(path, IDENTITY)
    vectors.load()
    assert set(vectors.hashes()) == {1, 3}
    assert {note_id for note_id, _ in nearest_by_vec0(vectors, unit_rows(3)[0], 10)} == {1, 3}
    vectors.close()


def test_retired_are_bounded(vectors: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the vectors that lost their text only the latest are kept, by edits as by deletions."""
    monkeypatch.setattr(vector_rows, "KEEP_RETIRED", 20)
    made = unit_rows(200)
    for n in range(200):
        vectors.put([(NoteId(1), f"h{n}", embedded(made[n]))])
    assert _count(vectors, "retired") == 20
    assert vectors.reuse({NoteId(2): "h198", NoteId(3): "h5"}) == {2}


def test_reuse(vectors: Vectors) -> None:
    """The same text gets the same vector: from another note, from one that was deleted, from before an edit."""
    made = _fill(vectors, 3)
    assert vectors.reuse({NoteId(10): "h1", NoteId(11): "unknown"}) == {10}
    assert np.array_equal(vectors.vector(NoteId(10)), made[0])  # type: ignore[arg-type]
    vectors.delete([NoteId(2)])
    assert vectors.reuse({NoteId(12): "h2"}) == {12}
    vectors.put([(NoteId(3), "new", embedded(unit_rows(1, 9)[0]))])
    assert vectors.reuse({NoteId(3): "h3"}) == {3}
    vectors.load()
    scan = vectors.scan(made[2])
    assert scan.notes(1)[0][0] == 3
    assert scan.notes(1)[0][1] == pytest.approx(1.0, abs=1e-5)
    assert scan.passage(NoteId(12)) is not None


def test_swapped_texts(vectors: Vectors) -> None:
    """Two notes that change their texts change their vectors, with nothing embedded anew."""
    made = _fill(vectors, 2)
    assert vectors.reuse({NoteId(1): "h2", NoteId(2): "h1"}) == {1, 2}
    assert np.array_equal(vectors.vector(NoteId(1)), made[1])  # type: ignore[arg-type]
    assert np.array_equal(vectors.vector(NoteId(2)), made[0])  # type: ignore[arg-type]


def test_passages_later(vectors: Vectors) -> None:
    """Passages are added to all notes of a text, in file and memory, and stay over a restart and a reuse."""
    note, first, second = unit_rows(3)
    vectors.load()
    vectors.put([(NoteId(n), "same", embedded(note)) for n in (1, 2)])
    assert vectors.without_passages() == {1: "same", 2: "same"}
    assert vectors.put_passages("unknown", [(0, 0)], [first]) == set()
    assert vectors.put_passages("same", [(0, 1), (3, 4)], [first, second]) == {1, 2}
    assert vectors.without_passages() == {}
    vectors.delete([NoteId(1), NoteId(2)])
    assert vectors.reuse({NoteId(3): "same"}) == {3}
    again = Vectors.open(vectors.path, IDENTITY)
    again.load()
    for opened in (vectors, again):
        found = opened.scan(second).passage(NoteId(3))
        assert found is not None
        assert found[1:] == (3, 4)
    again.close()


def test_no_passages_to_be_made(vectors: Vectors) -> None:
    """That a text has no passages is remembered, over a restart, an edit and back."""
    row = unit_rows(1)[0]
    vectors.put([(NoteId(1), "h", embedded(row))])
    vectors.put_passages("h", (), ())
    vectors.put([(NoteId(1), "other", embedded(row))])
    assert vectors.without_passages() == {1: "other"}
    assert vectors.reuse({NoteId(1): "h"}) == {1}
    assert vectors.without_passages() == {}
    again = Vectors.open(vectors.path, IDENTITY)
    again.load()
    assert passages_in(again) == 0
    assert again.scan(row).passage(NoteId(1)) is None
    again.close()


def test_drop_passages(vectors: Vectors) -> None:
    """All passages can be dropped, those of retired texts too; the notes' vectors stay."""
    made = _fill(vectors, 3)
    vectors.delete([NoteId(3)])
    vectors.drop_passages()
    assert vectors.without_passages() == {1: "h1", 2: "h2"}
    assert passages_in(vectors) == 0
    assert vectors.scan(made[0]).passages(5) == []
    assert vectors.scan(made[0]).notes(1)[0][0] == 1
    assert vectors.reuse({NoteId(3): "h3"}) == {3}
    assert 3 in vectors.without_passages()


@pytest.mark.parametrize("rows", [[np.zeros(DIMENSION, np.float32)], [unit_rows(1)[0][:-1]], list(unit_rows(2))])
def test_refused_passages(vectors: Vectors, rows: list[NDArray[np.float32]]) -> None:
    """Passages that are zero, of another dimension or of another number than their lines are refused."""
    vectors.put([(NoteId(1), "h", embedded(unit_rows(1)[0]))])
    with pytest.raises(BadVectors):
        vectors.put_passages("h", [(0, 0)], rows)
    assert vectors.without_passages() == {1: "h"}


def test_the_note_stands_in(vectors: Vectors) -> None:
    """Among notes with passages, one whose passages are still to be made counts with its own vector."""
    made = unit_rows(3)
    vectors.load()
    vectors.put((NoteId(n + 1), f"h{n + 1}", embedded(made[n])) for n in range(3))
    assert vectors.scan(made[0]).passages(5) == []
    vectors.put_passages("h2", [(0, 0)], [made[1]])
    vectors.put_passages("h3", (), ())
    found = vectors.scan(made[0]).passages(5)
    assert [note_id for note_id, _ in found] == [1, 2]
    assert found[0][1] == pytest.approx(1.0, abs=0.01)


def test_delete(vectors: Vectors) -> None:
    """A deleted note is gone from the file and from every scan."""
    made = _fill(vectors, 5)
    vectors.load()
    vectors.delete([NoteId(2), NoteId(77)])
    assert 2 not in dict(vectors.scan(made[1]).notes(10))
    assert 2 not in dict(vectors.scan(made[1]).passages(10))
    assert 2 not in dict(nearest_by_vec0(vectors, made[1], 10))
    assert vectors.hashes().keys() == {1, 3, 4, 5}


GOOD = unit_rows(1)[0]
BAD: dict[str, EmbeddedNote] = {
    "zero": EmbeddedNote(np.zeros(DIMENSION, np.float32)),
    "nan": EmbeddedNote(np.full(DIMENSION, np.nan, np.float32)),
    "infinite": EmbeddedNote(np.where(np.arange(DIMENSION) == 3, np.inf, GOOD).astype(np.float32)),
    "short": EmbeddedNote(GOOD[:-1]),
    "long": EmbeddedNote(np.append(GOOD, GOOD[:1])),
    "empty": EmbeddedNote(np.empty(0, np.float32)),
    "zero passage": embedded(GOOD, [GOOD, np.zeros(DIMENSION, np.float32)]),
    "passage dimension": embedded(GOOD, [GOOD[:-1]]),
    "passages without lines": EmbeddedNote(GOOD, passage_vectors=GOOD[None, :]),
    "lines without passages": EmbeddedNote(GOOD, passage_lines=((0, 1),)),
}


@pytest.mark.parametrize("kind", BAD)
def test_refused(vectors: Vectors, kind: str) -> None:
    """A vector that is zero, not finite or of another dimension is refused, and nothing of its batch is stored."""
    with pytest.raises(BadVectors):
        vectors.put([(NoteId(1), "good", embedded(GOOD)), (NoteId(2), "bad", BAD[kind])])
    assert vectors.hashes() == {}
    assert vectors.scan(GOOD).notes(5) == []


def test_failed_commit(vectors: Vectors) -> None:
    """When a batch cannot be committed, memory does not hold what the file does not."""
    _fill(vectors, 2)
    vectors.load()
    vectors._writer.execute("CREATE TEMP TRIGGER full BEFORE INSERT ON failures BEGIN SELECT RAISE(ABORT, 'full'); END")
    vectors._writer.execute(
        "CREATE TEMP TRIGGER full2 BEFORE INSERT ON main.passages BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    with pytest.raises(StoreError, match="full"):
        vectors.put([(NoteId(9), "h9", embedded(GOOD, [GOOD]))])
    assert vectors.hashes().keys() == {1, 2}
    assert 9 not in dict(vectors.scan(GOOD).notes(10))
    vectors._writer.execute("DROP TRIGGER full2")
    other = unit_rows(1, 77)[0]
    vectors.put([(NoteId(9), "h9", embedded(other, [other]))])
    assert vectors.scan(other).notes(1)[0][0] == 9


def test_failures(vectors: Vectors) -> None:
    """A text that failed is remembered with its reason and its tries, until it works or is forgotten."""
    vectors.record_failure("a", "first", permanent=False)
    vectors.record_failure("a", "second", permanent=True)
    vectors.record_failure("b", "other", permanent=False)
    assert vectors.failures() == {"a": ("second", True, 2), "b": ("other", False, 1)}
    vectors.put([(NoteId(1), "b", embedded(GOOD))])
    assert vectors.failures().keys() == {"a"}
    vectors.forget_failures(keep=["a"])
    assert vectors.failures().keys() == {"a"}
    vectors.forget_failures()
    assert vectors.failures() == {}


def test_after_restart(vectors: Vectors) -> None:
    """A file that is opened again gives the same answers."""
    made = _fill(vectors, 60)
    before = (
        vectors.scan(made[5]).notes(20),
        vectors.scan(made[5]).passages(20),
        vectors.scan(made[5]).passage(NoteId(6)),
    )
    vectors.close()
    again = Vectors.open(vectors.path, IDENTITY)
    assert not again.loaded
    assert again.scan(made[5]).notes(20) == []
    again.load()
    scan = again.scan(made[5])
    assert (scan.notes(20), scan.passages(20), scan.passage(NoteId(6))) == before
    matches = scan.matches(1, frozenset(), np.array([NoteId(6), NoteId(99)]))
    assert matches.ids.tolist() == [6, 99]
    assert matches.counts[1] == 0
    assert matches.notes.tolist() == [pytest.approx(1.0, abs=0.01), pytest.approx(float("nan"), nan_ok=True)]
    assert np.isnan(matches.passages).tolist() == [False, True]
    again.close()


def test_changes_before_loading(vectors: Vectors) -> None:
    """What is written before the vectors are loaded is there once, also afterwards."""
    made = _fill(vectors, 4)
    vectors.close()
    again = Vectors.open(vectors.path, IDENTITY)
    again.put([(NoteId(2), "new", embedded(made[3], [made[3], made[2]]))])
    again.delete([NoteId(1)])
    again.load()
    again.load()
    assert [n for n, _ in again.scan(made[3]).notes(9)].count(NoteId(2)) == 1
    assert again.scan(made[3]).notes(9)[0][1] == pytest.approx(1.0, abs=1e-5)
    assert passages_in(again) == 4
    again.close()


def test_same_as_vec0(tmp_path: Path) -> None:
    """The scan in memory brings the same nearest notes, in the same order, as vec0's own search."""
    identity = replace(IDENTITY, dimension=256)
    vectors = Vectors.open(tmp_path / "v.db", identity)
    made = unit_rows(3_000, 4, 256)
    vectors.put((NoteId(n + 1), f"h{n}", embedded(made[n])) for n in range(3_000))
    shared = 0
    for query in unit_rows(20, 5, 256):
        exact, fast = nearest_by_vec0(vectors, query, 80), vectors.scan(query).notes(80)
        assert [n for n, _ in fast[:10]] == [n for n, _ in exact[:10]]
        assert [s for _, s in fast[:10]] == pytest.approx([s for _, s in exact[:10]], abs=1e-5)
        shared += len({n for n, _ in exact} & {n for n, _ in fast})
    assert shared / (20 * 80) > 0.97
    vectors.close()


def test_filter_in_the_scan(vectors: Vectors) -> None:
    """Notes outside the filter are not ranked, so that those inside are found however far they are."""
    made = _fill(vectors, 200)
    allowed = frozenset({NoteId(5), NoteId(150)})
    for search in (vectors.scan(made[0]).notes, vectors.scan(made[0]).passages):
        assert {n for n, _ in search(10, allowed)} == allowed
        assert search(10, frozenset()) == []
    assert {n for n, _ in nearest_by_vec0(vectors, made[0], 10, allowed)} == allowed


def test_scan_after_close(vectors: Vectors) -> None:
    """A reader that still holds a scan when the file is closed gets its answer."""
    made = _fill(vectors, 40)
    scan = vectors.scan(made[7])
    vectors.close()
    assert scan.notes(3)[0][0] == 8


def test_gaps_are_closed(vectors: Vectors) -> None:
    """After many scattered deletions a restart gives the space back, and every vector is still its own."""
    made = _fill(vectors, 5_000)
    vectors.delete(NoteId(n + 1) for n in range(5_000) if n % 10)
    assert _count(vectors, "note_vectors_chunks") == 5
    vectors.close()
    again = Vectors.open(vectors.path, IDENTITY)
    again.load()
    assert _count(again, "note_vectors_chunks") <= 2
    assert _count(again, "note_vectors") == 500
    for n in (0, 2_500, 4_990):
        assert np.array_equal(again.vector(NoteId(n + 1)), made[n])  # type: ignore[arg-type]
        assert nearest_by_vec0(again, made[n], 1)[0][0] == n + 1
    assert rows(again._writer, "PRAGMA quick_check") == [("ok",)]
    again.close()


def test_scans_while_writing(vectors: Vectors) -> None:
    """Readers in several threads always see whole answers while notes are written and deleted."""
    made = _fill(vectors, 300)
    vectors.load()
    done, faults = threading.Event(), list[BaseException]()
    looks = [0, 0]

    def look(which: int) -> None:
        try:
            while not done.is_set():
                scan = vectors.scan(made[0])
                notes, passages = scan.notes(50), scan.passages(50)
                assert notes[0][0] == passages[0][0] == 1
                assert len(notes) == len(passages) == 50
                assert not np.isnan(scan.matches(50, frozenset(), np.array([n for n, _ in notes])).notes).any()
                scan.passage(NoteId(1))
                assert vectors.vector(NoteId(1)) is not None
                looks[which] += 1
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=look, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    fresh, turn = unit_rows(400, 8), 0
    while not faults and (turn < 60 or min(looks) < 3) and turn < 5_000:
        ids = [NoteId(100 + (turn * 7 + i) % 150) for i in range(8)]
        if turn % 3:
            vectors.put((n, f"t{turn}-{n}", embedded(fresh[n], list(fresh[n : n + 1 + turn % 2]))) for n in set(ids))
        else:
            vectors.delete(ids)
        turn += 1
    done.set()
    for thread in threads:
        thread.join(20)
    assert faults == []
    assert min(looks) >= 3


def test_loading_is_bulk(vectors: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading quantises whole chunks: the number of its steps does not follow the number of notes."""
    _fill(vectors, 2_000)
    vectors.close()
    again = Vectors.open(vectors.path, IDENTITY)
    steps = 0
    put_many = again._notes.put_many

    def counted(*args: object) -> None:
        nonlocal steps
        steps += 1
        put_many(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(again._notes, "put_many", counted)
    again.load()
    assert steps == 2
    assert len(again._notes) == 2_000
    again.close()


def test_what_was_looked_for_ahead_is_what_would_be_found(vectors: Vectors) -> None:
    rows = unit_rows(300)
    vectors.put([(NoteId(n), f"{n}", embedded(row, list(rows[n : n + 2]))) for n, row in enumerate(rows[:250], 1)])
    query, others = unit_rows(1, 7)[0], np.array([3, 99])
    plain, ahead = vectors.scan(query), vectors.scan(query, ahead=20)
    for allowed in (None, frozenset(map(NoteId, range(1, 40)))):
        for k in (20, 7):
            one, other = plain.matches(k, allowed, others), ahead.matches(k, allowed, others)
            for column in ("ids", "notes", "passages", "counts"):
                np.testing.assert_array_equal(getattr(one, column), getattr(other, column))
