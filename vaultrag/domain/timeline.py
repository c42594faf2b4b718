"""What the vault says about a thing, in order of time."""

from __future__ import annotations

from dataclasses import dataclass

from vaultrag.domain.answer_state import Reason, State
from vaultrag.domain.answers import TimeRead
from vaultrag.domain.dates import NoteDate
from vaultrag.domain.note_lists import Validity
from vaultrag.domain.notes import NotePath


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One line of a timeline: a note, or a dated section or line of one.

    Attributes:
        date: When, and where that was read.
        line: What it says, on one line.
        citation: What to cite: the note's path, with the lines of a section.
        standing: Why the note no longer holds, or not yet; null where it holds.
    """

    date: NoteDate
    path: NotePath
    title: str
    line: str
    citation: str
    standing: Validity | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Notes and their dated entries, the earliest first.

    Attributes:
        total: How many there are.
        cut: How many of them were left out, for the limit or the budget: those that fit the question least.
        time: How a phrase of time in the question was read: only what lies in it is listed.
    """

    query: str
    entries: tuple[TimelineEntry, ...]
    total: int
    tokens: int = 0
    cut: int = 0
    state: State = State.FULL
    reasons: tuple[Reason, ...] = ()
    time: TimeRead | None = None
