"""A seeded generator of vaults that are like real ones in what matters for speed.

Words follow Zipf's law, and the commonest are English stop words. A note's length in words is log-normal: the median is
250, and one note in twenty has more than 2,000. Notes have frontmatter, tags, headings and links to each other; one in
33 is in Chinese or Japanese. A topic folder holds a hundred notes, and an area ten topics.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 40_000
MEDIAN_WORDS = 250
LONG_WORDS, LONG_SHARE = 2_000, 0.05
SIGMA = math.log(LONG_WORDS / MEDIAN_WORDS) / 1.6448536
"""So that ``LONG_SHARE`` of the notes are longer than ``LONG_WORDS``: 1.645 deviations leave 5 % above them."""
MIN_WORDS, MAX_WORDS = 5, 12_000

FOREIGN_EVERY = 33
FOREIGN_CHARS = 3_000
"""Different characters of the foreign notes: from U+4E00 on, and the kana."""

_COMMONEST = """
the of and to a in is that it for was on with as at be by this have from or one had not but what all were when we there
can an your which their said if do will each about how up out them then she many some so these would into
"""
STOP_WORDS = tuple(_COMMONEST.split())

_ONSETS = ("b", "br", "d", "dr", "f", "g", "gr", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v", "w")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
_CODAS = ("", "l", "m", "n", "nd", "r", "rt", "s", "st", "t", "x")


@cache
def vocabulary(size: int = VOCABULARY, seed: int = 11) -> Sequence[str]:
    """The commonest words are English ones that tell nothing; the others are made up, the common ones short."""
    source = random.Random(seed)
    words = dict.fromkeys(STOP_WORDS)
    while len(words) < size:
        syllables = 1 + (len(words) > 200) + (source.random() < 0.6 and len(words) > 2_000)
        word = "".join(
            source.choice(_ONSETS) + source.choice(_VOWELS) + source.choice(_CODAS) for _ in range(syllables)
        )
        words.setdefault(word)
    return tuple(words)


@cache
def foreign_words(size: int = 8_000, seed: int = 12) -> Sequence[str]:
    """Words of one to four ideographs, one in three with kana at its end."""
    source = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < size:
        word = "".join(chr(0x4E00 + int(source.random() ** 2 * FOREIGN_CHARS)) for _ in range(source.randint(1, 3)))
        words.setdefault(word + (chr(0x3042 + source.randrange(80)) if source.random() < 0.33 else ""))
    return tuple(words)


class Zipf:
    """Draws words whose frequency is one over their rank."""

    def __init__(self, words: Sequence[str], source: random.Random, skip: int = 0) -> None:
        """Args:
        skip: So many of the commonest are never drawn.
        """
        self._words = words
        self._random = np.random.default_rng(source.getrandbits(64))
        self._low = math.log(skip + 1)
        self._span = math.log(len(words) + 1) - self._low

    def word(self) -> str:
        return self.words(1)[0]

    def words(self, count: int) -> list[str]:
        """So many words: rank ``exp(u ln(n + 1))``, the inverse of the harmonic distribution."""
        ranks: NDArray[np.int64] = np.exp(self._low + self._random.random(count) * self._span).astype(np.int64) - 1
        words, last = self._words, len(self._words) - 1
        return [words[rank if rank < last else last] for rank in ranks.tolist()]


def telling(source: random.Random) -> Zipf:
    """Words as they are searched for: as common as in the notes, but none that tells nothing."""
    return Zipf(vocabulary(), source, skip=len(STOP_WORDS))


def length(source: random.Random) -> int:
    """How many words the body of a note has, its headings included."""
    return min(MAX_WORDS, max(MIN_WORDS, round(source.lognormvariate(math.log(MEDIAN_WORDS), SIGMA))))


def paths(notes: int) -> list[str]:
    """Where the notes of such a vault lie, relative to it."""
    return [f"area {number // 1000}/topic {number // 100}/note {number}.md" for number in range(notes)]


def build(folder: Path, notes: int, seed: int = 5) -> list[str]:
    """Write a vault of so many notes; returns the paths. One that is whole and of this kind is kept."""
    all_paths = paths(notes)
    done = whole_mark(folder, notes)
    if not done.exists():
        for path, text in zip(all_paths, texts(notes, seed), strict=True):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        done.parent.mkdir(parents=True, exist_ok=True)
        done.touch()
    return all_paths


def whole_mark(folder: Path, notes: int) -> Path:
    """The file that says that the vault is as it was made. Who changes notes removes it until they are as before."""
    return folder / ".obsidian" / f"whole-2-{notes}"


def texts(notes: int, seed: int = 5) -> Iterator[str]:
    """The notes of a vault, one after the other."""
    source = random.Random(seed)
    zipf, foreign = Zipf(vocabulary(), source), Zipf(foreign_words(), source)
    for number in range(notes):
        header = _header(number, zipf, source)
        if number % FOREIGN_EVERY == FOREIGN_EVERY - 1:
            yield header + _foreign_body(length(source), foreign, source)
        else:
            yield header + _body(length(source), notes, zipf, source)


def title(text: str) -> str:
    """The title of a generated note, without its number."""
    return text.partition("title: ")[2].partition("\n")[0].rpartition(" ")[0]


def body(text: str) -> str:
    """A generated note without its frontmatter."""
    return text.partition("\n---\n")[2]


def _header(number: int, zipf: Zipf, source: random.Random) -> str:
    first, second, third = zipf.words(3)
    return (
        f"---\ntitle: {' '.join(zipf.words(source.randint(2, 5))).title()} {number}\n"
        f"tags: [{first}, {second}/{third}]\n"
        f"status: {source.choice(('open', 'done', 'waiting'))}\n---\n"
    )


def _body(size: int, notes: int, zipf: Zipf, source: random.Random) -> str:
    words = zipf.words(size)
    lines: list[str] = []
    at = 0
    while at < size:
        if source.random() < 0.15 and at + 3 < size:
            lines += ["", f"## {' '.join(words[at : at + 3]).capitalize()}"]
            at += 3
        sentence = words[at : at + source.randint(6, 24)]
        at += len(sentence)
        if source.random() < 0.08:
            sentence[len(sentence) // 2] = f"[[note {source.randrange(notes)}]]"
        if source.random() < 0.02:
            sentence[-1] = f"#{sentence[-1]}"
        lines.append(" ".join(sentence).capitalize() + ".")
    return "\n".join(lines) + "\n"


def _foreign_body(size: int, foreign: Zipf, source: random.Random) -> str:
    words = foreign.words(size)
    lines: list[str] = []
    at = 0
    while at < size:
        step = source.randint(6, 24)
        lines.append("".join(words[at : at + step]) + "。")
        at += step
    return "\n".join(lines) + "\n"
