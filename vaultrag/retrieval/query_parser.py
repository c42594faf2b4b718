"""The query language: what a person types becomes a ``Query``, and nothing a person types ever fails.

    pump seal                words; all are wanted, the rarer ones matter more
    "exact phrase"           these words in this order and this form; case and accents do not matter
    pum*                     every word that begins so
    14.03.2026               this day, however it is written; so with numbers in groups and long codes
    -word  -"a phrase"       not in the note; the minus must follow other words and touch the word
    tag:#pump  tag:pump/x    tagged so, or with a tag below it
    path:How-to              in this folder, or with this in its path
    file:protocol            with this in its file name
    [status:done]  [status]  with this property (and value)
    on:2026-01-31            of that day: the day that the note is about, else the one it was made on
    during:2026-01           of that month; so with 2026-W05, 2026-Q1, 2026, "last week", -7d, 2026-01-01..2026-01-15
    after:2026-01-01         of that day or later
    before:2026-01-01        of a day before that one
    created:2026  updated:today    by when it was made, or last changed
    as-of:2024-06            what held then stands first
    sort:created             the latest first; also sort:updated, sort:date; -sort:created: the earliest first
    kind:pdf                 of this kind: note, text, org, canvas, base, pdf, word, slides, sheet, epub, html, mail,
                             image; kind:pdf,word for either, kind:file for all but notes
    is:orphan                no links lead to it or from it; also is:untagged, is:empty, is:daily

Every condition can be turned round with a minus. Values with spaces are quoted: ``path:"My notes"``.

What is typed or pasted is text until it can only be a condition. An operator that is not known, brackets around what
is no property of any note (``[x]``, ``[!warning]``, ``[draft]``), a quote that is never closed, a minus before a number
or at the beginning of a line, or anywhere in a line with a flag (``-n``, ``-xzf``, ``--long``): all of these are plain
words, and so is a query that is a note's name as a whole. ``-"rf"`` excludes a word that looks like a flag. A value
that is no date is told in the answer: what has the form of one is left out, other words are searched for. Where the
conditions leave nothing, the words alone are asked, and the answer says that too.

A phrase of time in a question ("on 12 March 2025", "letzte Woche", "先週") raises the notes of those days, and journal
entries of them; it leaves out nothing, and the answer says how it was read. In quotes it is words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Protocol

from vaultrag.domain import Filters, PropertyFilter, Query, Term
from vaultrag.domain.dates import DateFilter, DateKind, Period, TimeReading
from vaultrag.domain.kinds import ANY_FILE, KINDS
from vaultrag.retrieval.date_values import period_of
from vaultrag.retrieval.time_phrases import find_phrase
from vaultrag.text.tokenize import tokens

MAX_QUERY_CHARS = 2_000
"""What lies beyond is cut off at a word, and the answer says so; a query that long is a pasted text."""

MAX_TERMS = 64
"""Further words add cost and no direction."""

STATES = ("orphan", "untagged", "empty", "daily")

_PIECE = re.compile(
    r"""
    (?P<minus>(?<!\S)-(?=[^\s-]))?
    (?:
        \[(?P<property>[^\[\]:"\n]{1,100})(?::(?P<pvalue>[^\[\]\n]{0,200}))?\](?!\()
      | (?P<operator>tag|path|file|after|before|on|during|created|updated|as-of|sort|is|kind):
        (?:"(?P<qvalue>[^"]+)"|(?P<value>(?:last|this|next)[ ](?:day|week|month|quarter|year)\b|[^\s"]+))
      | "(?P<phrase>[^"]*)"
      | (?P<word>[^\s"]+)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)


_WORD = re.compile(r'[^\s"]+')
_EXCLUDED = re.compile(r"[^\W\d_](?:[\w'\u2019.-]*\w)?")
"""What a minus excludes: a word that begins with a letter, without signs around it."""
_FLAG = re.compile(r"(?<!\S)(?:-(?:[a-z]{1,2}|[b-df-hj-np-tv-xz]{3,4})|--[a-z][\w-]*)(?![\w-])", re.IGNORECASE)
"""One of these makes a line a command, and everything with a minus in it a flag. Of some 200 flags in two public vaults
170 are one letter, 13 of the others two; longer words are flags only beside one of these."""
_DAY = re.compile(r"[\d./-]+|\d{4}-?[wq]\d*|[+-]\d+[a-z]?|.*\.\..*", re.IGNORECASE)
_DATED = ("after", "before", "on", "during", "created", "updated", "as-of")
_SORTS = {"created": "created", "updated": "updated", "date": "about"}


class Vocabulary(Protocol):
    """The names and properties of a vault, as far as they decide how a query is read."""

    def has_property(self, name: str) -> bool:
        """Return True if some note has this property."""
        ...

    def has_name(self, text: str) -> bool:
        """Return True if some note has this name or path, sign for sign."""
        ...


class AnyVault:
    """The vocabulary of a vault of which nothing is known: every property may exist."""

    def has_property(self, name: str) -> bool:
        return True

    def has_name(self, text: str) -> bool:
        return False


def parse_query(raw: str, vocabulary: Vocabulary | None = None, today: date | None = None) -> Query:
    """Read a query. Never raises.

    Args:
        raw: As typed.
        vocabulary: What exists in the vault that is asked.
        today: The day, by the owner's calendar; without it nothing is read that is relative to it.
    """
    raw = raw.encode("utf-8", "replace").decode()  # half a surrogate pair, as a broken client may send it
    text = cut(raw.replace("\0", " "))
    return _Reading(raw, text, vocabulary or AnyVault(), today).query()


class _Reading:
    """One query while it is read."""

    def __init__(self, raw: str, text: str, vocabulary: Vocabulary, today: date | None) -> None:
        self._today = today
        self._raw = raw
        self._text = text
        self._vocabulary = vocabulary
        self._terms: list[Term] = []
        self._excluded: list[Term] = []
        self._plain: list[Term] = []  # what the query is without its conditions
        self._values: list[Term] = []  # what it is if there is nothing else
        self._leading = False  # the first of what is excluded stands at the very beginning
        self._conditions = _Conditions(vocabulary, today)

    def query(self) -> Query:
        conditional = any(sign in self._text for sign in ":[-")
        named = conditional and self._vocabulary.has_name(self._text)
        command = _FLAG.search(self._text) is not None
        place = 0
        while match := _PIECE.search(self._text, place):
            place = match.end()
            if named or not self._condition(match, command):
                place = self._words(match)
        if self._leading and self._terms:  # a pasted line, not a wish: nobody begins with what is not wanted
            self._terms.insert(0, self._excluded.pop(0))
        return Query(
            raw=self._raw,
            text=_joined(self._terms),
            terms=tuple(self._terms[:MAX_TERMS]),
            excluded=tuple(self._excluded[:MAX_TERMS]),
            filters=self._conditions.filters(),
            plain=tuple((self._plain or self._values)[:MAX_TERMS]),
            invalid_dates=tuple(self._conditions.invalid_dates),
            as_of=self._conditions.as_of,
            sort=self._conditions.sort,
            phrase=None if named else self._phrase(),
        )

    def _phrase(self) -> TimeReading | None:
        """Read the phrase of time among the terms; what is quoted is meant to the letter."""
        terms = self._terms[:MAX_TERMS]
        text = " ".join("\0" * len(term.text) if term.phrase else term.text for term in terms)
        found = find_phrase(text, self._today)
        if found is None or (found.relative and self._vocabulary.has_name(self._text)):
            return None
        without: list[str] = []
        start = 0
        for term in terms:
            first, last = max(found.start - start, 0), max(found.end - start, 0)
            without.append(term.text if term.phrase else term.text[:first] + term.text[last:])
            start += len(term.text) + 1
        return TimeReading(text[found.start : found.end], found.period, found.relative, tuple(without))

    def _condition(self, match: re.Match[str], command: bool) -> bool:
        """Take a piece as a condition or an exclusion; False where it is text."""
        negated = match["minus"] is not None
        if match["property"] is not None:
            if not self._conditions.add_property(match["property"], match["pvalue"], negated):
                return False
            self._plain += map(Term, f"{match['property']} {match['pvalue'] or ''}".split())
            return True
        if match["operator"] is not None:
            operator, value = match["operator"].lower(), match["qvalue"] or match["value"]
            if not self._conditions.add(operator, value, negated):
                return False
            if operator in ("tag", "path", "file"):
                self._values += map(Term, value.split())
            return True
        return negated and self._exclude(match, command)

    def _exclude(self, match: re.Match[str], command: bool) -> bool:
        phrase, word = match["phrase"], match["word"]
        if phrase is None and (command or not _EXCLUDED.fullmatch(word)):
            return False
        before = self._text[: match.start()]
        if before.strip() and "\n" in self._text and not before.rpartition("\n")[2].strip():
            return False  # a line of a list
        term = Term((phrase if phrase is not None else word).strip(), phrase is not None)
        if not term.text:
            return False
        self._leading = self._leading or not before.strip()
        self._excluded.append(term)
        self._plain.append(replace(term, phrase=False))
        return True

    def _words(self, match: re.Match[str]) -> int:
        """Take a piece as text; returns where the next one begins."""
        phrase, end = match["phrase"], match.end()
        if phrase is None:
            # Of a form that is no condition only the first word: what follows may be anything.
            start = match.start() + (match["minus"] is not None)
            word = _WORD.match(self._text, start)
            text, end = (word[0], word.end()) if word is not None else ("", start + 1)
            term = Term(text)
        else:
            term = Term(phrase.strip(), phrase=True)
        if term.text:
            self._terms.append(term)
            self._plain.append(term)
        return end


def _joined(terms: Sequence[Term]) -> str:
    return " ".join(term.text for term in terms[:MAX_TERMS])


def words_alone(query: Query) -> Query | None:
    """Return a query of the words alone, without conditions; None where there are none, or no words."""
    if not (query.filters or query.excluded) or not query.plain:
        return None
    text = _joined(query.plain)
    return replace(query, raw=text, text=text, terms=query.plain, excluded=(), filters=Filters())


def cut(raw: str) -> str:
    """Return the query, no longer than ``MAX_QUERY_CHARS``, cut between words where that is possible."""
    if len(raw) <= MAX_QUERY_CHARS:
        return raw
    head = raw[:MAX_QUERY_CHARS]
    space = head.rfind(" ")
    return head[:space] if space > MAX_QUERY_CHARS // 2 else head


class _Conditions:
    """Gathers conditions while a query is read; hands out the frozen ``Filters``."""

    def __init__(self, vocabulary: Vocabulary, today: date | None) -> None:
        self._vocabulary = vocabulary
        self._today = today
        self._dates: list[DateFilter] = []
        self.as_of: Period | None = None
        self.sort = ""
        self.invalid_dates: list[str] = []
        self._lists: dict[str, list[str]] = {}
        self._properties: dict[bool, list[PropertyFilter]] = {False: [], True: []}
        self._after: date | None = None
        self._before: date | None = None

    def add(self, operator: str, value: str, negated: bool) -> bool:
        value = value.strip()
        if operator == "tag":
            value = value.lstrip("#").rstrip("/")
        if not value:
            return False
        if operator in _DATED:
            return self._add_date(operator, value, negated)
        if operator == "sort":
            kind = _SORTS.get(value.lower(), "")
            self.sort = f"{'-' if negated else ''}{kind}" if kind else self.sort
            return bool(kind)
        if operator == "is" and value.lower() not in STATES:
            return False
        if operator == "kind" and not set(value.lower().split(",")) <= {*KINDS, ANY_FILE}:
            return False
        field = {"tag": "tags", "path": "paths", "file": "files", "is": "states", "kind": "kinds"}[operator]
        self._lists.setdefault(f"not_{field}" if negated else field, []).append(
            value.lower() if operator in ("is", "kind") else value
        )
        return True

    def add_property(self, name: str, value: str | None, negated: bool) -> bool:
        name = name.strip()
        if not name or not tokens(name) or not self._vocabulary.has_property(name):
            return False
        wanted = value.strip().strip('"') if value is not None else None
        self._properties[negated].append(PropertyFilter(name, wanted or None))
        return True

    def _add_date(self, operator: str, value: str, negated: bool) -> bool:
        period = period_of(value, self._today)
        if period is None:
            self.invalid_dates.append(f"{operator}:{value}")
            return _DAY.fullmatch(value) is not None  # words are text, but a wrong date is nothing to look for
        if operator == "as-of":
            self.as_of = period
        elif operator not in ("after", "before"):
            kind: DateKind = "created" if operator == "created" else "updated" if operator == "updated" else "about"
            self._dates.append(DateFilter(kind, period, f"{operator}:{value}", negated))
        elif (operator == "after") != negated:
            self._after = max(self._after or period.first, period.first)
        else:
            self._before = min(self._before or period.first, period.first)
        return True

    def filters(self) -> Filters:
        lists: dict[str, Any] = {field: tuple(values) for field, values in self._lists.items()}
        return Filters(
            **lists,
            dates=tuple(self._dates),
            properties=tuple(self._properties[False]),
            not_properties=tuple(self._properties[True]),
            after=self._after,
            before=self._before,
        )
