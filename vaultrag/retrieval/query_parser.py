"""The query language: what a person types becomes a ``Query``, and nothing a person types ever fails.

    pump seal                words; all are wanted, the rarer ones matter more
    "exact phrase"           these words in this order and this form; case and accents do not matter
    pum*                     every word that begins so
    14.03.2026               this day, however it is written; so with numbers in groups and long codes
    -word  -"a phrase"       not in the note; the minus must follow a space and touch the word
    tag:#pump  tag:pump/x    tagged so, or with a tag below it
    path:How-to              in this folder, or with this in its path
    file:protocol            with this in its file name
    [status:done]  [status]  with this property (and value)
    after:2026-01-01         changed on that day or later
    before:2026-01-01        changed before that day
    is:orphan                no links lead to it or from it; also is:untagged, is:empty, is:daily

Every condition can be turned round with a minus. Values with spaces are quoted: ``path:"My notes"``. An operator that
is not known, a date that is none, a quote that is never closed: all of these are plain words.
"""

from __future__ import annotations

import re
from datetime import date

from vaultrag.model import Filters, PropertyFilter, Query, Term
from vaultrag.notes.words import tokens

MAX_QUERY_CHARS = 2_000
"""What lies beyond is cut off at a word, and the answer says so; a query that long is a pasted text."""

MAX_TERMS = 64
"""Further words add cost and no direction."""

STATES = ("orphan", "untagged", "empty", "daily")

_PIECE = re.compile(
    r"""
    (?P<minus>(?<!\S)-(?=[^\s-]))?
    (?:
        \[(?P<property>[^\[\]:"]{1,100})(?::(?P<pvalue>[^\[\]]{0,200}))?\](?!\()
      | (?P<operator>tag|path|file|after|before|is):(?:"(?P<qvalue>[^"]+)"|(?P<value>[^\s"]+))
      | "(?P<phrase>[^"]*)"
      | (?P<word>[^\s"]+)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def parse_query(raw: str) -> Query:
    """Read a query. Never raises."""
    raw = raw.encode("utf-8", "replace").decode()  # half a surrogate pair, as a broken client may send it
    text = cut(raw.replace("\0", " "))
    terms: list[Term] = []
    excluded: list[Term] = []
    conditions = _Conditions()
    for match in _PIECE.finditer(text):
        negated = match["minus"] is not None
        if _condition(match, conditions, negated):
            continue
        term = _term(match)
        if term is not None:
            (excluded if negated else terms).append(term)
    terms = terms[:MAX_TERMS]
    return Query(
        raw=raw,
        text=" ".join(term.text for term in terms),
        terms=tuple(terms),
        excluded=tuple(excluded[:MAX_TERMS]),
        filters=conditions.filters(),
    )


def cut(raw: str) -> str:
    """The query, no longer than ``MAX_QUERY_CHARS``, cut between words where that is possible."""
    if len(raw) <= MAX_QUERY_CHARS:
        return raw
    head = raw[:MAX_QUERY_CHARS]
    space = head.rfind(" ")
    return head[:space] if space > MAX_QUERY_CHARS // 2 else head


def _term(match: re.Match[str]) -> Term | None:
    phrase = match["phrase"]
    if phrase is not None:
        return Term(phrase.strip(), phrase=True) if phrase.strip() else None
    # An unknown form of an operator or property is text like any other.
    text = match["word"] or match.group().removeprefix("-" if match["minus"] else "")
    return Term(text) if text else None


def _condition(match: re.Match[str], conditions: _Conditions, negated: bool) -> bool:
    if match["property"] is not None:
        return conditions.add_property(match["property"], match["pvalue"], negated)
    if match["operator"] is not None:
        return conditions.add(match["operator"].lower(), match["qvalue"] or match["value"], negated)
    return False


class _Conditions:
    """Gathers conditions while a query is read; hands out the frozen ``Filters``."""

    def __init__(self) -> None:
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
        if operator in ("after", "before"):
            return self._add_date(operator, value, negated)
        if operator == "is" and value.lower() not in STATES:
            return False
        field = {"tag": "tags", "path": "paths", "file": "files", "is": "states"}[operator]
        self._lists.setdefault(f"not_{field}" if negated else field, []).append(
            value.lower() if operator == "is" else value
        )
        return True

    def add_property(self, name: str, value: str | None, negated: bool) -> bool:
        name = name.strip()
        if not name or not tokens(name):
            return False
        wanted = value.strip().strip('"') if value is not None else None
        self._properties[negated].append(PropertyFilter(name, wanted or None))
        return True

    def _add_date(self, operator: str, value: str, negated: bool) -> bool:
        try:
            day = date.fromisoformat(value)
        except ValueError:
            return False
        if (operator == "after") != negated:
            self._after = max(self._after or day, day)
        else:
            self._before = min(self._before or day, day)
        return True

    def filters(self) -> Filters:
        lists = {field: tuple(values) for field, values in self._lists.items()}
        return Filters(
            **lists,
            properties=tuple(self._properties[False]),
            not_properties=tuple(self._properties[True]),
            after=self._after,
            before=self._before,
        )
