"""Lists that two threads read are the lists that one reads, of the same moment."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor

import numpy as np
import pytest

from tests.storage.test_postings import WORDS, fill
from tests.support.stores import add
from vaultrag.domain import Clause
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.lexical.posting_cache import PostingCache
from vaultrag.storage.notes.note_index import NoteIndex

ASKED = [Clause((word,), term) for term, word in enumerate(WORDS)]


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Executor]:
    monkeypatch.setattr("vaultrag.storage.lexical.posting_cache.WORTH_A_THREAD", 1)
    with ThreadPoolExecutor(1) as threads:
        yield threads


def test_two_threads_find_what_one_finds(index: NoteIndex, beside: Executor) -> None:
    fill(index)
    alone, together = (
        SqliteLexicalRetriever(index).search(ASKED),
        SqliteLexicalRetriever(index, lists=PostingCache(index, beside)).search(ASKED),
    )
    assert together.ids.tolist() == alone.ids.tolist()
    assert together.counts == alone.counts
    np.testing.assert_array_equal(together.bm25, alone.bm25)


def test_all_is_read_ahead(index: NoteIndex, beside: Executor) -> None:
    fill(index)
    lists = PostingCache(index, beside)
    with index.snapshot() as (connection, generation):
        look = lists.look(connection, generation, frozenset())
        lists.read_together(look, ASKED)
        assert generation is not None
        assert all(lists._words.find(generation, lists._word(look, clause)) for clause in ASKED)


def test_what_was_written_meanwhile_is_not_mixed_in(index: NoteIndex, beside: Executor) -> None:
    """The other thread begins its look after a write: what it would read is of another moment."""
    fill(index)
    lists = PostingCache(index, beside)
    before = SqliteLexicalRetriever(index).search(ASKED).counts
    with index.snapshot() as (connection, generation):
        look = lists.look(connection, generation, frozenset())
        add(index, "late.md", " ".join(WORDS))
        lists.read_together(look, ASKED)
        assert [lists.count(look, clause) for clause in ASKED] == [count.notes for count in before]
        assert generation is not None
        assert lists._words.find(generation, lists._word(look, ASKED[2]))
