"""What is counted here of a word's notes is what FTS5 itself would say of them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support.stores import add
from vaultrag.domain import Clause, NoteId
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.lexical.postings import read_beginning, read_forms, read_lengths, read_ranked
from vaultrag.storage.notes.note_index import NoteIndex

WORDS = ("apple", "pear", "plum", "pearl", "quince", "fig", "medlar", "東京", "京都")


def fill(index: NoteIndex, notes: int = 60) -> None:
    """Notes of very different length, some with the words in the title, the tags and the headings too."""
    source = random.Random(4)
    for number in range(notes):
        body = " ".join(
            source.choices(WORDS, weights=range(1, 10), k=20_000 if number == 7 else source.choice((3, 40, 900)))
        )
        header = f"---\ntags: [{source.choice(WORDS[:7])}]\naliases: [{source.choice(WORDS)}]\n---\n"
        add(index, f"{source.choice(WORDS[:7])} {number}.md", f"{header}# {source.choice(WORDS)}\n{body}\n")


def same(index: NoteIndex, word: str, *, prefix: bool = False) -> int:
    """Compare both readings of a word's list; how many notes are in it."""
    stem = SqliteLexicalRetriever(index).stems([word])[0]
    with index.readers.reading() as connection:
        found = read_beginning(connection, word) if prefix else read_forms(connection, stem)
        lengths = read_lengths(connection)
        assert lengths is not None
        assert found is not None
        counted = found.all.scored(lengths)
        ranked = read_ranked(connection, Clause((word,), 0, prefix=prefix), index.count())
    assert counted.ids.tolist() == ranked.ids.tolist()
    np.testing.assert_allclose(counted.scores, ranked.scores, rtol=1e-4)
    return len(counted.ids)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_scored_as_fts5_scores_it(index: NoteIndex, word: str) -> None:
    fill(index)
    assert same(index, word)


@pytest.mark.parametrize("begun", ["p", "pea", "pearl", "東", "nothing"])
def test_the_beginning_of_a_word_is_scored_as_fts5_scores_it(index: NoteIndex, begun: str) -> None:
    fill(index)
    assert bool(same(index, begun, prefix=True)) == (begun != "nothing")


def test_what_is_deleted_or_written_anew_is_counted_no_more(index: NoteIndex) -> None:
    fill(index)
    before = same(index, "quince")
    index.delete([NoteId(number) for number in range(10, 40)])
    for number in range(1, 5):
        add(index, f"new {number}.md", "quince and nothing else", NoteId(number))
    assert 0 < same(index, "quince") < before
    same(index, "p", prefix=True)


def test_the_lengths_of_no_notes_are_none(index: NoteIndex) -> None:
    with index.readers.reading() as connection:
        lengths = read_lengths(connection)
        assert lengths is not None
        assert lengths.words.tolist() == [-1]
        found = read_forms(connection, "appl")
    assert found is not None
    assert not len(found.all.scored(lengths).ids)


def test_a_word_in_every_line_is_ranked_by_fts5(index: NoteIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its list could be too long to count; what is found is the same, and so is the number of its notes."""
    fill(index)
    asked = [Clause(("quince",), 0), Clause(("pe",), 1, prefix=True)]
    before = SqliteLexicalRetriever(index).search(asked)
    monkeypatch.setattr("vaultrag.storage.lexical.postings.MOST_OCCURRENCES", 3)
    again = SqliteLexicalRetriever(index).search(asked)
    assert again.counts == before.counts
    assert again.ids.tolist() == before.ids.tolist()
    np.testing.assert_allclose(again.bm25, before.bm25, rtol=1e-4)
