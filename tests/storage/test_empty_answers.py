"""Before "no note holds it" is said, the tables are compared: once for each state of the file, and after any change."""

from __future__ import annotations

import apsw
import pytest

from tests.support.stores import add
from vaultrag.errors import StoreCorrupt
from vaultrag.retrieval.clauses import clauses_of
from vaultrag.retrieval.query_parser import parse_query
from vaultrag.storage.lexical import lexical_retriever
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.notes.note_index import NoteIndex

NOWHERE = clauses_of(parse_query("nowhere").terms)


def test_a_row_that_is_lost_later_is_noticed(index: NoteIndex) -> None:
    """An empty answer of a sound file says nothing of the same file after a row was taken out behind our back."""
    note_id = add(index, "Pump.md", "the seal of the pump")
    words = SqliteLexicalRetriever(index)
    assert not len(words.search(NOWHERE).ids)
    assert not len(words.search(NOWHERE).ids)
    other = apsw.Connection(str(index.path))
    other.execute("DELETE FROM words WHERE rowid = ?", (note_id,))
    other.close()
    with pytest.raises(StoreCorrupt, match="full-text"):
        words.search(NOWHERE)


def test_the_tables_are_not_compared_for_every_answer(index: NoteIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """One comparison for all empty answers of one state of the file, and another after a note was written."""
    compared: list[apsw.Connection] = []

    def compare(connection: apsw.Connection) -> str:
        compared.append(connection)
        return ""

    monkeypatch.setattr(lexical_retriever, "disagreement", compare)
    add(index, "Pump.md", "the seal of the pump")
    words = SqliteLexicalRetriever(index)
    for _ in range(3):
        words.search(NOWHERE)
    assert len(compared) == 1
    add(index, "Bearing.md", "grease")
    words.search(NOWHERE)
    assert len(compared) == 2
