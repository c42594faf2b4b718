"""What clients get: hits, answers, notes. Scores are higher-is-better unless the name says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vaultrag.domain.answer_state import IndexInfo, Reason, State
from vaultrag.domain.dates import NoteDate, NoteDates
from vaultrag.domain.kinds import Kind
from vaultrag.domain.note_lists import Shape, Validity
from vaultrag.domain.notes import NotePath
from vaultrag.domain.queries import DateUse, Mode

Tier = Literal["weak", "partial", "strong"]
"""How close a hit is to the question: strong and partial ones are found, weak ones are the nearest there is."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The part of one retriever in a hit.

    Attributes:
        arm: ``words``, ``meaning``, ``passages``, ``names``, ``dates`` or ``links``.
        rank: 1 is the arm's best.
        raw: The arm's own figure: BM25 (negated, so higher is better), cosine, name similarity 0 to 1.
        weight: The arm's weight in the score.
        contribution: What the arm adds to the score; a hit's contributions and adjustments sum to its score.
        source: For ``links``: the notes from which the hit was reached, those named in the query.
    """

    arm: str
    rank: int
    raw: float
    weight: float
    contribution: float
    source: tuple[NotePath, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """Part of a preview that matches: start and end in Unicode code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a match in the file: its line, and the columns where it begins and ends, from 0."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One note found. ``start_line`` and ``end_line`` are file lines of the best passage; both 0 when there is none.

    Attributes:
        preview: The best passage as a reader sees it: without marks, addresses and what only machines read.
        spans: What matches, in ``preview``.
        places: Where each of ``spans`` stands in the file. One place and no span: something that is not shown matches,
            such as a link's address.
        title_spans: What matches, in ``title``.
        name: Another name of the note that matches better than its title; empty where none does.
        name_kind: ``alias`` or ``file``; empty without ``name``.
        name_spans: What matches, in ``name``.
        line: The sentences that fit best, from two places of the note and on one line, where the shape is ``compact``
            or the budget had room for no more.
        text: The whole note, where the shape is ``full`` and the budget had room for it.
        standing: Why the note no longer holds, or not yet; null where it holds.
        date: The day that the note is about, and where that was read.
        kind: What the file is. Of one that is neither ``note`` nor ``text``, lines are those of the text that is made
            of it, which ``get`` returns, and ``citation`` names the page, slide, sheet or heading.
    """

    path: NotePath
    title: str
    score: float
    start_line: int = 0
    end_line: int = 0
    preview: str = ""
    spans: tuple[Span, ...] = ()
    heading: str = ""
    tags: tuple[str, ...] = ()
    mtime_ns: int = 0
    citation: str = ""
    stale: bool = False
    evidence: tuple[Evidence, ...] = ()
    line: str = ""
    text: str = ""
    standing: Validity | None = None
    tier: Tier = "partial"
    places: tuple[Place, ...] = ()
    title_spans: tuple[Span, ...] = ()
    name: str = ""
    name_kind: Literal["", "alias", "file"] = ""
    name_spans: tuple[Span, ...] = ()
    date: NoteDate | None = None
    kind: Kind = "note"


@dataclass(frozen=True, slots=True)
class TimeRead:
    """A phrase of time in a question, and how it was read.

    Attributes:
        written: The phrase, as typed.
        first: Its first day; ``0001-01-01`` where it has no beginning.
        last: Its last day; ``9999-12-31`` where it has no end.
        notes: How many notes lie in it, or hold an entry that does.
        use: What was done with it.
    """

    written: str
    first: str
    last: str
    notes: int
    use: DateUse


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to a search. No hits: nothing fits; ``reasons`` say what could not be looked at.

    Attributes:
        total: Notes that fit.
        shape: How much of each note there is.
        tokens: What the hits cost a model to read, about: place, title, heading, standing, text. Counted only where a
            shape, a reader or a budget was asked for.
        cut: Hits and nearest notes left out for the budget.
        shortened: Hits of which the budget left less than the shape asks for.
        tier: That of the best hit; ``weak`` where nothing was found.
        nearest: At most three weak hits, each on one line: near, but not found.
        index: What the answer was made from.
        time: How a phrase of time in the question was read; null where there is none.
        times_ms: Milliseconds that each retriever took: ``words``, ``names``, ``links``, ``meaning`` (notes and
            passages, compared in one pass); besides ``embed`` (the query's vector), ``rank`` and ``previews``. What was
            not asked is not there. Some of it runs side by side, so that the sum may exceed ``elapsed_ms``.
    """

    query: str
    state: State
    hits: tuple[Hit, ...] = ()
    reasons: tuple[Reason, ...] = ()
    mode: Mode = "hybrid"
    total: int = 0
    elapsed_ms: float = 0.0
    shape: Shape = "preview"
    tokens: int = 0
    cut: int = 0
    shortened: int = 0
    tier: Tier = "weak"
    nearest: tuple[Hit, ...] = ()
    index: IndexInfo = field(default_factory=IndexInfo)
    times_ms: Mapping[str, float] = field(default_factory=dict)
    time: TimeRead | None = None


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note handed out: the whole of it, the lines asked for, or its one line.

    Attributes:
        shape: ``compact``: ``text`` is the note on one line, ``preview``: its beginning.
        tokens: What ``text`` costs a model to read, about.
        cut: Lines that were asked for and are not in ``text``; read on from the line after ``end_line``. (A line that
            is longer than the whole budget is cut itself.)
        standing: Why the note no longer holds, or not yet; null where it holds.
        dates: When it was made and changed, and the day it is about, each with where that was read.
    """

    path: NotePath
    title: str
    text: str
    start_line: int
    end_line: int
    total_lines: int
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    mtime_ns: int = 0
    shape: Shape = "full"
    tokens: int = 0
    cut: int = 0
    standing: Validity | None = None
    dates: NoteDates | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """One line of a note that holds words of a query.

    Attributes:
        line: The file's line.
        column: Where ``text`` begins in that line; a long line is cut.
        text: The line as a reader sees it, or the part of it around what matches.
        spans: What matches, in ``text``.
        heading: The heading above the line.
        weight: Share of the query's word weight that the line holds, 0 to 1.
        places: Where each of ``spans`` stands in the file. One place and no span: something that is not shown matches,
            such as a link's address.
    """

    line: int
    column: int
    text: str
    spans: tuple[Span, ...]
    heading: str
    weight: float
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class InNote:
    """The matches of a query in one note, in the note's own order: the weightiest ``limit`` of ``total``.

    ``start_line`` and ``end_line`` are those of the passage nearest in meaning; both 0 where meaning was not asked.
    ``standing``: why the note no longer holds, or not yet; null where it holds.
    """

    path: NotePath
    title: str
    query: str
    state: State
    matches: tuple[Match, ...] = ()
    total: int = 0
    start_line: int = 0
    end_line: int = 0
    reasons: tuple[Reason, ...] = ()
    elapsed_ms: float = 0.0
    standing: Validity | None = None
    index: IndexInfo = field(default_factory=IndexInfo)


@dataclass(frozen=True, slots=True)
class ExplainedWord:
    """One thing that a query looks for.

    Attributes:
        text: As it is looked up.
        notes: Notes that hold it.
        weight: BM25's inverse document frequency; 0 for a stop word.
        role: ``word``, ``phrase``, ``part`` (of a compound) or ``stop``.
    """

    text: str
    notes: int
    weight: float
    role: str


@dataclass(frozen=True, slots=True)
class ExplainedHit:
    """The rank of a note, explained. The contributions in ``evidence`` sum to ``score``.

    Attributes:
        rank: 1 is the best; 0 for a note that no retriever brought.
        covered: Share of the query's word weight that the note holds.
        cosine: Best of its own vector and its best passage's; None without one.
        near: Share of the query's word weight that stands together in it, its title's words counted everywhere.
        tier: How close it is to the question.
        found: Whether the note is in the answer.
        verdict: The same in words, and for a missing note the reason.
        standing: Why the note no longer holds, or not yet; null where it holds, and for one that is not in the index.
        hint: For a missing note, the note that was perhaps meant, or the command or step that helps.
    """

    path: NotePath
    title: str
    rank: int
    score: float
    covered: float
    cosine: float | None
    near: float
    tier: Tier
    found: bool
    verdict: str
    evidence: tuple[Evidence, ...] = ()
    standing: Validity | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation of a search: the query as it was read, and why each note ranks where it does.

    ``params``: The parameters of the ranking (``retrieval/params.py``).
    """

    query: str
    state: State
    reasons: tuple[Reason, ...]
    words: tuple[ExplainedWord, ...]
    filters: tuple[str, ...]
    tier: Tier
    params: Mapping[str, float]
    hits: tuple[ExplainedHit, ...]
    asked: ExplainedHit | None = None
    """The note that was asked about, when one was."""
    index: IndexInfo = field(default_factory=IndexInfo)
    times_ms: Mapping[str, float] = field(default_factory=dict)
    """As in ``Answer``."""
