"""What kind of question a query is, by plain words in it. No model is asked; where nothing tells, nothing is assumed.

Only shapes that change an answer for the better are told apart: a question about the *past* finds what has been
superseded since, and one that *enumerates* wants all that fits, not only the best.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Literal

from vaultrag.retrieval.validity import day_of

Intent = Literal["past", "enumerating"]

_PAST = re.compile(
    r"\b(before|previous(?:ly)?|former(?:ly)?|earlier|originally|original|used to|back then|in the past|once was|"
    r"old|outdated|superseded|until (?:19|20)\d\d|as of (?:19|20)\d\d|history of|"
    r"früher\w*|damals|vorher\w*|ehemals|ehemalig\w*|zuvor|einst|bisherig\w*|alte[rnsm]?|ursprünglich\w*)\b",
    re.IGNORECASE,
)
_ENUMERATING = re.compile(
    r"^\s*(?:list|show|find|give me|name)?\s*(?:me\s+)?\b(all|every|each|which notes|what notes|everything|alle|"
    r"sämtliche|welche notizen)\b|^\s*list\b|\bhow many\b|\bwie viele\b",
    re.IGNORECASE,
)


_DATED = re.compile(r"(?<![\w.-])((?:19|20)\d\d)(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?![\w.]*\d|-\d)")


def period_of(text: str) -> tuple[date, date] | None:
    """Return the time that a query names, from its first to its last day: ``in 2024``, ``2024-11``, ``2024-11-18``."""
    named = [found[0] for found in _DATED.finditer(text)]
    days = [day for name in named for end in (False, True) if (day := day_of(name, end=end)) is not None]
    return (min(days), max(days)) if days else None


def intents_of(text: str) -> frozenset[Intent]:
    """Return the shapes of a query; none for most."""
    found: set[Intent] = set()
    if _PAST.search(text):
        found.add("past")
    if _ENUMERATING.search(text):
        found.add("enumerating")
    return frozenset(found)
