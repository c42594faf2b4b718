"""What no longer holds stands below, by rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from vaultrag.domain import Evidence, NoteId, NoteValidity, Validity
from vaultrag.retrieval.demotion import demoted
from vaultrag.retrieval.params import DEFAULT
from vaultrag.retrieval.ranked import RankedNote

OLD, NEW, OTHER = NoteId(1), NoteId(2), NoteId(3)


def ranked(note_id: NoteId, score: float) -> RankedNote:
    return RankedNote(note_id, score, "partial", (Evidence("words", 1, score, 1.0, score),))


def demote(notes: Sequence[RankedNote], aged: Mapping[NoteId, NoteValidity]) -> list[RankedNote]:
    return demoted(notes, aged, DEFAULT.outdated)


def superseded(*by: NoteId) -> NoteValidity:
    return NoteValidity(Validity("superseded"), frozenset(by))


def test_a_superseded_note_stands_below_its_successor() -> None:
    """However well the old note fits, the note that took its place stands above it."""
    notes = demote([ranked(OLD, 2.0), ranked(OTHER, 0.9), ranked(NEW, 0.5)], {OLD: superseded(NEW)})
    assert [hit.note_id for hit in notes] == [OTHER, NEW, OLD]


def test_a_chain_stands_in_its_order() -> None:
    """Of three notes that superseded one another the newest comes first and the oldest last."""
    aged = {OLD: superseded(OTHER, NEW), OTHER: superseded(NEW)}
    notes = demote([ranked(OLD, 2.0), ranked(OTHER, 1.9), ranked(NEW, 0.1)], aged)
    assert [hit.note_id for hit in notes] == [NEW, OTHER, OLD]


def test_a_circle_loses_its_share_only() -> None:
    """Notes that superseded each other keep their order among themselves."""
    notes = demote([ranked(OLD, 2.0), ranked(NEW, 1.0)], {OLD: superseded(NEW), NEW: superseded(OLD)})
    assert [(hit.note_id, hit.score) for hit in notes] == [(OLD, 2.0 * DEFAULT.outdated), (NEW, 1.0 * DEFAULT.outdated)]


def test_a_superseded_note_alone_is_still_found() -> None:
    """Without its successor in the list the old note only loses a share of its score."""
    (hit,) = demote([ranked(OLD, 1.0)], {OLD: superseded()})
    assert hit.score == pytest.approx(DEFAULT.outdated)


@pytest.mark.parametrize("state", ["expired", "invalidated"])
def test_what_has_ended_is_put_down(state: str) -> None:
    """Expired and invalidated notes stand below as superseded ones do; evidence says which it is."""
    aged = {OLD: NoteValidity(Validity(state))}  # type: ignore[arg-type]
    notes = demote([ranked(OLD, 1.0), ranked(OTHER, 0.9)], aged)
    assert [hit.note_id for hit in notes] == [OTHER, OLD]
    assert notes[1].evidence[-1].arm == state


def test_what_is_still_to_come_stands_below_what_holds() -> None:
    """A note whose time has not come yet loses a share, and never stands above the note whose place it will take."""
    upcoming = NoteValidity(Validity("upcoming"), frozenset({OLD}))
    notes = demote([ranked(NEW, 2.0), ranked(OTHER, 1.5), ranked(OLD, 0.2)], {NEW: upcoming})
    assert [hit.note_id for hit in notes] == [OTHER, OLD, NEW]


def test_the_parts_still_sum_to_the_score() -> None:
    """What is taken off is a part of its own."""
    for hit in demote([ranked(OLD, 2.0), ranked(NEW, 0.5)], {OLD: superseded(NEW)}):
        assert sum(part.contribution for part in hit.evidence) == pytest.approx(hit.score)


def test_without_such_notes_nothing_changes() -> None:
    """A list that holds none of them comes back as it was."""
    notes = [ranked(NEW, 2.0), ranked(OTHER, 1.0)]
    assert demote(notes, {OLD: superseded(NEW)}) == notes
