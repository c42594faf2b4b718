"""What a reader gets besides hits: rules, lists, notes that an action calls for; and whether a note still holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from vaultrag.domain.answer_state import Reason
from vaultrag.domain.dates import NoteDate
from vaultrag.domain.notes import NoteId, NotePath

Shape = Literal["full", "preview", "compact"]
"""How much of a note: all of it, its best passage, one line."""

Capacity = Literal["large", "small"]
"""How much a reader can take: a model with much room, or one with little."""


@dataclass(frozen=True, slots=True)
class Validity:
    """A reason why a note no longer holds, or does not hold yet. A note that simply holds has none.

    Attributes:
        state: ``superseded``, ``expired`` or ``invalidated`` by what notes say of it; ``upcoming``: valid from a later
            day on.
        by: The notes that took its place, at the end of the chain, or that made it invalid. Empty where they are
            unknown.
        since: The day it ended, or from which on it holds (``2026-01-31``); empty where no note says.
        through: The note that it depends on and that no longer holds; empty where it is about the note itself.
    """

    state: Literal["superseded", "expired", "invalidated", "upcoming"]
    by: tuple[NotePath, ...] = ()
    since: str = ""
    through: str = ""


@dataclass(frozen=True, slots=True)
class NoteValidity:
    """A note's standing with what ranking needs to know of it.

    Attributes:
        successors: All notes that took its place, one after the other; of one that is upcoming, those whose place it
            will take. They stand above it.
        first: The first day of its time; None where no note says.
        last: The last day of its time; None where no note says.
    """

    standing: Validity
    successors: frozenset[NoteId] = frozenset()
    first: date | None = None
    last: date | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A note that goes to the reader whole. ``text`` is the file's, from its first line to its last."""

    path: NotePath
    title: str
    text: str
    created: str = ""
    tokens: int = 0
    standing: Validity | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """Every rule, in the order in which they were made. The same bytes as long as no rule changes.

    Attributes:
        tokens: What they cost together, about.
        complete: False while notes are still being read: there may be more.
        reasons: Why the index may lack a change, where it may.
    """

    rules: tuple[Rule, ...]
    tokens: int
    complete: bool = True
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Brief:
    """A note on one line: title, type, rule or summary, status, dates, links. ``date``: of its last change."""

    path: NotePath
    title: str
    line: str
    type: str = ""
    tags: tuple[str, ...] = ()
    mtime_ns: int = 0
    standing: Validity | None = None
    date: NoteDate | None = None


@dataclass(frozen=True, slots=True)
class Recent:
    """Notes, the latest changed first. ``cut``: how many were left out for the limit or the budget.

    ``reasons``: why the index may lack a change, where it may.
    """

    notes: tuple[Brief, ...]
    total: int
    tokens: int
    cut: int = 0
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A note of the catalogue, on one line. It tells nothing of when the file was last touched."""

    path: NotePath
    title: str
    line: str


@dataclass(frozen=True, slots=True)
class Group:
    """The notes of one type (empty: of none), in the order in which they were made, then by path."""

    type: str
    notes: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A line a note, by type, in an order that no edit of a note's text changes. ``cut``: notes left out at the end.

    ``reasons``: why the index may lack a change, where it may.
    """

    groups: tuple[Group, ...]
    total: int
    tokens: int
    cut: int = 0
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class TriggeredRule:
    """A note whose ``when`` fits what is being done. ``cut``: lines of the note that are not in ``text``."""

    path: NotePath
    title: str
    text: str
    why: str
    cut: int = 0
    standing: Validity | None = None


@dataclass(frozen=True, slots=True)
class Triggered:
    """The notes that an action calls for and that this session has not had yet.

    Attributes:
        cut: Notes that fit, but not into the budget; they are told on one line.
        problems: Notes whose ``when`` cannot be read, with the reason.
        reasons: Why the index may lack a change, where it may.
    """

    notes: tuple[TriggeredRule, ...]
    tokens: int
    cut: int = 0
    problems: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
