"""Whether notes still hold: chains, circles, successors whose time has not come."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.domain import NoteId, NotePath, Validity
from vaultrag.domain.dates import Period
from vaultrag.retrieval.validity import Claims, day_of, in_force, lasting, standings

TODAY = date(2026, 6, 1)
A, B, C = NoteId(1), NoteId(2), NoteId(3)


def note(name: str, *by: NoteId, first: date | None = None, last: date | None = None) -> Claims:
    return Claims(NotePath(f"{name}.md"), bool(by), frozenset(by), first=first, last=last)


def test_a_chain_names_its_end() -> None:
    """A note whose successor was superseded in turn names the one that holds today, and stands below both."""
    found = standings({A: note("A", B), B: note("B", C), C: note("C")}, TODAY)
    assert found[A].standing.by == found[B].standing.by == ("C.md",)
    assert found[A].successors == {B, C}
    assert C not in found


def test_a_circle_ends() -> None:
    """Notes that say of each other that they are the newer one are both superseded, and nothing hangs."""
    found = standings({A: note("A", B), B: note("B", A)}, TODAY)
    assert (found[A].standing.by, found[B].standing.by) == (("B.md",), ("A.md",))


def test_a_successor_takes_over_when_its_time_comes() -> None:
    """Until its successor is valid a note holds; then it is superseded since the day before."""
    claims = {A: note("A", B), B: note("B", first=date(2026, 7, 1))}
    assert set(standings(claims, TODAY)) == {B}
    later = standings(claims, date(2026, 7, 1))
    assert set(later) == {A}
    assert (later[A].standing.state, later[A].standing.since, later[A].last) == (
        "superseded", "2026-06-30", date(2026, 6, 30),
    )  # fmt: skip


def test_what_held_at_another_time() -> None:
    """At another time a note holds that has ended or been superseded since; what began later holds not yet."""
    claims = {
        A: note("A", B, last=date(2024, 6, 30)),
        B: note("B", first=date(2024, 7, 1)),
        C: note("C", first=date(2031, 1, 1)),
    }

    def states(first: date, last: date) -> dict[NoteId, str]:
        return {note_id: one.standing.state for note_id, one in standings(claims, TODAY, Period(first, last)).items()}

    assert states(date(2023, 1, 1), date(2023, 12, 31)) == {B: "upcoming", C: "upcoming"}
    assert states(date(2024, 1, 1), date(2024, 12, 31)) == {C: "upcoming"}  # both, in turn
    assert states(date(2025, 1, 1), date(2025, 12, 31)) == {A: "superseded", C: "upcoming"}
    assert states(date(2031, 1, 1), date(2031, 12, 31)) == {A: "superseded"}
    assert standings(claims, TODAY) == standings(claims, TODAY, Period(TODAY, TODAY))


def test_what_is_to_come_stands_below_what_it_will_replace() -> None:
    """An upcoming note knows the notes whose place it will take."""
    claims = {A: note("A", B), B: note("B", first=date(2031, 1, 1))}
    assert standings(claims, TODAY)[B].successors == {A}


def test_how_a_note_stands_whatever_day_it_is() -> None:
    """What was superseded, or is to be, is told with its day; what only time ends is told by its own dates."""
    claims = {A: note("A", B), B: note("B", first=date(2031, 1, 1)), C: note("C", last=date(2020, 1, 1))}
    assert lasting(claims) == {A: Validity("superseded", (NotePath("B.md"),), "2030-12-31")}


def test_what_is_in_force_knows_what_was_before() -> None:
    """Of the notes that hold, those are told that took another's place or say since when they hold."""
    claims = {A: note("A", B), B: note("B", first=date(2025, 1, 1)), C: note("C")}
    assert in_force(claims, TODAY) == {B: frozenset({A})}


def test_what_rests_on_an_expired_note_falls_with_it() -> None:
    """What depends on a note that no longer holds is invalidated through it; what merely comes from it is not."""
    claims = {
        A: note("A", last=date(2026, 1, 31)),
        B: replace(note("B"), depends=frozenset({A})),
        C: replace(note("C"), sources=frozenset({A})),
    }
    found = standings(claims, TODAY)
    assert (found[B].standing.state, found[B].standing.through) == ("invalidated", "A.md")
    assert C not in found


def test_notes_that_rest_on_each_other_end() -> None:
    """A circle of dependence falls as a whole, each note once."""
    claims = {
        A: replace(note("A"), depends=frozenset({B}), invalidated=True),
        B: replace(note("B"), depends=frozenset({A, C})),
        C: replace(note("C"), depends=frozenset({B})),
    }
    found = standings(claims, TODAY)
    assert {note_id: aged.standing.through for note_id, aged in found.items()} == {A: "", B: "A.md", C: "B.md"}


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-01-31", date(2026, 1, 31), date(2026, 1, 31)),
        ("2026-01-31T10:00:00Z", date(2026, 1, 31), date(2026, 1, 31)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2024", date(2024, 1, 1), date(2024, 12, 31)),
        ("9999", date(9999, 1, 1), None),
        ("2026-13", None, None),
        ("2026-02-30", None, None),
        ("20260131", None, None),
        ("2026.5", None, None),
        ("soon", None, None),
        ("", None, None),
    ],
)
def test_days_are_read(text: str, first: date | None, last: date | None) -> None:
    """A day, a month or a year is read from its beginning or to its end; anything else names no day."""
    assert (day_of(text), day_of(text, end=True)) == (first, last)


ids = st.frozensets(st.integers(1, 6).map(NoteId), max_size=3)
days = st.none() | st.dates(date(2026, 1, 1), date(2026, 12, 31))


@given(
    st.dictionaries(
        st.integers(1, 6).map(NoteId),
        st.builds(Claims, st.just(NotePath("x.md")), st.booleans(), ids, st.booleans(), ids, ids, ids, days, days),
    )
)
def test_no_web_of_claims_hangs(claims: dict[NoteId, Claims]) -> None:
    """Whatever notes say of each other and themselves, it is resolved, and only of notes that were spoken of."""
    assert set(standings(claims, TODAY)) <= set(claims)
