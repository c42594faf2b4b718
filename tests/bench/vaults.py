"""A seeded generator of vaults that are like real ones in what matters for speed.

Words follow Zipf's law; lengths are log-normal (median 250 words, one note in twenty over 2,000); notes have
frontmatter, tags, headings and links to each other, and lie in folders of about a hundred.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

VOCABULARY = 40_000
MEDIAN_WORDS = 250
SIGMA = 1.27  # so that 5 % of the notes are longer than 2,000 words
MAX_WORDS = 12_000

_ONSETS = ("b", "br", "d", "dr", "f", "g", "gr", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v", "w")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
_CODAS = ("", "l", "m", "n", "nd", "r", "rt", "s", "st", "t", "x")


def vocabulary(size: int = VOCABULARY, seed: int = 11) -> list[str]:
    """Made-up words, the first ones short, as frequent words are."""
    source = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < size:
        syllables = 1 + (len(words) > 200) + (source.random() < 0.6 and len(words) > 2_000)
        word = "".join(
            source.choice(_ONSETS) + source.choice(_VOWELS) + source.choice(_CODAS) for _ in range(syllables)
        )
        words.setdefault(word)
    return list(words)


class Zipf:
    """Draws words whose frequency is one over their rank."""

    def __init__(self, words: list[str], source: random.Random) -> None:
        self._words = words
        self._source = source
        self._total = math.log(len(words) + 1)

    def word(self) -> str:
        """One word: rank ``exp(u ln(n + 1))``, the inverse of the harmonic distribution."""
        rank = math.exp(self._source.random() * self._total)
        return self._words[min(int(rank) - 1, len(self._words) - 1)]

    def words(self, count: int) -> list[str]:
        return [self.word() for _ in range(count)]


def build(folder: Path, notes: int, seed: int = 5) -> list[str]:
    """Write a vault of so many notes (a vault of this size that is there already is kept); returns the paths."""
    source = random.Random(seed)
    zipf = Zipf(vocabulary(), source)
    paths = [f"area {number // 100 % 97}/topic {number // 100}/note {number}.md" for number in range(notes)]
    done = folder / ".obsidian" / f"complete-{notes}"
    if done.exists():
        return paths
    for number, path in enumerate(paths):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_note(number, notes, zipf, source), "utf-8")
    done.parent.mkdir(parents=True, exist_ok=True)
    done.touch()
    return paths


def _note(number: int, notes: int, zipf: Zipf, source: random.Random) -> str:
    length = min(MAX_WORDS, max(5, int(source.lognormvariate(math.log(MEDIAN_WORDS), SIGMA))))
    lines = [
        "---",
        f"title: {' '.join(zipf.words(source.randint(2, 5))).title()} {number}",
        f"tags: [{zipf.word()}, {zipf.word()}/{zipf.word()}]",
        f"status: {source.choice(('open', 'done', 'waiting'))}",
        "---",
    ]
    written = 0
    while written < length:
        if source.random() < 0.15:
            lines += ["", f"## {' '.join(zipf.words(3)).capitalize()}"]
        sentence = zipf.words(source.randint(6, 24))
        written += len(sentence)
        if source.random() < 0.08:
            sentence.insert(len(sentence) // 2, f"[[note {source.randrange(notes)}]]")
        if source.random() < 0.02:
            sentence.append(f"#{zipf.word()}")
        lines.append(" ".join(sentence).capitalize() + ".")
    return "\n".join(lines) + "\n"


QUERIES: dict[str, Callable[[Zipf], str]] = {
    "one word": lambda zipf: zipf.word(),
    "three words": lambda zipf: " ".join(zipf.words(3)),
    "eight words": lambda zipf: " ".join(zipf.words(8)),
    "question": lambda zipf: "what was the " + " ".join(zipf.words(4)) + " that we did with " + " ".join(zipf.words(3)),
    "phrase": lambda zipf: f'"{zipf.word()} {zipf.word()}"',
    "filter only": lambda zipf: f"tag:{zipf.word()}",
    "filter and words": lambda zipf: "[status:open] " + " ".join(zipf.words(3)),
    "typo in a name": lambda zipf: zipf.word()[:-1] + "q " + zipf.word(),
}
