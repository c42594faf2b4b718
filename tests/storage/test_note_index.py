"""The index of notes: what is written is all there, and what is taken out leaves nothing behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.stores import add, found, parsed, row_counts
from vaultrag.domain import NoteId, NotePath, Skipped
from vaultrag.errors import StoreError
from vaultrag.storage.notes import note_writer
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_rows import NoteRows
from vaultrag.storage.notes.note_values import values_of
from vaultrag.storage.titles.title_retriever import SqliteTitleRetriever

RICH = """---
aliases: [First, Erste]
tags: [pump, pump/seal]
status: done
---
# One
Text with [[Other]] and #inline.
## Two
![[picture.png]]
"""


def test_upsert_replaces(index: NoteIndex) -> None:
    """Writing a note again replaces every word, name, tag and link of it."""
    note_id = add(index, "a.md", RICH)
    once = row_counts(index)
    assert once["names"] == 5
    assert once["tags"] == 3
    assert once["links"] == 2
    assert add(index, "a.md", RICH, note_id) == note_id
    assert row_counts(index) == once
    add(index, "a.md", "plain", note_id)
    assert row_counts(index) == {
        "notes": 1, "names": 1, "tags": 0, "links": 0, "skipped": 0, "words_docsize": 1, "name_letters_docsize": 1,
    }  # fmt: skip
    assert found(index, "inline") == []
    assert found(index, "plain") == ["a.md"]


def test_delete_leaves_nothing(index: NoteIndex) -> None:
    """A deleted note leaves no row in any table, and its id is never given again."""
    first = add(index, "a.md", RICH)
    index.delete([first])
    assert set(row_counts(index).values()) == {0}
    assert add(index, "a.md", RICH) > first


def test_delete_unknown(index: NoteIndex) -> None:
    """Deleting what is not there does nothing."""
    index.delete([NoteId(77)])
    assert index.count() == 0


def test_upsert_of_deleted(index: NoteIndex) -> None:
    """A note that was deleted while its new text was read is written as a new one, with no stray rows."""
    gone = add(index, "a.md", RICH)
    index.delete([gone])
    again = add(index, "a.md", RICH, gone)
    assert again != gone
    assert index.entries()[NotePath("a.md")].note_id == again
    assert NoteRows(index).id_of("a.md") == again


def test_batch_is_one_transaction(index: NoteIndex) -> None:
    """A batch that fails half-way leaves nothing of it."""
    entry, note = parsed("b.md", "y")
    with pytest.raises(StoreError, match="NOT NULL"):
        index.upsert([values_of(*parsed("a.md", "x")), values_of(replace(entry, content_hash=cast("str", None)), note)])
    assert index.count() == 0


def test_large_batch(index: NoteIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows a batch has, each is written once; what stands in it anew replaces what was there."""
    monkeypatch.setattr(note_writer, "MAX_VALUES", 30)
    texts = {f"{n}.md": f"# one{n}\n# two{n}\n[[{n}]] #t{n}" for n in range(7)}
    ids = index.upsert([values_of(*parsed(path, text)) for path, text in texts.items()])
    counts = row_counts(index)
    assert counts["names"] == 3 * 7
    assert counts["tags"] == counts["links"] == counts["words_docsize"] == 7
    index.delete(ids[:1])
    again = [parsed(path, text, note_id) for (path, text), note_id in zip(texts.items(), ids, strict=True)]
    assert index.upsert([values_of(*one) for one in again]) == [ids[-1] + 1, *ids[1:]]
    assert row_counts(index) == counts
    assert found(index, "two0") == ["0.md"]
    assert found(index, "two6") == ["6.md"]


def _pieces(index: NoteIndex) -> int:
    with index.readers.reading() as connection:
        return int(connection.execute("SELECT count(DISTINCT segid) FROM words_idx").get)


def test_large_batches_are_put_in_order_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large batches leave the words in pieces; putting these in order can be broken off, and changes no answer."""
    monkeypatch.setattr(note_writer, "LARGE", 2)
    monkeypatch.setattr(note_writer, "TIDY_PAGES", 1)
    path = tmp_path / "notes.db"
    index = NoteIndex.open(path)
    for batch in range(20):
        made = [parsed(f"{batch}-{n}.md", f"everywhere batch{batch} " + f"word{batch}x{n} " * 400) for n in range(2)]
        index.upsert([values_of(*one) for one in made])
    assert _pieces(index) == 20
    before = sorted(found(index, "everywhere"))
    assert len(before) == 40
    generation = index.generation
    assert index.merge_segments()
    assert index.generation == generation
    index.close()

    index = NoteIndex.open(path)
    steps = 1
    while index.merge_segments():
        steps += 1
    assert steps > 1
    assert _pieces(index) < 4
    assert sorted(found(index, "everywhere")) == before
    assert found(index, "batch7 word7x1")[0] == "7-1.md"
    index.close()


def test_nothing_to_put_in_order(index: NoteIndex) -> None:
    """Small batches are put in order as they come: nothing is written for them later."""
    for n in range(10):
        add(index, f"{n}.md", "text")
    with index.readers.reading() as connection:
        before = connection.execute("PRAGMA data_version").get
    assert not index.merge_segments()
    with index.readers.reading() as connection:
        assert connection.execute("PRAGMA data_version").get == before


def test_move(index: NoteIndex) -> None:
    """A move changes the path and the stat and keeps the id and the hash of the text."""
    note_id = add(index, "old/a.md", "text")
    entry = index.entries()[NotePath("old/a.md")]
    moved = replace(entry, path=NotePath("Néw/a.md"), mtime_ns=5, inode=2**64 - 2)
    index.move([(note_id, moved)])
    assert index.entries() == {"Néw/a.md": moved}
    assert NoteRows(index).id_of("Ne\u0301w/a") == note_id


def test_entries_of_scopes(index: NoteIndex) -> None:
    """Scopes give what is at or below them, and no neighbour with the same beginning."""
    for path in ("a.md", "a/x.md", "a/b/y.md", "a0.md", "ab/z.md", "a-/w.md"):
        add(index, path, path)
    assert set(index.entries([NotePath("a")])) == {"a/x.md", "a/b/y.md"}
    assert set(index.entries([NotePath("a.md"), NotePath("a/b")])) == {"a.md", "a/b/y.md"}
    assert len(index.entries()) == len(index.entries([NotePath("")])) == 6


def test_paths_are_exact(index: NoteIndex) -> None:
    """Names that differ by case, form or odd signs are notes of their own."""
    paths = ["README.md", "readme.md", "é.md", "e\u0301.md", "°.md", "----=-.md", "{.md", "a b.md", "a_b.md", "'\";.md"]
    for path in paths:
        add(index, path, "same words")
    assert sorted(index.entries()) == sorted(paths)
    for path in paths:
        row = NoteRows(index).by_ids([NoteRows(index).id_of(path) or NoteId(0)])
        assert [r.path for r in row.values()] == [path]


def test_skipped_by_scope(index: NoteIndex) -> None:
    """What is skipped is remembered by scope, and an unchanged list writes nothing."""
    a, b = Skipped(NotePath("a/x.md"), "too large", 5, 6), Skipped(NotePath("b.md"), "binary content")
    index.set_skipped({a.path: a, b.path: b})
    before = index.generation
    index.set_skipped({b.path: b, a.path: a})
    assert index.generation == before
    index.set_skipped({a.path: a}, [NotePath("a"), NotePath("c")])
    assert index.generation == before
    index.set_skipped({}, [NotePath("a")])
    assert index.skipped() == {"b.md": b}
    index.set_skipped({}, [NotePath("b")])
    assert index.skipped() == {"b.md": b}


def test_text_hashes_newest_first(index: NoteIndex) -> None:
    """Hashes come with the most recently changed note first, so that it is embedded first."""
    old, new, middle = (add(index, f"{t}.md", str(t), mtime_ns=t) for t in (1, 9, 5))
    assert list(index.text_hashes()) == [new, middle, old]


def test_problems_listed(index: NoteIndex) -> None:
    """A note with a bad header is indexed and listed with its problem."""
    add(index, "bad.md", "---\na: [\n---\nbody words")
    assert found(index, "body") == ["bad.md"]
    assert [s.path for s in index.problems()] == ["bad.md"]


def test_rows(index: NoteIndex) -> None:
    """A row gives tags, aliases and properties as they were written."""
    note_id = add(index, "a.md", RICH)
    row = NoteRows(index).by_ids([note_id, NoteId(99)])[note_id]
    assert row.aliases == ("First", "Erste")
    assert set(row.tags) == {"pump", "pump/seal", "inline"}
    assert row.properties["status"] == "done"
    assert NoteRows(index).headings([note_id, NoteId(999)]) == {note_id: [(6, "One"), (8, "Two")]}


def test_neighbours(index: NoteIndex) -> None:
    """Links join notes by title, alias or file name, in both directions, and never a note with itself."""
    a = add(index, "a.md", "[[B side]] [[a]] [[#here]] [[nowhere]]")
    b = add(index, "x/b.md", "---\naliases: B side\n---\n")
    c = add(index, "c.md", "[text](x/b.md)")
    rows = NoteRows(index)
    assert [(n.note_id, n.out) for n in rows.neighbours(a)] == [(b, True)]
    assert sorted(n.note_id for n in rows.neighbours(b) if not n.out) == [a, c]


def test_tag_counts(index: NoteIndex) -> None:
    """Tags are counted by note, whatever their case."""
    add(index, "a.md", "#Pump #pump #seal")
    add(index, "b.md", "#pump")
    assert [(tag.lower(), n) for tag, n in NoteRows(index).tags()] == [("pump", 2), ("seal", 1)]


def test_half_a_surrogate(index: NoteIndex) -> None:
    """A path or name that is no text is simply not known."""
    add(index, "a.md", "x")
    rows = NoteRows(index)
    assert rows.id_of("\ud800.md") is None
    assert rows.near_paths("a\udfff") == []
    assert SqliteTitleRetriever(index).search("\ud800\ud800\ud800") == []


def test_near_paths(index: NoteIndex) -> None:
    """A path that is not known brings up those with such a name."""
    add(index, "How-to/Change a pump.md", "x")
    assert NoteRows(index).near_paths("change a PUMP.md") == ["How-to/Change a pump.md"]
    assert NoteRows(index).near_paths("Hw-to/Chnage a pmup.md")[:1] == ["How-to/Change a pump.md"]
    assert NoteRows(index).near_paths("zzzzzz.md") == []


TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=60)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from("abc"), TEXTS, st.booleans()), max_size=8))
def test_any_history(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, bool]]) -> None:
    """After any history of writes and deletions, each table holds the rows of the living notes and no others."""
    index = NoteIndex.open(tmp_path_factory.mktemp("any") / "n.db")
    fresh = NoteIndex.open(tmp_path_factory.mktemp("fresh") / "n.db")
    living: dict[str, str] = {}
    for name, text, keep in steps:
        path = f"{name}.md"
        known = index.entries().get(NotePath(path))
        if keep:
            add(index, path, text, known.note_id if known else 0)
            living[path] = text
        elif known:
            index.delete([known.note_id])
            del living[path]
    for path, text in living.items():
        add(fresh, path, text)
    assert row_counts(index) == row_counts(fresh)
    index.close()
    fresh.close()


def test_generation_counts_writes(index: NoteIndex) -> None:
    """Each write moves the generation on; reads do not."""
    with index.snapshot() as (_, before):
        pass
    index.count()
    index.entries()
    with index.snapshot() as (_, again):
        assert again == before is not None
    add(index, "a.md", "x")
    with index.snapshot() as (_, after):
        assert after not in (before, None)


def test_a_snapshot_of_no_known_generation(index: NoteIndex) -> None:
    """A snapshot that was begun before, or while something is written, is of no known generation."""
    with index.snapshot(), index.snapshot() as (_, inner):
        assert inner is None
    with index._writing(), index.snapshot() as (_, meanwhile):
        assert meanwhile is None
    with index.snapshot() as (_, afterwards):
        assert afterwards is not None


def test_rows_of_many(index: NoteIndex) -> None:
    """Rows come in the order asked for, each once, with their own tags and aliases in the order written."""
    ids = [
        add(index, f"{n}.md", f"---\ntags: [z{n}, a{n}]\naliases: [second {n}, first {n}]\n---\n# Heading\n")
        for n in range(5)
    ]
    found = NoteRows(index).by_ids([ids[3], ids[1], NoteId(99), ids[3], ids[4]])
    assert list(found) == [ids[3], ids[1], ids[4]]
    assert [row.tags for row in found.values()] == [("z3", "a3"), ("z1", "a1"), ("z4", "a4")]
    assert [row.aliases for row in found.values()] == [(f"second {n}", f"first {n}") for n in (3, 1, 4)]
    assert NoteRows(index).by_ids([]) == {}
