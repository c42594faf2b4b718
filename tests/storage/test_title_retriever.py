"""Names: the exact one first, a beginning next, a slip of the finger after that, and never a wrong number."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.stores import add, found
from vaultrag.domain import NameMatch, NoteId
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.titles.exact_names import HEADINGS
from vaultrag.storage.titles.title_retriever import MAX_NAME_WORDS, SqliteTitleRetriever


@pytest.fixture
def filled(index: NoteIndex) -> dict[str, NoteId]:
    notes = {
        "Citation gap audit.md": "text",
        "Notes on the citation gap audit of last year.md": "text",
        "ADR-016.md": "---\naliases: [Decision on storage]\n---\n# Why SQLite",
        "ADR-018.md": "text",
        "pump_seal-change.md": "---\ntitle: Changing the seal\n---\n",
        "Dichtung erneuern.md": "text",
        "東京タワー.md": "text",
        "🎉.md": "text",
        "Stromversorgung.md": "text",
    }
    return {path: add(index, path, text) for path, text in notes.items()}


def _paths(index: NoteIndex, ids: dict[str, NoteId], asked: str) -> list[str]:
    names = {note_id: path for path, note_id in ids.items()}
    return [names[hit.note_id] for hit in SqliteTitleRetriever(index).search(asked)]


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("citation gap audit", "Citation gap audit.md"),
        ("citation-gap_audit", "Citation gap audit.md"),
        ("ADR-016", "ADR-016.md"),
        ("adr 016", "ADR-016.md"),
        ("decision on storage", "ADR-016.md"),
        ("changing the seal", "pump_seal-change.md"),
        ("pump seal change", "pump_seal-change.md"),
        ("dichtung erneuern", "Dichtung erneuern.md"),
        ("東京タワー", "東京タワー.md"),
        ("🎉", "🎉.md"),
    ],
)
def test_exact(index: NoteIndex, filled: dict[str, NoteId], asked: str, first: str) -> None:
    """A title, file name or alias typed in full comes first and is known to be exact."""
    hits = SqliteTitleRetriever(index).search(asked)
    assert hits[0].note_id == filled[first]
    assert hits[0].exact
    assert hits[0].similarity == 1.0


def test_heading_is_not_exact(index: NoteIndex, filled: dict[str, NoteId]) -> None:
    """A heading finds its note, below notes that are named so."""
    hits = SqliteTitleRetriever(index).search("why sqlite")
    assert [(hit.note_id, hit.kind, hit.exact) for hit in hits] == [(filled["ADR-016.md"], "heading", False)]
    assert hits[0].similarity < 1.0


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("citaton gap audit", "Citation gap audit.md"),
        ("ciattion gap audit", "Citation gap audit.md"),
        ("dichtung ernuern", "Dichtung erneuern.md"),
        ("Stromversorgnug", "Stromversorgung.md"),
        ("stromver", "Stromversorgung.md"),
        ("citation gap", "Citation gap audit.md"),
    ],
)
def test_near(index: NoteIndex, filled: dict[str, NoteId], asked: str, first: str) -> None:
    """A slip or a beginning still finds the name, without passing for exact."""
    hits = SqliteTitleRetriever(index).search(asked)
    assert _paths(index, filled, asked)[0] == first
    assert not hits[0].exact
    assert hits[0].similarity < 1.0


@pytest.mark.parametrize("asked", ["ADR-017", "ADR-061", "adr 16", "WO-2291"])
def test_numbers_are_not_fuzzy(index: NoteIndex, filled: dict[str, NoteId], asked: str) -> None:
    """Another number is another thing."""
    assert _paths(index, filled, asked) == []


def test_allowed(index: NoteIndex, filled: dict[str, NoteId]) -> None:
    """Only allowed notes come."""
    other = filled["ADR-018.md"]
    assert [hit.note_id for hit in SqliteTitleRetriever(index).search("ADR-01", allowed=frozenset([other]))] == [other]


def test_one_row_a_note(index: NoteIndex) -> None:
    """A note with several fitting names comes once, by the best."""
    add(index, "pump.md", "---\naliases: [pumps, pump seal]\n---\n# pump")
    hits = SqliteTitleRetriever(index).search("pump")
    assert [(hit.kind, hit.similarity) for hit in hits] == [("title", 1.0)]


def test_ties_are_stable(index: NoteIndex) -> None:
    """Notes of one name come in the order they were first known, all of them."""
    ids = [add(index, f"{n}/same.md", "x") for n in range(5)]
    assert [hit.note_id for hit in SqliteTitleRetriever(index).search("same")] == ids
    assert [hit.note_id for hit in SqliteTitleRetriever(index).search("same", k=2)] == ids


@pytest.mark.parametrize(
    ("asked", "paths", "match"),
    [
        ("b/plum jam.md", ["b/Plum jam.md"], NameMatch.PATH),
        ("b\\Plum jam", ["b/Plum jam.md"], NameMatch.PATH),
        ("[[b/Plum jam|the jam]]", ["b/Plum jam.md"], NameMatch.PATH),
        ("b/Plum jam.md#L3-L7", ["b/Plum jam.md"], NameMatch.PATH),
        ("obsidian://open?vault=x&file=b%2FPlum%20jam", ["b/Plum jam.md"], NameMatch.PATH),
        ("/home/me/notes/b/Plum jam.md", ["b/Plum jam.md"], NameMatch.PATH),
        ("moved/Plum jam.md", ["a/c/Plum jam.md", "b/Plum jam.md"], NameMatch.VERBATIM),
        ("c/Plum jam", ["a/c/Plum jam.md"], NameMatch.VERBATIM),
        ("Plum jam", ["a/c/Plum jam.md", "b/Plum jam.md"], NameMatch.VERBATIM),
        ("plum-jam", ["d/Plum-jam.md"], NameMatch.VERBATIM),
        ("plum_jam", ["a/c/Plum jam.md", "b/Plum jam.md", "d/Plum-jam.md"], NameMatch.SAME),
        ("jam", ["d/Jam.md"], NameMatch.VERBATIM),
        ("with sugar", ["Old plum jam with sugar.md"], NameMatch.PART),
    ],
)
def test_the_best_name_is_first(index: NoteIndex, asked: str, paths: list[str], match: NameMatch) -> None:
    """A path comes before a name, a name as typed before one of the same words, and a whole part after these."""
    known = ["a/c/Plum jam.md", "b/Plum jam.md", "d/Plum-jam.md", "d/Jam.md", "Old plum jam with sugar.md", "Plums.md"]
    names = {add(index, path, "text"): path for path in known}
    hits = SqliteTitleRetriever(index).search(asked)
    assert [names[hit.note_id] for hit in hits if hit.match == match] == paths
    assert [hit.match for hit in hits] == sorted((hit.match for hit in hits), reverse=True)
    assert hits[0].match == match
    assert SqliteTitleRetriever(index).has(asked) == (match >= NameMatch.VERBATIM)


def test_headings_do_not_crowd_out_a_name(index: NoteIndex) -> None:
    """A name that hundreds of notes have for a heading still brings the note of that name."""
    for n in range(HEADINGS + 10):
        add(index, f"{n}.md", "# Tasks")
    named = add(index, "Tasks.md", "x")
    assert SqliteTitleRetriever(index).search("tasks")[0].note_id == named


def test_renamed_note(index: NoteIndex) -> None:
    """A new name replaces the old one."""
    note_id = add(index, "old name.md", "x")
    add(index, "fresh title.md", "x", note_id)
    assert SqliteTitleRetriever(index).search("old name") == []
    assert SqliteTitleRetriever(index).search("fresh titel")[0].note_id == note_id


def test_questions_are_no_names(index: NoteIndex) -> None:
    """A long question is not looked up as a name."""
    add(index, "word.md", "x")
    assert SqliteTitleRetriever(index).search("word " * (MAX_NAME_WORDS + 1)) == []
    assert SqliteTitleRetriever(index).search("") == []


@pytest.mark.parametrize(
    "asked", ["\U0010ffff" * 3, "\ud7ff" * 3, "\ud800x\udfff", '""" OR "', "a\0b", "::\0", "x\u0300\u0301"]
)
def test_odd_names(index: NoteIndex, filled: dict[str, NoteId], asked: str) -> None:
    """The last letters of Unicode, half letters and quotation marks are looked up like any other."""
    assert SqliteTitleRetriever(index).search(asked) == []


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example("::\0")
@given(st.text(max_size=30))
def test_any_name(index: NoteIndex, filled: dict[str, NoteId], asked: str) -> None:
    """No name raises."""
    hits = SqliteTitleRetriever(index).search(asked)
    assert all(0.0 < hit.similarity <= 1.0 for hit in hits)


def test_what_a_slip_was_meant_to_be(index: NoteIndex, filled: dict[str, NoteId]) -> None:
    """A word typed wrongly is the nearest word of a name; a word that stands in one is no slip."""
    names = SqliteTitleRetriever(index)
    assert names.spelled("citaiton") == ["citation"]
    assert names.spelled("stromversorgnug") == ["stromversorgung"]
    assert names.spelled("citation") == []
    assert names.spelled("zebra") == names.spelled("") == names.spelled("ab") == []


def test_many_names_alike(index: NoteIndex) -> None:
    """Among hundreds of names with the same letters, those with the rare word and the short ones are found."""
    for n in range(400):
        add(index, f"some meeting of the garden board {n}.md", "x")
    short = add(index, "our meeting.md", "x")
    rare = add(index, "meeting about gaskets.md", "x")
    names = SqliteTitleRetriever(index)
    assert names.search("meetign about gasket")[0].note_id == rare
    assert short in [hit.note_id for hit in names.search("meeting")]
    late = add(index, "my meeting.md", "x")
    assert late in [hit.note_id for hit in names.search("meeting")], "what is kept of the letters is out of date"


def test_a_long_name_with_a_slip_is_found_by_its_words(index: NoteIndex) -> None:
    """Of six telling words and more, names are not compared letter by letter; the other words find the note first."""
    add(index, "Long winding path northern lighthouse keeper.md", "about something else")
    add(index, "Other.md", "a long path, a northern path, and a keeper, said often: long northern path keeper")
    slipped = "long windng path northern lighthouse keeper"
    assert SqliteTitleRetriever(index).search(slipped) == []
    assert found(index, slipped)[0] == "Long winding path northern lighthouse keeper.md"
    five = "windng path northern lighthouse keeper"
    assert [hit.name for hit in SqliteTitleRetriever(index).search(five)] == [
        "Long winding path northern lighthouse keeper"
    ]
