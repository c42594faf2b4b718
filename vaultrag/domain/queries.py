"""A query, read; and the clauses that its words are looked up by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from vaultrag.domain.dates import DateFilter, Period, TimeReading

Mode = Literal["hybrid", "words", "meaning"]
"""Which arms are asked."""

DateUse = Literal["raise", "filter", "ignore"]
"""What a phrase of time in a question does: raise what lies in it, leave out what does not, or nothing."""

Reader = Literal["person", "agent"]
"""Who gets the answer. From an agent, private notes are kept."""


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for: a plain word or a quoted phrase, as typed."""

    text: str
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class PropertyFilter:
    name: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions a note must meet before any arm ranks it. Several of one kind must all hold; ``not_*`` must not.

    Each of ``kinds`` is a list of kinds of file, with commas between; ``file`` stands for all but notes.

    ``after`` includes its day, ``before`` does not; both are of the day that a note is about, by the owner's calendar.
    """

    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    properties: tuple[PropertyFilter, ...] = ()
    states: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    not_tags: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    not_files: tuple[str, ...] = ()
    not_properties: tuple[PropertyFilter, ...] = ()
    not_states: tuple[str, ...] = ()
    not_kinds: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None
    dates: tuple[DateFilter, ...] = ()

    def __bool__(self) -> bool:
        return self != Filters()


@dataclass(frozen=True, slots=True)
class Query:
    """A query, read. ``text`` is what is embedded: the terms without filters and exclusions.

    Attributes:
        plain: All of its words, those of brackets and exclusions too: what is asked where these leave nothing.
        invalid_dates: What stands where a date should, and is none.
        as_of: The time at which notes are to hold.
        sort: The date by which hits are sorted, the latest first; with a minus before it, the earliest first.
        phrase: The phrase of time in it, as read.
    """

    raw: str
    text: str
    terms: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()
    filters: Filters = Filters()
    plain: tuple[Term, ...] = ()
    invalid_dates: tuple[str, ...] = ()
    as_of: Period | None = None
    sort: str = ""
    phrase: TimeReading | None = None

    @property
    def empty(self) -> bool:
        return not (self.terms or self.excluded or self.filters or self.sort)


@dataclass(frozen=True, slots=True)
class Clause:
    """Tokens that must stand in a row.

    Attributes:
        tokens: As the tokenizer makes them, before stemming; at least one.
        variants: Other rows that mean the same.
        term: Index of the query term it came from; clauses of one term support the same wish.
        prefix: The last token may go on.
        exact: Only as typed, in no other form.
        part: A piece of a compound term: a help, no evidence of the whole.
        stop: A word so common in the language that it decides nothing.
    """

    tokens: tuple[str, ...]
    term: int
    prefix: bool = False
    part: bool = False
    stop: bool = False
    variants: tuple[tuple[str, ...], ...] = ()
    exact: bool = False

    @property
    def spellings(self) -> tuple[tuple[str, ...], ...]:
        """All rows of tokens that the clause stands for, the one typed first."""
        return (self.tokens, *self.variants)
