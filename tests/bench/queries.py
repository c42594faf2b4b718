"""The kinds of query that are measured, each as an endless seeded stream. No two queries of a stream need be alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice

from tests.bench.clients import Asked
from tests.bench.vaults import STOP_WORDS, Zipf, foreign_words, telling, texts, title


@cache
def _titles(notes: int) -> tuple[str, ...]:
    return tuple(title(text) for text in islice(texts(notes), min(notes, 200)))


class Draw:
    """What queries are made of."""

    def __init__(self, seed: int, notes: int) -> None:
        self.source = random.Random(seed)
        self.zipf = telling(self.source)
        self.stop = Zipf(STOP_WORDS, self.source)
        self.foreign = Zipf(foreign_words(), self.source, skip=20)
        self.titles = _titles(notes)


def _typed(draw: Draw) -> Iterator[Asked]:
    """Three words, letter by letter from the third on, as a person's keys send them."""
    text = " ".join(draw.zipf.words(3))
    return (Asked(text[:end], typing=True) for end in range(3, len(text) + 1))


def _slip(word: str, source: random.Random) -> str:
    """A word with two neighbouring letters exchanged."""
    at = source.randrange(1, len(word) - 1) if len(word) > 3 else 0
    return word[:at] + word[at : at + 2][::-1] + word[at + 2 :]


def _slipped_title(draw: Draw) -> str:
    words = draw.source.choice(draw.titles).split()
    longest = max(range(len(words)), key=lambda index: len(words[index]))
    return " ".join([*words[:longest], _slip(words[longest], draw.source), *words[longest + 1 :]])


def _question(draw: Draw) -> str:
    one, two, three, four, five, six, seven = draw.zipf.words(7)
    return f"what was the {one} {two} of {three} and {four} that we had with {five} {six} {seven}"


_KINDS: dict[str, Callable[[Draw], str | Iterator[Asked]]] = {
    "one word": lambda draw: draw.zipf.word(),
    "three words": lambda draw: " ".join(draw.zipf.words(3)),
    "eight words": lambda draw: " ".join(draw.zipf.words(8)),
    "question": _question,
    "phrase": lambda draw: f'"{draw.stop.word()} {draw.zipf.word()}"',
    "prefix while typing": _typed,
    "filter only": lambda draw: f"tag:{draw.zipf.word()}",
    "filter and words": lambda draw: f"[status:open] {' '.join(draw.zipf.words(3))}",
    "Chinese and Japanese": lambda draw: "".join(draw.foreign.words(2)),
    "typo in a title": _slipped_title,
}

KINDS = tuple(_KINDS)

PLAIN_KINDS = ("one word", "three words", "eight words", "question")
"""Queries that any program can answer: nothing in them but words."""


def stream(kind: str, notes: int, seed: int = 3) -> Iterator[Asked]:
    """Queries of this kind for a vault of so many notes, without end."""
    draw = Draw(seed, notes)
    make = _KINDS[kind]
    while True:
        made = make(draw)
        if isinstance(made, str):
            yield Asked(made)
        else:
            yield from made


def some(kind: str, notes: int, count: int, seed: int = 3) -> list[Asked]:
    return list(islice(stream(kind, notes, seed), count))
