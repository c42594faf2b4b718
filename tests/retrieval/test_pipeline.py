"""The engine over the real stores, by words and names: what is brought, what counts as found, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from tests.support.stores import add
from vaultrag.config import SearchSettings
from vaultrag.model import NoteId
from vaultrag.retrieval.evidence import bars_for
from vaultrag.retrieval.pipeline import Draft, Engine, Ranking
from vaultrag.retrieval.query_parser import parse_query
from vaultrag.store.fulltext import FullText
from vaultrag.store.names import Names
from vaultrag.store.note_index import NoteIndex
from vaultrag.store.note_rows import NoteRows
from vaultrag.store.standings import Standings

NOTES = {
    "Seal.md": "The mechanical seal of the pump was changed.",
    "Pump.md": "A pump moves water.",
    "ERR-4471.md": "Overheated drive: ERR-4471 is shown.",
    "Anna Berg.md": "She knows valves.",
    "Protocol.md": "Talked with [[Anna Berg]] of the new valves and of lunch.",
    "Valves.md": "Valves close and open.",
    "Limit 2024.md": '---\nsuperseded_by: "[[Limit 2026]]"\n---\nThe turbidity limit is 0.4.',
    "Limit 2026.md": "The turbidity limit is 0.3.",
}


@dataclass
class Rig:
    engine: Engine
    ids: dict[str, NoteId]

    def ask(self, query: str, without: str = "", search: SearchSettings | None = None) -> tuple[Draft, Ranking]:
        engine = self.engine.with_settings(search) if search else self.engine
        barred = frozenset({self.ids[without]} if without else ())
        draft = engine.begin(parse_query(query), barred=barred)
        return draft, engine.finish(draft, None, bars_for(""))

    def found(self, query: str, without: str = "") -> list[str]:
        paths = {note_id: path for path, note_id in self.ids.items()}
        return [paths[hit.note_id] for hit in self.ask(query, without)[1].found]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    index = NoteIndex.open(tmp_path / "hybrid-fts.db")
    ids = {path: add(index, path, text) for path, text in NOTES.items()}
    table, standings = NoteRows(index), Standings(index, lambda: date(2026, 6, 1))
    yield Rig(
        Engine(FullText(index), Names(index), table, table.matching, SearchSettings(), standings),
        ids,
    )
    index.close()


def test_a_barred_note_is_in_no_arm(rig: Rig) -> None:
    """A note that is taken away is not found by its words, nor by its name."""
    assert rig.found("mechanical seal")[0] == "Seal.md"
    assert "Seal.md" not in rig.found("mechanical seal", without="Seal.md")
    assert "Seal.md" not in rig.found("seal", without="Seal.md")


def test_a_slip_is_read_as_the_name_it_is_near_to(rig: Rig) -> None:
    """A word that no note holds is looked for as the word of a name it is a slip of, and the draft says so."""
    draft, ranking = rig.ask("Proctool lunch")
    assert draft.respelled == (("proctool", "protocol"),)
    assert ranking.found[0].note_id == rig.ids["Protocol.md"]
    assert rig.ask("protocol lunch")[0].respelled == ()
    assert rig.ask("zebra lunch")[0].respelled == ()


def test_an_identifier_that_is_nowhere_has_no_neighbours(rig: Rig) -> None:
    """An identifier that no note holds is not answered with the note of another one."""
    assert rig.found("ERR-4471") == ["ERR-4471.md"]
    draft, ranking = rig.ask("ERR-9917")
    assert draft.lacks_identifier
    assert not ranking.found
    assert not rig.ask("ERR-4471")[0].lacks_identifier
    assert not rig.ask("12 000")[0].lacks_identifier  # a number alone identifies nothing


def test_a_named_note_brings_what_links_to_it(rig: Rig) -> None:
    """Of two notes that hold the word alike, the one that links to the note named in the query comes first."""
    paths = rig.found("Anna Berg valves")
    assert paths.index("Protocol.md") < paths.index("Valves.md")
    _, without = rig.ask("Anna Berg valves", search=SearchSettings(links_weight=0.0))
    assert not [part for hit in without.found for part in hit.evidence if part.arm == "links"]


def test_parts_sum_to_the_score(rig: Rig) -> None:
    """Every hit's parts sum to its score, whatever arms took part."""
    for query in ("Anna Berg valves", "turbidity limit", "Proctool lunch", "seal"):
        for hit in rig.ask(query)[1].found:
            assert sum(part.contribution for part in hit.evidence) == pytest.approx(hit.score)


def test_the_past_finds_what_was_superseded(rig: Rig) -> None:
    """A superseded note stands below its successor, but not where the question is about the past."""
    assert rig.found("turbidity limit") == ["Limit 2026.md", "Limit 2024.md"]
    _, past = rig.ask("previous turbidity limit")
    assert not [part for hit in past.found for part in hit.evidence if part.arm == "superseded"]
    assert {hit.note_id for hit in past.found} >= {rig.ids["Limit 2024.md"]}


def test_all_of_a_kind_asks_for_less(rig: Rig) -> None:
    """A question for all that fits keeps hits that a question for the best would leave out, never fewer."""
    for topic in ("pump", "valves", "the limit", "water pump seal valves"):
        assert set(rig.found(topic)) <= set(rig.found(f"list {topic}")) | set(rig.found(topic))
    least = rig.ask("list pump water seal")[1]
    assert least.bars == rig.ask("pump water seal")[1].bars
