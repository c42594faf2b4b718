"""Notes' dates in the index: what notes say of them, and a file's times where a note says nothing.

A file's times are turned into days when they are asked for, so that what is stored stays true after a touch.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time

import apsw

from vaultrag.domain import NoteId
from vaultrag.domain.dates import (
    FILE_CHANGED,
    FILE_CREATED,
    DatedEntry,
    DatedNote,
    DateFilter,
    DateKind,
    NoteDate,
    NoteDates,
    Period,
    shifted,
)
from vaultrag.storage.sqlite import rows

_MADE_NS = "CASE WHEN birth_ns > 0 AND birth_ns < mtime_ns THEN birth_ns ELSE mtime_ns END"
_FILE_NS: dict[DateKind, str] = {"about": _MADE_NS, "created": _MADE_NS, "updated": "mtime_ns"}

_FIRST, _LAST = date(1700, 1, 1), date(2250, 1, 1)
"""Nanoseconds since the epoch reach no further in 64 bits; no note does either."""

MOST_DAYS = 400
"""A longer span is no day to find a note by."""


def condition(wanted: DateFilter) -> tuple[str, list[object]]:
    """Return what a note must meet, in SQL, and the values bound in it."""
    first, last = wanted.period
    said = "SELECT 1 FROM dates WHERE note_id = notes.id AND kind = ?"
    file_ns = _FILE_NS[wanted.kind]
    by_note = f"EXISTS ({said} AND last >= ? AND first <= ?)"
    by_file = f"(NOT EXISTS ({said}) AND {file_ns} >= ? AND {file_ns} < ?)"
    files = (_start_of(first), _start_of(shifted(last, 1)))
    return f"{by_note} OR {by_file}", [wanted.kind, first.isoformat(), last.isoformat(), wanted.kind, *files]


def _start_of(day: date) -> int:
    """Midnight at the beginning of the day, by the machine's own calendar, in nanoseconds since the epoch."""
    day = min(max(day, _FIRST), _LAST)
    return int(datetime.combine(day, time()).astimezone().timestamp()) * 1_000_000_000


def dates_of(connection: apsw.Connection, times: Mapping[NoteId, tuple[int, int]]) -> dict[NoteId, NoteDates]:
    """Return the dates of some notes.

    Args:
        connection: For reading.
        times: Of each note's file: when it was last changed, and made (0: not known), in nanoseconds.
    """
    said: dict[NoteId, dict[str, NoteDate]] = {}
    sql = (
        "SELECT note_id, kind, first, last, source FROM dates"
        " WHERE note_id IN (SELECT value FROM json_each(?)) AND kind != 'entry'"
    )
    for note_id, kind, first, last, source in rows(connection, sql, (json.dumps(list(times)),)):
        said.setdefault(note_id, {})[kind] = NoteDate(first, last, source)
    return {note_id: file_dates(*stat, said.get(note_id, {})) for note_id, stat in times.items()}


def file_dates(mtime_ns: int, birth_ns: int, said: Mapping[str, NoteDate]) -> NoteDates:
    """Return a note's dates: what it says, and its file's times for the rest."""
    changed = _day_of(mtime_ns, FILE_CHANGED)
    made = _day_of(birth_ns, FILE_CREATED) if 0 < birth_ns < mtime_ns else changed
    return NoteDates(said.get("created", made), said.get("updated", changed), said.get("about", made))


def _day_of(time_ns: int, source: str) -> NoteDate:
    try:
        day = datetime.fromtimestamp(time_ns / 1e9).astimezone().date().isoformat()
    except (ValueError, OverflowError, OSError):  # a file system's nonsense
        day = ""
    return NoteDate(day, day, source)


def sort_days(connection: apsw.Connection, kind: DateKind, ids: Iterable[NoteId]) -> dict[NoteId, str]:
    """Return the first day of each note's date of a kind, as text that sorts."""
    asked = json.dumps(list(ids))
    sql = "SELECT id, mtime_ns, birth_ns FROM notes WHERE id IN (SELECT value FROM json_each(?))"
    times = {row[0]: (row[1], row[2]) for row in rows(connection, sql, (asked,))}
    return {note_id: getattr(dates, kind).first for note_id, dates in dates_of(connection, times).items()}


COPIED_SHARE, COPIED_NOTES = 0.2, 20
"""Files of so many notes, and so large a share of them, changed on one day: a sync, a clone or a copy did it."""


def last_changed(connection: apsw.Connection, ids: Iterable[NoteId]) -> dict[NoteId, NoteDate]:
    """Return the day of each note's last change.

    The later of what the note says and of its file's time, so that an edit counts where nobody keeps the property up to
    date; but a day on which many files changed together says nothing against a note's own.
    """
    sql = "SELECT id, mtime_ns, birth_ns FROM notes WHERE id IN (SELECT value FROM json_each(?))"
    times = {row[0]: (row[1], row[2]) for row in rows(connection, sql, (json.dumps(list(ids)),))}
    files = {note_id: _day_of(mtime_ns, FILE_CHANGED) for note_id, (mtime_ns, _) in times.items()}
    most = max(COPIED_NOTES, COPIED_SHARE * len(files))
    copied = {day for day, count in Counter(file.first for file in files.values()).items() if count > most}
    changed = {}
    for note_id, dates in dates_of(connection, times).items():
        file = files[note_id]
        edited = file.first > dates.updated.last and file.first not in copied
        changed[note_id] = file if edited else dates.updated
    return changed


def dated(connection: apsw.Connection, period: Period, hidden: frozenset[NoteId]) -> list[DatedNote]:
    """Return the notes that say that they, or an entry in them, are of a day in the period; by their files' times none.

    Each with the largest share of a span of its that lies in the period, and the entries that do.
    """
    sql = "SELECT note_id, kind, first, last, line, last_line FROM dates WHERE first BETWEEN ? AND ? AND last >= ?"
    earliest = shifted(period.first, -MOST_DAYS)
    bounds = (earliest.isoformat(), period.last.isoformat(), period.first.isoformat())
    found: dict[NoteId, list[tuple[float, DatedEntry | None]]] = {}
    for note_id, kind, first, last, line, last_line in rows(connection, f"{sql} ORDER BY note_id, line", bounds):
        if kind in ("about", "entry") and note_id not in hidden:
            share = _share(Period(date.fromisoformat(first), date.fromisoformat(last)), period)
            entry = DatedEntry(first, line, last_line) if kind == "entry" else None
            found.setdefault(note_id, []).append((share, entry))
    return [
        DatedNote(note_id, max(share for share, _ in held), tuple(entry for _, entry in held if entry is not None))
        for note_id, held in found.items()
    ]


def _share(span: Period, period: Period) -> float:
    """Return how much of a span lies in the period, 0 to 1."""
    common = (min(span.last, period.last) - max(span.first, period.first)).days + 1
    return max(0.0, common / span.days)


def entries_of(connection: apsw.Connection, ids: Sequence[NoteId]) -> dict[NoteId, list[DatedEntry]]:
    """Return the dated sections and lines of some notes, in the order of the file."""
    sql = (
        "SELECT note_id, first, line, last_line FROM dates WHERE kind = 'entry'"
        " AND note_id IN (SELECT value FROM json_each(?)) ORDER BY note_id, line"
    )
    found: dict[NoteId, list[DatedEntry]] = {}
    for note_id, first, line, last_line in rows(connection, sql, (json.dumps(list(ids)),)):
        found.setdefault(note_id, []).append(DatedEntry(first, line, last_line))
    return found
