"""A superseded note stands below, by rule."""

from __future__ import annotations

import pytest

from vaultrag.model import Evidence, NoteId
from vaultrag.ranking.fusion import Fused
from vaultrag.ranking.priors import SUPERSEDED, demote_superseded

OLD, NEW, OTHER = NoteId(1), NoteId(2), NoteId(3)


def fused(note_id: NoteId, score: float) -> Fused:
    return Fused(note_id, score, (Evidence("words", 1, score, 1.0, score),))


def test_a_superseded_note_stands_below_its_successor() -> None:
    """However well the old note fits, the note that took its place stands above it."""
    ranked = demote_superseded([fused(OLD, 2.0), fused(OTHER, 0.9), fused(NEW, 0.5)], {OLD: frozenset({NEW})})
    assert [hit.note_id for hit in ranked] == [OTHER, NEW, OLD]


def test_a_superseded_note_alone_is_still_found() -> None:
    """Without its successor in the list the old note only loses a share of its score."""
    (hit,) = demote_superseded([fused(OLD, 1.0)], {OLD: frozenset()})
    assert hit.score == pytest.approx(SUPERSEDED)


def test_the_parts_still_sum_to_the_score() -> None:
    """What is taken off is a part of its own."""
    for hit in demote_superseded([fused(OLD, 2.0), fused(NEW, 0.5)], {OLD: frozenset({NEW})}):
        assert sum(part.contribution for part in hit.evidence) == pytest.approx(hit.score)


def test_without_superseded_notes_nothing_changes() -> None:
    """A list that holds none of them comes back as it was."""
    ranked = [fused(NEW, 2.0), fused(OTHER, 1.0)]
    assert demote_superseded(ranked, {OLD: frozenset({NEW})}) == ranked
