"""Days and spans of days: what a note is dated with, and what a query asks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, NamedTuple

DateKind = Literal["about", "created", "updated"]
"""Which of a note's dates: the day it is about, the day it was made, the day it was last changed."""

PeriodicKind = Literal["daily", "weekly", "monthly", "quarterly", "yearly"]


class Period(NamedTuple):
    """A span of days, both ends included, in the vault owner's own calendar."""

    first: date
    last: date

    @property
    def days(self) -> int:
        """Return the number of days."""
        return (self.last - self.first).days + 1

    def overlaps(self, other: Period) -> bool:
        """Return True if the two have a day in common."""
        return self.first <= other.last and other.first <= self.last

    def widened(self, days: int) -> Period:
        """Return the span with so many more days at either end."""
        return Period(shifted(self.first, -days), shifted(self.last, days))

    def __str__(self) -> str:
        return self.first.isoformat() if self.first == self.last else f"{self.first} to {self.last}"


ALWAYS = Period(date.min, date.max)


def shifted(day: date, days: int) -> date:
    """Return the day so many days later; the calendar's own ends are not passed."""
    number = day.toordinal() + days
    return date.fromordinal(min(max(number, 1), date.max.toordinal()))


def day_period(day: date) -> Period:
    """Return the span of one day."""
    return Period(day, day)


def year_period(year: int) -> Period:
    """Return the span of a year."""
    return Period(date(year, 1, 1), date(year, 12, 31))


def month_period(year: int, month: int) -> Period:
    """Return the span of a month."""
    following = date(year + (month == 12), month % 12 + 1, 1) if (year, month) != (9999, 12) else date.max
    return Period(date(year, month, 1), following - timedelta(days=1) if following != date.max else date.max)


def quarter_period(year: int, quarter: int) -> Period:
    """Return the span of a quarter, 1 to 4."""
    return Period(date(year, 3 * quarter - 2, 1), month_period(year, 3 * quarter).last)


def week_period(year: int, week: int) -> Period:
    """Return the span of an ISO 8601 week: Monday to Sunday.

    Raises:
        ValueError: The year has no such week.
    """
    monday = date.fromisocalendar(year, week, 1)
    return Period(monday, monday + timedelta(days=6))


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date of a note as the index keeps it.

    Attributes:
        kind: What it is the date of; ``entry``: of a section or a line within the note.
        source: Where it was read: a property's name, ``daily note``, ``file name``, ``heading``, ``text``.
        line: The file's line of an entry; 0 for the others.
        last_line: The last file line of an entry's section.
    """

    kind: Literal["about", "created", "updated", "entry"]
    period: Period
    source: str
    line: int = 0
    last_line: int = 0


FILE_CREATED, FILE_CHANGED = "file created", "file changed"
"""The sources of a date that the note itself does not say."""


@dataclass(frozen=True, slots=True)
class NoteDate:
    """A date of a note, and where it comes from.

    Attributes:
        first: The first day, ``2026-01-31``.
        last: The last day of the week, month or year that it is; the same as ``first`` for a day.
        source: ``property created``, ``daily note``, ``file name``, ``heading``, ``text``, ``file created`` or
            ``file changed``.
    """

    first: str
    last: str
    source: str

    @property
    def own(self) -> bool:
        """Return True for a date that the note says, and not its file's times."""
        return self.source not in (FILE_CREATED, FILE_CHANGED)

    def __str__(self) -> str:
        return self.first if self.first == self.last else f"{self.first} to {self.last}"


@dataclass(frozen=True, slots=True)
class NoteDates:
    """The dates of a note: when it was made, when it was last changed, and the day it is about."""

    created: NoteDate
    updated: NoteDate
    about: NoteDate


@dataclass(frozen=True, slots=True)
class DateFilter:
    """A condition on one of a note's dates: it has a day in common with the period.

    Attributes:
        written: As typed, for telling.
    """

    kind: DateKind
    period: Period
    written: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class PeriodicFormat:
    """The names of periodic notes of one kind: a folder, and a format of moment.js below it."""

    kind: PeriodicKind
    folder: str
    format: str


@dataclass(frozen=True, slots=True)
class DateNames:
    """The properties that hold a note's dates, in the order in which they are asked; names as ``key_of`` has them."""

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TimeReading:
    """A phrase of time in a question, and how it was read.

    Attributes:
        written: The phrase.
        period: What it stands for.
        relative: It means another span on another day.
        without: The query's terms without the phrase, each in its place; empty where nothing is left of it.
    """

    written: str
    period: Period
    relative: bool
    without: tuple[str, ...] = ()


class DatedEntry(NamedTuple):
    """A dated section or line of a note: its day, and its file lines (``last_line`` 0: to the note's end)."""

    day: str
    line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class DatedNote:
    """A note that lies in a period, or in which something does.

    Attributes:
        share: Of the note's own span, or its best entry's, that lies in the period; 0 to 1.
        entries: Its sections and lines that are of a day in the period.
    """

    note_id: int
    share: float
    entries: tuple[DatedEntry, ...] = ()
