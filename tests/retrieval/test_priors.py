"""What no longer holds stands below, by rule."""

from __future__ import annotations

from datetime import date

import pytest

from vaultrag.model import Aged, Evidence, NoteId, Standing
from vaultrag.retrieval.fusion import Fused
from vaultrag.retrieval.priors import NO_LONGER, demote

OLD, NEW, OTHER = NoteId(1), NoteId(2), NoteId(3)
YEAR = (date(2024, 1, 1), date(2024, 12, 31))


def fused(note_id: NoteId, score: float) -> Fused:
    return Fused(note_id, score, (Evidence("words", 1, score, 1.0, score),))


def superseded(*by: NoteId, last: date | None = None) -> Aged:
    return Aged(Standing("superseded"), frozenset(by), last=last)


def test_a_superseded_note_stands_below_its_successor() -> None:
    """However well the old note fits, the note that took its place stands above it."""
    ranked = demote([fused(OLD, 2.0), fused(OTHER, 0.9), fused(NEW, 0.5)], {OLD: superseded(NEW)})
    assert [hit.note_id for hit in ranked] == [OTHER, NEW, OLD]


def test_a_chain_stands_in_its_order() -> None:
    """Of three notes that superseded one another the newest comes first and the oldest last."""
    aged = {OLD: superseded(OTHER, NEW), OTHER: superseded(NEW)}
    ranked = demote([fused(OLD, 2.0), fused(OTHER, 1.9), fused(NEW, 0.1)], aged)
    assert [hit.note_id for hit in ranked] == [NEW, OTHER, OLD]


def test_a_circle_loses_its_share_only() -> None:
    """Notes that superseded each other keep their order among themselves."""
    ranked = demote([fused(OLD, 2.0), fused(NEW, 1.0)], {OLD: superseded(NEW), NEW: superseded(OLD)})
    assert [(hit.note_id, hit.score) for hit in ranked] == [(OLD, 2.0 * NO_LONGER), (NEW, 1.0 * NO_LONGER)]


def test_a_superseded_note_alone_is_still_found() -> None:
    """Without its successor in the list the old note only loses a share of its score."""
    (hit,) = demote([fused(OLD, 1.0)], {OLD: superseded()})
    assert hit.score == pytest.approx(NO_LONGER)


@pytest.mark.parametrize("state", ["expired", "invalidated"])
def test_what_has_ended_is_put_down(state: str) -> None:
    """Expired and invalidated notes stand below as superseded ones do; evidence says which it is."""
    aged = {OLD: Aged(Standing(state))}  # type: ignore[arg-type]
    ranked = demote([fused(OLD, 1.0), fused(OTHER, 0.9)], aged)
    assert [hit.note_id for hit in ranked] == [OTHER, OLD]
    assert ranked[1].evidence[-1].arm == state


def test_what_is_still_to_come_keeps_its_place() -> None:
    """A note whose time has not come yet is marked, not put down."""
    ranked = [fused(NEW, 2.0), fused(OTHER, 1.0)]
    assert demote(ranked, {NEW: Aged(Standing("upcoming"))}) == ranked


def test_a_time_that_is_asked_for_counts() -> None:
    """Where a query names a time, what was valid then keeps its place; what was not, or never was, does not."""
    then = {OLD: superseded(NEW, last=date(2024, 6, 30))}
    ranked = [fused(OLD, 2.0), fused(NEW, 1.0)]
    assert demote(ranked, then, YEAR) == ranked
    before = {OLD: superseded(NEW, last=date(2023, 12, 31))}
    assert [hit.note_id for hit in demote(ranked, before, YEAR)] == [NEW, OLD]
    wrong = {OLD: Aged(Standing("invalidated"), last=date(2024, 6, 30))}
    assert [hit.note_id for hit in demote([fused(OLD, 1.2), fused(NEW, 1.0)], wrong, YEAR)] == [NEW, OLD]


def test_the_parts_still_sum_to_the_score() -> None:
    """What is taken off is a part of its own."""
    for hit in demote([fused(OLD, 2.0), fused(NEW, 0.5)], {OLD: superseded(NEW)}):
        assert sum(part.contribution for part in hit.evidence) == pytest.approx(hit.score)


def test_without_such_notes_nothing_changes() -> None:
    """A list that holds none of them comes back as it was."""
    ranked = [fused(NEW, 2.0), fused(OTHER, 1.0)]
    assert demote(ranked, {OLD: superseded(NEW)}) == ranked
