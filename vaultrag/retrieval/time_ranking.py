"""What time does to a ranking: notes of the time that is asked for, notes that held then, notes in order of time. Pure.

Three things that a query may say of time: a phrase raises what lies in it, ``as-of:`` and words such as "used to" tell
which notes hold, ``sort:`` orders what is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import NoteId, NoteValidity, Query, Term, Validity
from vaultrag.domain.dates import DatedNote, DateKind, Period
from vaultrag.protocols import NoteTable
from vaultrag.retrieval.demotion import demotions
from vaultrag.retrieval.features import Floats
from vaultrag.retrieval.query_intent import Intent, intents_of, period_of
from vaultrag.retrieval.ranked import Adjustment
from vaultrag.retrieval.tiers import WEAK, Codes
from vaultrag.retrieval.validity import Validities

Ids = NDArray[np.int64]


def time_of(query: Query) -> Period | None:
    """Return the time at which notes are to hold; None for today."""
    return query.as_of or (query.phrase.period if query.phrase is not None else period_of(query.text))


def adjustments(
    query: Query, ids: Ids, scores: Floats, intents: frozenset[Intent], validity: Validities, factor: float
) -> dict[NoteId, Adjustment]:
    """Tell what is taken from notes that do not hold at the time that the query is about.

    Args:
        query: As read.
        ids: Notes, int64[n], ascending.
        scores: float64[n].
        intents: Of the query.
        validity: Which notes hold.
        factor: On the score of a note that does not.
    """
    at = time_of(query)
    aged = validity(at)
    if "past" not in intents_beside_phrase(query):
        return demotions(ids, scores, aged, factor)
    lowered = demotions(ids, scores, only_upcoming(aged), factor)
    if at is None and "former" in intents and any(note_id in aged for note_id in ids.tolist()):
        # Asked for what is no longer so: what holds today stands below what held before it.
        today = {note_id: NoteValidity(Validity("upcoming"), others) for note_id, others in validity.in_force().items()}
        current = demotions(ids, scores, today, factor)
        lowered |= {note_id: one._replace(name="current") for note_id, one in current.items()}
    return lowered


def intents_beside_phrase(query: Query) -> frozenset[Intent]:
    """Return the intents of what stands beside the phrase of time: "before" in "before 2024" says no more than that."""
    return intents_of(" ".join(query.phrase.without) if query.phrase is not None else query.text)


def only_upcoming(aged: Mapping[NoteId, NoteValidity]) -> dict[NoteId, NoteValidity]:
    """Return those whose time had not come."""
    return {note_id: one for note_id, one in aged.items() if one.standing.state == "upcoming"}


def nearest_in_time(dated: Mapping[NoteId, DatedNote], allowed: frozenset[NoteId] | None, most: int) -> Ids:
    """Return the notes that lie in the time asked for, those first that lie in it as a whole; so many at most."""
    ids = [note_id for note_id in dated if allowed is None or note_id in allowed]
    return np.array(sorted(ids, key=lambda note_id: (-dated[note_id].share, note_id))[:most], np.int64)


def shares(dated: Mapping[NoteId, DatedNote], ids: Ids, period: Period | None, half: float) -> Floats:
    """Return how much of each note lies in the time asked for, less of a longer time; empty where no note does.

    Who asks for a day means the notes of that day. What was in a year is told in notes of any year.

    Args:
        dated: The notes that lie in the time.
        ids: Notes, int64[n].
        period: The time.
        half: Days of a time that counts for half.
    """
    if not dated or period is None:
        return np.zeros(0)
    worth = half / (half + period.days - 1)
    held = [dated[note_id].share if note_id in dated else 0.0 for note_id in ids.tolist()]
    return worth * np.array(held, np.float64)


def without_phrase(query: Query) -> tuple[Term, ...]:
    """Return the terms without a phrase of time that means another day tomorrow: notes of its days do not hold it."""
    phrase = query.phrase
    if phrase is None or not phrase.relative or not any(text.strip() for text in phrase.without):
        return query.terms
    return tuple(replace(term, text=text) for term, text in zip(query.terms, phrase.without, strict=True))


def in_order(table: NoteTable, sort: str, ids: list[NoteId]) -> list[NoteId]:
    """Return notes ordered by a date of theirs, the latest first; with a minus, the earliest first."""
    days = table.sort_days(cast("DateKind", sort.removeprefix("-")), ids)
    return sorted(ids, key=lambda note_id: days.get(note_id, ""), reverse=not sort.startswith("-"))


def order_by_date(table: NoteTable, sort: str, ids: Ids, order: Ids, codes: Codes) -> Ids:
    """Order the notes that are found by a date of theirs, and leave the weak ones behind them as they are."""
    found, weak = order[codes[order] != WEAK], order[codes[order] == WEAK]
    rows = dict(zip(map(NoteId, ids[found].tolist()), found.tolist(), strict=True))
    dated = [rows[note_id] for note_id in in_order(table, sort, list(rows))]
    return np.concatenate([np.array(dated, np.int64), weak])
