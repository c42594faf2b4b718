"""Silver judgements for a note that somebody has seen: its title half remembered, a slip, a copied phrase, a date.

What is right follows from the text: every note that fits what is remembered is right, not only the one it was made of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from random import Random
from typing import TypeVar

from tests.quality.lab.documentation import GENERIC
from tests.quality.lab.real_vault import LINK, prose, title
from vaultrag.evaluate.datasets import Judged

Item = TypeVar("Item", str, date)
SEED = 12
EACH = 120
"""Queries of each kind, at most."""
MAX_RIGHT = 3
"""What fits more notes finds none of them for sure."""
_DATE = re.compile(r"\b(20\d\d)-(\d\d)-(\d\d)\b")


def known_items(texts: dict[str, str]) -> list[Judged]:
    """Return the queries of kinds ``half-title``, ``slip``, ``partial``, ``phrase`` and ``date``."""
    titles = {path: _words(title(path)) for path in texts}
    chance = Random(SEED)
    bodies = {path: " ".join(_words(text)) for path, text in texts.items()}
    asked = {
        "half-title": _of_titles(chance, titles, _half, _holds_words),
        "slip": _of_titles(chance, titles, _slip, None),
        "partial": _of_titles(chance, titles, _beginnings, _holds_beginnings),
        "phrase": _phrases(chance, texts, bodies),
        "date": _dates(chance, texts),
    }
    return [
        Judged(f"{kind}-{number:03}", query, dict.fromkeys(sorted(right), 1.0), True, kind)
        for kind, queries in asked.items()
        for number, (query, right) in enumerate(queries)
    ]


Words = list[str]
Asked = list[tuple[str, set[str]]]


def _of_titles(
    chance: Random,
    titles: dict[str, Words],
    remembered: Callable[[Random, Words], Words],
    fits: Callable[[Words, Words], bool] | None,
) -> Asked:
    queries: Asked = []
    for path in _shuffled(chance, titles):
        words = remembered(chance, titles[path])
        right = {other for other, held in titles.items() if (fits(words, held) if fits else held == titles[path])}
        if words and len(right) <= MAX_RIGHT and len(queries) < EACH:
            queries.append((" ".join(words), right))
    return queries


def _half(chance: Random, words: Words) -> Words:
    """Keep about half of three words or more, at least two."""
    if len(words) < 3:
        return []
    kept = sorted(chance.sample(range(len(words)), max(2, len(words) // 2)))
    remembered = [words[place] for place in kept]
    return remembered if sum(word not in GENERIC and len(word) > 2 for word in remembered) > 1 else []


def _slip(chance: Random, words: Words) -> Words:
    """Swap, drop or double a letter inside one long word."""
    long = [place for place, word in enumerate(words) if len(word) >= 6 and word.isalpha()]
    if not long:
        return []
    place = chance.choice(long)
    word = words[place]
    at = chance.randrange(1, len(word) - 2)
    changed = chance.choice(
        [
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
        ]
    )
    return [*words[:place], changed, *words[place + 1 :]] if changed != word else []


def _beginnings(chance: Random, words: Words) -> Words:
    """Keep the beginnings of two words or more, as somebody types who knows the name."""
    if len(words) < 2 or not any(len(word) > 4 for word in words):
        return []
    return [word[: chance.randrange(3, 6)] for word in words[:3]]


def _holds_words(asked: Words, held: Words) -> bool:
    return bool(asked) and set(asked) <= set(held)


def _holds_beginnings(asked: Words, held: Words) -> bool:
    return bool(asked) and all(any(word.startswith(start) for word in held) for start in asked)


def _phrases(chance: Random, texts: dict[str, str], bodies: dict[str, str]) -> Asked:
    """Copy five to eight words out of a paragraph."""
    queries: Asked = []
    for path in _shuffled(chance, texts):
        lines = [line for line in prose(texts[path]) if len(line.split()) >= 12 and not LINK.search(line)]
        if not lines or len(queries) >= EACH:
            continue
        words = _words(chance.choice(lines))
        size = chance.randrange(5, 9)
        if len(words) < size:
            continue
        at = chance.randrange(len(words) - size + 1)
        phrase = " ".join(words[at : at + size])
        right = {other for other, body in bodies.items() if phrase in body}
        if path in right and len(right) <= MAX_RIGHT:
            queries.append((phrase, right))
    return queries


def _dates(chance: Random, texts: dict[str, str]) -> Asked:
    """Name a day that few notes hold, half as they write it and half in words."""
    holders: dict[date, set[str]] = {}
    for path, text in texts.items():
        for year, month, day in _DATE.findall(f"{path} {text}"):
            try:
                holders.setdefault(date(int(year), int(month), int(day)), set()).add(path)
            except ValueError:
                continue
    few = [day for day, paths in holders.items() if len(paths) <= MAX_RIGHT]
    return [
        (day.isoformat() if number % 2 else f"{day.day} {day:%B} {day.year}", holders[day])
        for number, day in enumerate(_shuffled(chance, few)[:EACH])
    ]


def _words(text: str) -> Words:
    return re.findall(r"\w+", text.casefold())


def _shuffled(chance: Random, items: Iterable[Item]) -> list[Item]:
    return sorted(sorted(items), key=lambda item: chance.random())
