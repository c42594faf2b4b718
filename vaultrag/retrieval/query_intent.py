"""What kind of question a query is, by plain words in it. No model is asked; where nothing tells, nothing is assumed.

Only shapes that change an answer for the better are told apart: a question about the *past* finds what has been
superseded since, and one that *enumerates* wants all that fits, not only the best.
"""

from __future__ import annotations

import re
from typing import Literal

from vaultrag.domain.dates import Period
from vaultrag.retrieval.validity import day_of

Intent = Literal["past", "former", "enumerating"]

_PAST = re.compile(
    r"\b(before|previous(?:ly)?|former(?:ly)?|earlier|originally|original|used to|back then|in the past|once was|"
    r"old|outdated|superseded|until (?:19|20)\d\d|as of (?:19|20)\d\d|history of|"
    r"früher\w*|damals|vorher\w*|ehemals|ehemalig\w*|zuvor|einst|bisherig\w*|alte[rnsm]?|ursprünglich\w*)\b",
    re.IGNORECASE,
)
_FORMER = re.compile(
    r"\b(previous(?:ly)?|former(?:ly)?|used to|back then|once was|früher\w*|damals|ehemals|ehemalig\w*|einst|"
    r"bisherig\w*|ancien(?:ne)?s?|autrefois|antes era|antiguo|antigua)\b|以前の|かつて|元の|以前的|曾经|過去の|从前",
    re.IGNORECASE,
)
"""Of these some mean nothing but what is no longer so."""
_PRESENT = re.compile(
    r"\b(now|nowadays|still|currently|current|at present|today|jetzt|heute|derzeit|aktuell\w*|immer noch|noch|"
    r"maintenant|actuel(?:le)?(?:ment)?|toujours|ahora|actual(?:mente)?|todavía)\b|現在|今は|今の|现在|目前|仍",
    re.IGNORECASE,
)
_ENUMERATING = re.compile(
    r"^\s*(?:list|show|find|give me|name)?\s*(?:me\s+)?\b(all|every|each|which notes|what notes|everything|alle|"
    r"sämtliche|welche notizen)\b|^\s*list\b|\bhow many\b|\bwie viele\b",
    re.IGNORECASE,
)


_DATED = re.compile(r"(?<![\w.-])((?:19|20)\d\d)(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?![\w.]*\d|-\d)")


def period_of(text: str) -> Period | None:
    """Return the time that a query names, from its first to its last day: ``in 2024``, ``2024-11``, ``2024-11-18``."""
    named = [found[0] for found in _DATED.finditer(text)]
    days = [day for name in named for end in (False, True) if (day := day_of(name, end=end)) is not None]
    return Period(min(days), max(days)) if days else None


def intents_of(text: str) -> frozenset[Intent]:
    """Return the shapes of a query; none for most."""
    found: set[Intent] = set()
    if not _PRESENT.search(text):
        if _PAST.search(text) or _FORMER.search(text):
            found.add("past")
        if _FORMER.search(text):
            found.add("former")
    if _ENUMERATING.search(text):
        found.add("enumerating")
    return frozenset(found)
