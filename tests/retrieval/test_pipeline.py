"""The pipeline over the real stores, by words and names: what is brought, what counts as found, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import pytest

from tests.support.stores import add
from vaultrag.domain import NoteId
from vaultrag.retrieval.params import DEFAULT
from vaultrag.retrieval.pipeline import Draft, Pipeline, Ranking
from vaultrag.retrieval.query_parser import parse_query
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_rows import NoteRows
from vaultrag.storage.notes.validity import NoteValidities
from vaultrag.storage.titles.title_retriever import SqliteTitleRetriever
from vaultrag.text.tokenize import fold

NOTES = {
    "Seal.md": "The mechanical seal of the pump was changed.",
    "Pump.md": "A pump moves water.",
    "ERR-4471.md": "Overheated drive: ERR-4471 is shown.",
    "Anna Berg.md": "She knows valves.",
    "Protocol.md": "Talked with [[Anna Berg]] of the new valves and of lunch.",
    "Valves.md": "Valves close and open.",
    "Limit 2024.md": '---\nsuperseded_by: "[[Limit 2026]]"\n---\nThe turbidity limit is 0.4.',
    "Limit 2026.md": "The turbidity limit is 0.3.",
    "Long.md": "a word or two " * 300
    + "\n\nThe brass kettle boils before the whistle.\n\n"
    + "and so it goes on " * 300,
    "Scattered.md": "kettle\n" + "filler text here " * 80 + "brass\n" + "filler text here " * 80 + "whistle boils",
}


@dataclass
class Bench:
    pipeline: Pipeline
    ids: dict[str, NoteId]

    def ask(self, query: str, without: str = "") -> tuple[Draft, Ranking]:
        barred = frozenset({self.ids[without]} if without else ())
        draft = self.pipeline.begin(parse_query(query), barred=barred)
        return draft, self.pipeline.rank(draft, None)

    def found(self, query: str, without: str = "") -> list[str]:
        paths = {note_id: path for path, note_id in self.ids.items()}
        return [paths[note.note_id] for note in self.ask(query, without)[1].found]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    index = NoteIndex.open(tmp_path / "hybrid-fts.db")
    ids = {path: add(index, path, text) for path, text in NOTES.items()}
    table, validity = NoteRows(index), NoteValidities(index, lambda: date(2026, 6, 1))
    yield Bench(
        Pipeline(SqliteLexicalRetriever(index), SqliteTitleRetriever(index), table, table.matching, validity), ids
    )
    index.close()


def test_a_barred_note_is_in_no_list(bench: Bench) -> None:
    """A note that is taken away is not found by its words, nor by its name."""
    assert bench.found("mechanical seal")[0] == "Seal.md"
    assert "Seal.md" not in bench.found("mechanical seal", without="Seal.md")
    assert "Seal.md" not in bench.found("seal", without="Seal.md")


def test_a_slip_is_read_as_the_name_it_is_near_to(bench: Bench) -> None:
    """A word that no note holds is looked for as the word of a name it is a slip of, and the draft says so."""
    draft, ranking = bench.ask("Proctool lunch")
    assert draft.respelled == (("proctool", "protocol"),)
    assert ranking.found[0].note_id == bench.ids["Protocol.md"]
    assert bench.ask("protocol lunch")[0].respelled == ()
    assert bench.ask("zebra lunch")[0].respelled == ()


def test_an_identifier_that_is_nowhere_has_no_neighbours(bench: Bench) -> None:
    """An identifier that no note holds is not answered with the note of another one."""
    assert bench.found("ERR-4471") == ["ERR-4471.md"]
    draft, ranking = bench.ask("ERR-9917")
    assert draft.lacks_identifier
    assert not ranking.found
    assert not bench.ask("ERR-4471")[0].lacks_identifier
    assert not bench.ask("12 000")[0].lacks_identifier  # a number alone identifies nothing


def test_words_close_together_count(bench: Bench) -> None:
    """A long note that says it in one sentence comes before a short one that holds the words far apart."""
    assert bench.found("whistle brass kettle boils")[:2] == ["Long.md", "Scattered.md"]


def test_a_name_that_is_the_query_comes_first_whatever_else_fits(bench: Bench, tmp_path: Path) -> None:
    """Two hundred notes that hold the word often do not stand above the note that is called so."""
    index = NoteIndex.open(tmp_path / "names.db")
    for number in range(220):
        add(index, f"{number}.md", "java " * 20)
    named = add(index, "java.md", "A short note.")
    table = NoteRows(index)
    pipeline = Pipeline(SqliteLexicalRetriever(index), SqliteTitleRetriever(index), table, table.matching)
    ranking = pipeline.rank(pipeline.begin(parse_query("java")), None)
    assert ranking.notes[0].note_id == named
    assert ranking.notes[0].tier == "strong"
    index.close()


def test_names_that_hold_the_query_come_next(tmp_path: Path) -> None:
    """After the note of that name come the notes whose name the query is a whole part of, then all others."""
    index = NoteIndex.open(tmp_path / "parts.db")
    for number in range(60):
        add(index, f"{number}.md", "nothing " * 20)
    part = add(index, "All or Nothing.md", "A short note.")
    named = add(index, "Nothing.md", "A short note.")
    table = NoteRows(index)
    pipeline = Pipeline(SqliteLexicalRetriever(index), SqliteTitleRetriever(index), table, table.matching)
    ranked = [note.note_id for note in pipeline.rank(pipeline.begin(parse_query("nothing")), None).notes]
    assert ranked[:2] == [named, part]
    ranked = [note.note_id for note in pipeline.rank(pipeline.begin(parse_query("all or nothing")), None).notes]
    assert ranked[0] == part
    index.close()


def test_the_form_typed_comes_before_its_stems(tmp_path: Path) -> None:
    """The only note with the word as it was typed stands above titles with another form of it."""
    index = NoteIndex.open(tmp_path / "forms.db")
    for number in range(8):
        add(index, f"Organic layout {number}.md", "Organ by organ, organic.")
    only = add(index, "Charter.md", "a word or two " * 200 + "Other organizations have a charter, too.")
    table = NoteRows(index)
    pipeline = Pipeline(SqliteLexicalRetriever(index), SqliteTitleRetriever(index), table, table.matching)
    for query in ("organizations", '"Organizations"', "list of organizations"):
        ranking = pipeline.rank(pipeline.begin(parse_query(query)), None)
        assert ranking.notes[0].note_id == only, query
    assert len(pipeline.rank(pipeline.begin(parse_query("organizations")), None).notes) == 9
    assert len(pipeline.rank(pipeline.begin(parse_query('"organizations"')), None).notes) == 1
    index.close()


def test_a_sentence_comes_before_notes_that_repeat_its_nouns(tmp_path: Path) -> None:
    """A sentence copied from a journal of 2.4 MB finds it first, among notes that are about its words."""
    index = NoteIndex.open(tmp_path / "sentences.db")
    for number in range(220):
        add(index, f"Kettle and whistle {number}.md", "kettle whistle brass boils " * 12)
    sentence = "The kettle of **brass** boils before the whistle."
    text = f"{'a word or two ' * 90_000}\n\n{sentence}\n\n{'and so it goes on ' * 65_000}"
    journal = add(index, "Journal.md", text)
    table = NoteRows(index)
    pipeline = Pipeline(SqliteLexicalRetriever(index), SqliteTitleRetriever(index), table, table.matching)
    ranking = pipeline.rank(pipeline.begin(parse_query("The kettle of brass boils before the whistle.")), None)
    assert ranking.notes[0].note_id == journal
    index.close()


def test_a_date_that_is_nowhere_has_no_neighbours(bench: Bench, tmp_path: Path) -> None:
    """A date finds the daily note of any format, and no note of another day."""
    index = NoteIndex.open(tmp_path / "days.db")
    ids = [add(index, f"Daily/{name}.md", "A quiet day.") for name in ("2026-03-14", "15.03.2026 Sunday", "20260316")]
    table = NoteRows(index)
    pipeline = Pipeline(SqliteLexicalRetriever(index), SqliteTitleRetriever(index), table, table.matching)
    for day, note_id in zip(("14 March 2026", "15. März 2026", "16/03/2026"), ids, strict=True):
        ranking = pipeline.rank(pipeline.begin(parse_query(day)), None)
        assert [note.note_id for note in ranking.found] == [note_id], day
    draft = pipeline.begin(parse_query("17 March 2026"))
    assert draft.lacks_identifier
    assert not pipeline.rank(draft, None).found
    index.close()


COMPOUNDS = {
    "Krankenhausapotheke": "krankenhaus",
    "Wärmedämmung": "Dämmung",
    "parseHttpHeaderLine": "HttpHeaderLine",
    "gaskets": "gas",
    "Müller": "Mueller",
    "Maerz": "März",
}


@pytest.mark.parametrize("written", COMPOUNDS)
def test_a_word_that_is_nowhere_is_looked_for_in_longer_ones(tmp_path: Path, written: str) -> None:
    """A beginning or a part of a word finds it, typed or sent, and what was looked for instead is told."""
    index = NoteIndex.open(tmp_path / "compounds.db")
    for number in range(5):
        add(index, f"other {number}.md", "nothing of the kind")
    note_id = add(index, "a.md", f"See the {written} there.")
    table, asked = NoteRows(index), COMPOUNDS[written]
    pipeline = Pipeline(SqliteLexicalRetriever(index), SqliteTitleRetriever(index), table, table.matching)
    drafts = [pipeline.begin(parse_query(asked), typing=typing) for typing in (False, True)]
    rankings = [pipeline.rank(draft, None) for draft in drafts]
    assert [[(note.note_id, note.tier) for note in ranking.notes] for ranking in rankings] == [
        [(note_id, "strong")]
    ] * 2
    if asked == "März":  # another spelling of the same word
        index.close()
        return
    assert drafts[0].respelled == ((fold(asked).lower(), fold(written).lower()),)
    add(index, "b.md", f"The {asked} itself.")
    draft = pipeline.begin(parse_query(asked))
    assert draft.respelled == ()
    assert pipeline.rank(draft, None).notes[0].note_id == note_id + 1
    index.close()


def test_a_longer_word_of_hidden_notes_is_not_told(tmp_path: Path) -> None:
    """What only notes hold that the reader must not know of is no word to him."""
    index = NoteIndex.open(tmp_path / "hidden.db")
    note_id = add(index, "a.md", "Krankenhausapotheke")
    assert SqliteLexicalRetriever(index).containing("krankenhaus") == ["krankenhausapotheke"]
    assert SqliteLexicalRetriever(index, hidden=lambda connection: frozenset({note_id})).containing("krankenhaus") == []
    index.close()


def test_quotes_hold_where_meaning_alone_is_asked(bench: Bench) -> None:
    """Only the notes that hold what is quoted may be found, in whatever mode; where none does, all may."""
    quoted = bench.pipeline.begin(parse_query('"mechanical seal"'), mode="meaning")
    assert quoted.allowed == frozenset({bench.ids["Seal.md"]})
    assert bench.pipeline.begin(parse_query('"seal mechanical"'), mode="meaning").allowed is None
    assert bench.pipeline.begin(parse_query("mechanical seal"), mode="meaning").allowed is None


def test_parts_sum_to_the_score(bench: Bench) -> None:
    """Every note's parts sum to its score, whatever retrievers took part."""
    for query in ("Anna Berg valves", "turbidity limit", "Proctool lunch", "seal"):
        for note in bench.ask(query)[1].notes:
            assert sum(part.contribution for part in note.evidence) == pytest.approx(note.score)


def test_the_past_finds_what_was_superseded(bench: Bench) -> None:
    """A superseded note stands below its successor, but not where the question is about the past."""
    assert bench.found("turbidity limit") == ["Limit 2026.md", "Limit 2024.md"]
    _, past = bench.ask("previous turbidity limit")
    assert not [part for note in past.found for part in note.evidence if part.arm == "superseded"]
    assert {note.note_id for note in past.found} >= {bench.ids["Limit 2024.md"]}


def test_all_of_a_kind_asks_for_less(bench: Bench) -> None:
    """A question for all that fits keeps hits that a question for the best would leave out, never fewer."""
    for topic in ("pump", "valves", "the limit", "water pump seal valves"):
        assert set(bench.found(topic)) <= set(bench.found(f"list {topic}")) | set(bench.found(topic))


def test_a_ranking_says_with_which_parameters_it_was_made(bench: Bench) -> None:
    """Other parameters make another ranking of the same notes, and it names them."""
    other = replace(DEFAULT, near=0.0, words_near=0.0, alone_near=0.0)
    draft = bench.pipeline.begin(parse_query("whistle brass kettle boils"))
    changed = bench.pipeline.with_params(other).rank(draft, None)
    assert changed.params is other
    assert {note.note_id for note in changed.notes} == {note.note_id for note in bench.pipeline.rank(draft, None).notes}
