"""What was read before a save and mended is what is read after it; what cannot be mended is read again."""

from __future__ import annotations

import random
from collections.abc import Callable

import apsw
import numpy as np
import pytest

from tests.storage.test_postings import WORDS, fill
from tests.support.stores import add, parsed
from vaultrag.domain import Clause, NoteId
from vaultrag.storage.lexical import index_delta, posting_cache
from vaultrag.storage.lexical.index_delta import GONE, IndexDelta
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.lexical.posting_cache import PostingCache
from vaultrag.storage.lexical.postings import Counted, Forms, read_beginning, read_forms, read_ranked
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_values import values_of

ASKED = [
    *(Clause((word,), term) for term, word in enumerate(WORDS)),
    Clause(("pe",), 20, prefix=True),
    Clause(("nowhere",), 21),
    Clause(("running",), 22),
]
READS = len(ASKED) + 1
"""One a word; for a beginning, the word by itself is read first."""


def same_as_read_again(index: NoteIndex, lists: PostingCache) -> None:
    """Everything that the kept lists say is what new ones say."""
    with index.snapshot() as (connection, generation):
        kept = lists.look(connection, generation, frozenset())
        fresh_lists = PostingCache(index)
        fresh = fresh_lists.look(connection, generation, frozenset())
        for clause in ASKED:
            mine, theirs = lists.of(kept, clause), fresh_lists.of(fresh, clause)
            assert mine.ids.tolist() == theirs.ids.tolist(), clause
            np.testing.assert_array_equal(mine.scores, theirs.scores)
            assert lists.count(kept, clause) == fresh_lists.count(fresh, clause) == len(mine.ids)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many lists were read since it was last asked."""
    count = 0

    def counting(read: Callable[[apsw.Connection, str], Forms | None]) -> Callable[..., Forms | None]:
        def reading(connection: apsw.Connection, word: str) -> Forms | None:
            nonlocal count
            count += 1
            return read(connection, word)

        return reading

    monkeypatch.setattr(posting_cache, "read_forms", counting(read_forms))
    monkeypatch.setattr(posting_cache, "read_beginning", counting(read_beginning))

    def since() -> int:
        nonlocal count
        found, count = count, 0
        return found

    return since


def random_note(source: random.Random) -> str:
    """Of any length, with the words in any field; now and then without any word."""
    body = " ".join(
        source.choices((*WORDS, "running", "runs", "C++", "v2.14", "東京京都"), k=source.choice((0, 1, 30, 400)))
    )
    header = f"---\ntags: [{source.choice(WORDS[:7])}]\naliases: [{source.choice(WORDS)} {source.choice(WORDS)}]\n---\n"
    return source.choice(("", header)) + source.choice(("", f"# {source.choice(WORDS)}\n")) + body


@pytest.mark.parametrize("seed", range(4))
def test_mended_lists_are_those_read_anew(index: NoteIndex, seed: int, reads: Callable[[], int]) -> None:
    """Notes are written, written anew, deleted and moved at random, and searched in between or not."""
    source = random.Random(seed)
    fill(index, 30)
    lists = PostingCache(index)
    SqliteLexicalRetriever(index, lists=lists).search(ASKED)
    known = [NoteId(number) for number in range(1, 31)]
    for step in range(30):
        what = source.random()
        if what < 0.15 and len(known) > 3:
            gone = source.sample(known, source.choice((1, 3)))
            index.delete(gone)
            known = [note_id for note_id in known if note_id not in gone]
        elif what < 0.3:
            known.append(add(index, f"new {step}.md", random_note(source)))
        elif what < 0.4:
            note_id = source.choice(known)
            index.move([(note_id, parsed(f"moved {step}.md", "", note_id)[0])])
        else:
            note_id = source.choice(known)
            add(index, f"edited {step}.md", random_note(source), note_id)
        if source.random() < 0.5:
            reads()
            SqliteLexicalRetriever(index, lists=lists).search(ASKED)
            assert not reads()
            same_as_read_again(index, lists)
    same_as_read_again(index, lists)


def test_a_save_has_no_list_read_again(index: NoteIndex, reads: Callable[[], int]) -> None:
    fill(index)
    words = SqliteLexicalRetriever(index)
    words.search(ASKED)
    assert reads() == READS
    add(index, "one more.md", "quince quince fig")
    words.search(ASKED)
    assert reads() == 0


def test_words_of_the_language_are_listed_where_there_are_no_others(index: NoteIndex, reads: Callable[[], int]) -> None:
    """Beside others they are counted and no more; alone they rank as FTS5 ranks them, and are kept like any word."""
    fill(index)
    add(index, "about.md", "what about the what")
    words, stop = SqliteLexicalRetriever(index), Clause(("what",), 0, stop=True)
    words.search([stop, Clause(("fig",), 1)])
    assert reads() == 1
    alone = words.search([stop])
    assert reads() == 1
    with index.readers.reading() as connection:
        ranked = read_ranked(connection, stop, index.count())
    assert alone.ids.tolist() == ranked.ids.tolist()
    add(index, "more.md", "what else")
    assert len(words.search([stop]).ids) == 2
    assert reads() == 0


def test_a_write_of_many_has_all_read_again(
    index: NoteIndex, reads: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To count so many notes would take longer; what is found is the same."""
    monkeypatch.setattr("vaultrag.storage.notes.note_index.MOST_AT_ONCE", 3)
    fill(index)
    lists = PostingCache(index)
    SqliteLexicalRetriever(index, lists=lists).search(ASKED)
    reads()
    index.upsert([values_of(*parsed(f"many {n}.md", "quince fig")) for n in range(4)])
    SqliteLexicalRetriever(index, lists=lists).search(ASKED)
    assert reads() == READS
    same_as_read_again(index, lists)
    reads()
    index.delete([NoteId(number) for number in range(1, 5)])
    SqliteLexicalRetriever(index, lists=lists).search(ASKED)
    assert reads() == READS
    same_as_read_again(index, lists)


def test_more_saves_than_are_remembered(
    index: NoteIndex, reads: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_delta, "MOST_NOTES", 5)
    fill(index, 20)
    lists = PostingCache(index)
    SqliteLexicalRetriever(index, lists=lists).search(ASKED)
    reads()
    for _ in range(3):  # the same few notes again and again are few
        for number in range(1, 6):
            add(index, f"note {number}.md", "fig and quince", number)
    SqliteLexicalRetriever(index, lists=lists).search(ASKED)
    assert not reads()
    for number in range(1, 8):
        add(index, f"note {number}.md", "fig once more", number)
    SqliteLexicalRetriever(index, lists=lists).search(ASKED)
    assert reads() == READS
    same_as_read_again(index, lists)


def test_a_write_that_fails_leaves_nothing_to_rely_on(
    index: NoteIndex, reads: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How it ended is not known, so that all is read again: the state is the old one."""
    fill(index, 20)
    lists = PostingCache(index)
    SqliteLexicalRetriever(index, lists=lists).search(ASKED)
    reads()

    def failing(*args: object) -> None:
        raise RuntimeError("a fault")

    with monkeypatch.context() as patch:
        patch.setattr("vaultrag.storage.notes.note_writer.write", failing)
        with pytest.raises(RuntimeError, match="a fault"):
            add(index, "half.md", "quince")
    SqliteLexicalRetriever(index, lists=lists).search(ASKED)
    assert reads() == READS
    same_as_read_again(index, lists)


def test_lists_are_read_ahead_of_queries(
    index: NoteIndex, reads: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words in many notes, the commonest first, but none that is in most; and anew after much has changed."""
    monkeypatch.setattr(posting_cache, "WORTH_READING_AHEAD", 5)
    monkeypatch.setattr(posting_cache, "_READ_AT_ONCE", 2)
    for number in range(20):
        add(index, f"{number}.md", f"all {'third' * (number % 3 == 0)} {'quarter' * (number % 4 == 0)} only{number}x")
    lists = PostingCache(index)
    steps = 1
    while lists.read_ahead():
        steps += 1
    assert reads() == 2  # "third" and "quarter"
    assert steps == 2
    words = SqliteLexicalRetriever(index, lists=lists)
    words.search([Clause(("third",), 0), Clause(("quarter",), 1)])
    assert not reads()
    assert not lists.read_ahead()
    add(index, "late.md", "third")
    assert not lists.read_ahead()
    assert not reads()
    monkeypatch.setattr("vaultrag.storage.notes.note_index.MOST_AT_ONCE", 0)
    add(index, "later.md", "third")
    while lists.read_ahead():
        pass
    assert reads() == 2


def test_only_so_much_is_read_ahead_as_there_is_room_for(
    index: NoteIndex, reads: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting_cache, "WORTH_READING_AHEAD", 1)
    monkeypatch.setattr(posting_cache, "_READ_AHEAD_BYTES", 28 * 12)
    for number in range(20):
        add(index, f"{number}.md", f"{'third' * (number % 3 == 0)} {'quarter' * (number % 4 == 0)} only{number}x")
    lists = PostingCache(index)
    while lists.read_ahead():
        pass
    assert reads() == 2  # of seven notes, and of five


def test_what_is_remembered() -> None:
    """Between two generations, the notes that changed, each once; nothing where it is not sure."""
    one, two = (Counted({word: np.array([0], np.int32)}, {word: [word]}, 1) for word in "ab")
    log = IndexDelta()
    log.add(2, {NoteId(1): one})
    log.add(4, {NoteId(2): two})
    log.add(6, {NoteId(1): GONE})
    assert log.between(0, 6) == {NoteId(1): GONE, NoteId(2): two}
    assert log.between(4, 6) == {NoteId(1): GONE}
    assert log.between(6, 6) == {}
    assert log.between(0, 4) is None  # how the first note was then is gone
    log.lose(8)
    assert log.between(6, 8) is None
    assert log.between(8, 8) == {}
