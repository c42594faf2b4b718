"""The set of private notes: always that of the snapshot it is used in."""

from __future__ import annotations

import threading

from tests.support.stores import add, word_hits
from vaultrag.domain import Filters, NoteId
from vaultrag.markdown.private_flag import PrivateRules
from vaultrag.retrieval.clauses import clauses_of
from vaultrag.retrieval.query_parser import parse_query
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_rows import NoteRows
from vaultrag.storage.private_notes import PrivateNotes
from vaultrag.storage.titles.title_retriever import SqliteTitleRetriever

HIDING = "---\nprivate: true\n---\n"


def hidden(index: NoteIndex, private: PrivateNotes) -> frozenset[NoteId]:
    with index.readers.reading() as connection:
        return private(connection)


def test_it_follows_every_write(index: NoteIndex) -> None:
    """A note is hidden with the transaction that writes it, and seen with the one that takes the mark away."""
    private = PrivateNotes(PrivateRules())
    assert hidden(index, private) == frozenset()
    note_id = add(index, "a.md", HIDING + "text")
    assert hidden(index, private) == {note_id}
    add(index, "a.md", "text", note_id)
    assert hidden(index, private) == frozenset()
    add(index, "a.md", HIDING + "text", note_id)
    index.delete([note_id])
    assert hidden(index, private) == frozenset()


def test_an_old_snapshot_has_its_own_set(index: NoteIndex) -> None:
    """Inside one snapshot the set is the snapshot's, whatever is committed meanwhile or asked beside it."""
    private = PrivateNotes(PrivateRules())
    table = NoteRows(index, private)
    first = add(index, "a.md", HIDING)
    with index.readers.reading() as connection:
        assert private(connection) == {first}
        second = add(index, "b.md", HIDING)
        asker = threading.Thread(target=lambda: hidden(index, private))
        asker.start()
        asker.join()
        assert private(connection) == {first}
        assert table.by_ids([first, second]) == {}
    assert hidden(index, private) == {first, second}


def test_a_note_never_shows_while_it_is_written_again_and_again(index: NoteIndex) -> None:
    """However writes and reads fall together, a note that is private in every version is seen in none."""
    private = PrivateNotes(PrivateRules())
    table, words = NoteRows(index, private), SqliteLexicalRetriever(index, private)
    note_id = add(index, "a.md", HIDING + "zebra")
    seen: list[object] = []
    stop = threading.Event()

    def look() -> None:
        clauses = clauses_of(parse_query("zebra").terms)
        while not stop.is_set():
            for paths in (
                table.near_paths("b"),
                table.near_paths("a"),
                [row.path for row in table.by_ids(table.all_ids()).values()],
            ):
                seen.extend(path for path in paths if path != "open.md")
            seen.extend(hit for hit in word_hits(words.search(clauses)) if hit.note_id != opened)

    opened = add(index, "open.md", "zebra in the open")
    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(150):
        index.delete([note_id])
        note_id = add(index, f"{'ab'[number % 2]}.md", HIDING + f"zebra {number}")
    stop.set()
    for reader in readers:
        reader.join()
    assert seen == []


def test_a_link_to_a_private_file_is_private(index: NoteIndex) -> None:
    """Notes that are one file under two names are both private where one of them is by its path; others are not."""
    private = PrivateNotes(PrivateRules(by_path=lambda path: path.startswith("Diary/"), any_path=True))
    twin, key = add(index, "Twin.md", "same"), add(index, "Diary/Key.md", "same")  # the fixture's inode is one for all
    assert hidden(index, private) == {twin, key}
    assert hidden(index, PrivateNotes(PrivateRules())) == frozenset()


def test_private_names_do_not_crowd_out_others(index: NoteIndex) -> None:
    """Hundreds of private notes with a name like the one asked for leave their place to the visible one."""
    private = PrivateNotes(PrivateRules())
    for number in range(250):
        add(index, f"p{number}/Protocol.md", HIDING)
        add(index, f"q{number}/Protocol {number:03}.md", HIDING)
    same = add(index, "z/Protocol.md", "text")
    longer = add(index, "z/Protocol of the year before last.md", "text")
    table, names = NoteRows(index, private), SqliteTitleRetriever(index)
    allowed = table.matching(Filters())
    assert allowed == frozenset({same, longer})
    assert [hit.note_id for hit in names.search("protocol", allowed=allowed)] == [same, longer]
    assert [hit.note_id for hit in names.search("protocl of the yaer before last", allowed=allowed)][:1] == [longer]
