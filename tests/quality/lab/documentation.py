"""Silver judgements from links: the words of a link, or of the sentence around it, ask for the note it leads to.

The link is taken out by taking away the notes that hold it, for this query alone: neither the link nor its sentence is
left in the vault, while the vault itself stays as its authors wrote it. Nobody judged these by hand: another note may
answer as well, so the figures are for comparing, not for their own sake.
"""

from __future__ import annotations

import re
from collections import defaultdict
from random import Random

from tests.quality.lab.real_vault import LINK, FoundLink, links, title
from vaultrag.evaluate.datasets import Judged

SEED = 11
MOST = 1000
"""Queries of each kind; above, a seeded sample."""
MIN_TARGET = 300
"""Characters; a shorter note is a stub that holds nothing to be found."""
MAX_TARGETS = 3
"""A text that leads to more notes says little about any."""
SENTENCE_WORDS = (5, 40)

_GENERIC = (
    "here this link page docs documentation more details see below above note example examples next previous back home "
    "index readme section guide reference overview introduction intro learn read it that these those the a an and of "
    "for in to on how about also"
)
GENERIC = frozenset(_GENERIC.split())
_MARKUP = re.compile(r"[*_`=~#>|]+|<[^>]*>|\{[^}]*\}|https?://\S+|^\s*(?:[-+*]|\d+\.)\s+(?:\[.\]\s*)?")
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+")
_GAP = "\ufffc"


def documentation(texts: dict[str, str]) -> list[Judged]:
    """Return the queries of kind ``link`` and ``sentence``, deduplicated, seeded."""
    asked: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for link in links(texts):
        if len(texts[link.target]) < MIN_TARGET:
            continue
        for kind, query in (("link", _plain(link.text)), ("sentence", sentence(link))):
            if query and not _says_little(query, link, kind):
                asked[kind, query.casefold()][link.target].add(link.source)
    judged = [
        Judged(f"{kind}-{number:04}", query, relevant, True, kind, without)
        for number, ((kind, query), targets) in enumerate(sorted(asked.items()))
        if len(targets) <= MAX_TARGETS
        for without in [frozenset[str]().union(*targets.values())]
        if (relevant := dict.fromkeys(sorted(targets.keys() - without), 1.0))
    ]
    chance = Random(SEED)
    return [one for kind in ("link", "sentence") for one in _sample(chance, [j for j in judged if j.kind == kind])]


def sentence(link: FoundLink) -> str:
    """Return the sentence that holds the link, without the link if its text is the target's name."""
    words = "" if _same(link.text, title(link.target)) else link.text
    start, end = link.span
    line = f"{_shown(link.line[:start])}{_GAP}{_shown(link.line[end:])}"
    within = next(part for part in _SENTENCE.split(line) if _GAP in part)
    plain = _plain(within.replace(_GAP, f" {words} "))
    least, most = SENTENCE_WORDS
    return plain if least <= len(plain.split()) <= most else ""


def _shown(text: str) -> str:
    return LINK.sub(lambda match: match[2] or match[3] or (match[1] or "").replace("#", " "), text)


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", _shown(text)).split()).strip(" .,:;()-")


def _says_little(query: str, link: FoundLink, kind: str) -> bool:
    words = re.findall(r"\w+", query.casefold())
    telling = [word for word in words if word not in GENERIC and len(word) > 2]
    if kind == "sentence":
        return len(telling) < SENTENCE_WORDS[0] - 1
    return not telling or _same(query, title(link.target))  # a title alone is a known item


def _same(one: str, other: str) -> bool:
    return re.findall(r"\w+", one.casefold()) == re.findall(r"\w+", other.casefold())


def _sample(chance: Random, judged: list[Judged]) -> list[Judged]:
    if len(judged) <= MOST:
        return judged
    return sorted(chance.sample(judged, MOST), key=lambda one: one.id)
