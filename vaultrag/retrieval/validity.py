"""Whether notes still hold, from what they say of themselves and of each other. Pure; the day is passed in.

A note no longer holds when it is *invalidated* (``invalidated_by``), *superseded* (``superseded_by``, or another's
``supersedes``), or *expired* (``valid_to``). What rests on such a note (``depends_on``) is invalidated through it, and
what was taken from an invalidated one (``provenance``) is too. A successor whose own time has not come yet
(``valid_from``) has not taken over. All that is derived anew for each day; nothing is written anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Protocol

from vaultrag.domain import NoteId, NotePath, NoteValidity, Validity
from vaultrag.domain.dates import Period

_DAY = re.compile(r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?![\d.])")


class Validities(Protocol):
    """Tells which notes hold."""

    def __call__(self, at: Period | None = None) -> Mapping[NoteId, NoteValidity]:
        """Return every note that does not simply hold, today or at another time."""
        ...

    def in_force(self) -> Mapping[NoteId, frozenset[NoteId]]:
        """Return the notes that hold today and took another's place or say since when, with those others."""
        ...

    def lasting(self) -> Mapping[NoteId, Validity]:
        """Return how notes stand whatever day it is: superseded and invalidated ones."""
        ...


class AllValid:
    """Every note holds at any time."""

    def __call__(self, at: Period | None = None) -> Mapping[NoteId, NoteValidity]:
        return {}

    def in_force(self) -> Mapping[NoteId, frozenset[NoteId]]:
        return {}

    def lasting(self) -> Mapping[NoteId, Validity]:
        return {}


@dataclass(frozen=True, slots=True)
class Claims:
    """Statements on the validity of one note, by itself or by others; other notes by their ids, where they are known.

    Attributes:
        superseded: It is said that something took its place, known or not.
        invalidated: It is said that something made it invalid, known or not.
    """

    path: NotePath
    superseded: bool = False
    successors: frozenset[NoteId] = frozenset()
    invalidated: bool = False
    invalidators: frozenset[NoteId] = frozenset()
    depends: frozenset[NoteId] = frozenset()
    sources: frozenset[NoteId] = frozenset()
    first: date | None = None
    last: date | None = None


def day_of(text: str, *, end: bool = False) -> date | None:
    """Return the day a text begins with: ``2026-01-31``, ``2026-01``, ``2026``; None where it names none.

    Args:
        end: Of a month or a year, the last day rather than the first.
    """
    found = _DAY.match(text)
    if found is None:
        return None
    year, month, day = int(found[1]), int(found[2] or 0), int(found[3] or 0)
    try:
        if day:
            return date(year, month, day)
        if not end:
            return date(year, month or 1, 1)
        following = date(year, month + 1, 1) if 0 < month < 12 else date(year + 1, 1, 1)
        return following - timedelta(days=1) if month <= 12 else None
    except (ValueError, OverflowError):
        return None


def standings(claims: Mapping[NoteId, Claims], today: date, at: Period | None = None) -> dict[NoteId, NoteValidity]:
    """Return the notes that do not simply hold: today, or on any day of another time.

    Args:
        claims: What notes say.
        today: The day.
        at: The other time. A note that has been superseded since held until its successor's time began, or until its
            own end; where neither says when that was, it counts as superseded.
    """
    time = at or Period(today, today)
    aged: dict[NoteId, NoteValidity] = {}
    upcoming = {note_id for note_id, said in claims.items() if said.first is not None and said.first > time.first}
    preceded = _predecessors(claims)
    for note_id, said in claims.items():
        standing = _own(note_id, said, claims, upcoming, time, today)
        if standing is not None:
            taken = preceded.get(note_id, frozenset())
            if standing.state != "upcoming":
                taken = _chain(note_id, claims, upcoming)
            aged[note_id] = NoteValidity(standing, taken, said.first, said.last or _before(taken, claims))
    return aged | _through(claims, aged)


def lasting(claims: Mapping[NoteId, Claims]) -> dict[NoteId, Validity]:
    """Return how notes stand whatever day it is: superseded and invalidated ones, with the day if a note says one.

    A note that is to be superseded is told so from the beginning, with the day before its successor's time.
    """
    undated = {note_id: replace(said, first=None, last=None) for note_id, said in claims.items()}
    aged = standings(undated, date.max)
    return {
        note_id: replace(one.standing, since=_taken_over(one.successors, claims))
        if one.standing.state == "superseded"
        else one.standing
        for note_id, one in aged.items()
    }


def in_force(claims: Mapping[NoteId, Claims], today: date) -> dict[NoteId, frozenset[NoteId]]:
    """Return the notes that hold today and took another's place or say since when they hold, with those others."""
    aged, preceded = standings(claims, today), _predecessors(claims)
    return {
        note_id: preceded.get(note_id, frozenset())
        for note_id, said in claims.items()
        if note_id not in aged and (said.first is not None or note_id in preceded)
    }


def _predecessors(claims: Mapping[NoteId, Claims]) -> dict[NoteId, frozenset[NoteId]]:
    """Return whose place each note took, or is to take."""
    found: dict[NoteId, set[NoteId]] = {}
    for note_id, said in claims.items():
        for successor in said.successors:
            found.setdefault(successor, set()).add(note_id)
    return {note_id: frozenset(others - {note_id}) for note_id, others in found.items()}


def _own(
    note_id: NoteId, said: Claims, claims: Mapping[NoteId, Claims], upcoming: set[NoteId], time: Period, today: date
) -> Validity | None:
    """Return what is the matter with the note itself."""
    last = said.last.isoformat() if said.last is not None else ""
    past = last if said.last is not None and said.last < time.first else ""
    if said.invalidated:
        return Validity("invalidated", _paths(said.invalidators, claims), past)
    ended_later = said.last is not None and time.first <= said.last < today
    if said.superseded and not ended_later and not (said.successors and said.successors <= upcoming):
        chain = _chain(note_id, claims, upcoming)
        heads = {other for other in chain if not _chain(other, claims, upcoming) - {note_id}} or chain
        return Validity("superseded", _paths(heads, claims), past or _taken_over(chain, claims))
    if past:
        return Validity("expired", (), past)
    if said.first is not None and said.first > time.last:
        return Validity("upcoming", (), said.first.isoformat())
    return None


def _chain(note_id: NoteId, claims: Mapping[NoteId, Claims], upcoming: set[NoteId]) -> frozenset[NoteId]:
    """All that took the note's place, one after the other; a circle is gone round once."""
    found: set[NoteId] = set()
    waiting = [note_id]
    while waiting:
        said = claims.get(waiting.pop())
        fresh = (said.successors if said is not None else frozenset()) - found - upcoming - {note_id}
        found |= fresh
        waiting.extend(fresh)
    return frozenset(found)


def _before(successors: Iterable[NoteId], claims: Mapping[NoteId, Claims]) -> date | None:
    """Return the day before the first successor's time began, where one says when that was."""
    begun = [said.first for other in successors if (said := claims.get(other)) is not None and said.first is not None]
    return min(begun) - timedelta(days=1) if begun and min(begun) > date.min else None


def _taken_over(successors: Iterable[NoteId], claims: Mapping[NoteId, Claims]) -> str:
    last = _before(successors, claims)
    return last.isoformat() if last is not None else ""


def _through(claims: Mapping[NoteId, Claims], aged: Mapping[NoteId, NoteValidity]) -> dict[NoteId, NoteValidity]:
    """Return what no longer holds because of what it rests on, however far down that lies."""
    resting: dict[NoteId, list[tuple[NoteId, bool]]] = {}
    for note_id, said in claims.items():
        for other in said.depends:
            resting.setdefault(other, []).append((note_id, True))
        for other in said.sources - said.depends:
            resting.setdefault(other, []).append((note_id, False))
    fallen: dict[NoteId, NoteValidity] = {}
    waiting = sorted(note_id for note_id, one in aged.items() if one.standing.state != "upcoming")
    while waiting:
        other = waiting.pop()
        invalid = other in fallen or aged[other].standing.state == "invalidated"
        for note_id, depends in sorted(resting.get(other, ())):
            known = aged.get(note_id)
            if note_id in fallen or (known is not None and known.standing.state != "upcoming"):
                continue
            if depends or invalid:
                said = claims[note_id]
                standing = Validity("invalidated", (), through=claims[other].path)
                fallen[note_id] = NoteValidity(standing, frozenset(), said.first, said.last)
                waiting.append(note_id)
    return fallen


def _paths(ids: Iterable[NoteId], claims: Mapping[NoteId, Claims]) -> tuple[NotePath, ...]:
    return tuple(sorted(claims[note_id].path for note_id in ids if note_id in claims))
