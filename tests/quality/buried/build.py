"""Writes the long notes with one buried rule each, and the queries judged on them.

The same seed gives the same bytes on every platform: the only source of chance is `Random.random()`, whose sequence
Python promises to keep, and lines always end with a line feed.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeVar

HERE = Path(__file__).parent
SEED = 7
# Targets: a note overshoots by less than a section and its rule, so it stays within 2,000 to 5,000 words.
MIN_WORDS, MAX_WORDS = 2_200, 4_600
SECTION_WORDS = (220, 340)
PARAGRAPH_SENTENCES = (4, 7)
# The rule's paragraph begins after this share of the words; with the paragraph's own length it stays within 30-70 %.
RULE_SHARE = (0.33, 0.65)
FOCUS_NOUNS = 12
SHARED_PROBABILITY = 0.35
OPENING_PROBABILITY = 0.2

SLOT = re.compile(r"\{([nNvapl])\}")
ARTICLE = re.compile(r"\b([Aa]) (?=[aeiou])(?!one\b|once\b|us|uni[^nm]|eu)")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of `rules.jsonl`: a rule, the note that hides it, and how a person would ask for it."""

    topic: str
    title: str
    rule: str
    query: str

    @property
    def file_name(self) -> str:
        """The note's file name; titles are plain ASCII and differ from each other."""
        return f"{self.title}.md"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a topic's sentences are put together from; `slots` maps a slot's letter to its fillings.

    Letters: n a noun, N its plural, v a past participle (also the simple past), a an adjective, p a person, l a place.
    """

    slots: dict[str, list[str]]
    templates: list[str]
    shared_templates: list[str]
    openings: list[str]
    headings: list[str]


class Chance:
    """Choices that are the same everywhere for one seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1."""
        return int(self._random.random() * bound)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def share(self, low: float, high: float) -> float:
        """A number from `low` up to `high`."""
        return low + (high - low) * self._random.random()

    def happens(self, probability: float) -> bool:
        """Whether something of this probability comes to pass."""
        return self._random.random() < probability

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in another order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]


class Bag:
    """Draws every item once before any comes again, so that repetitions stand far apart."""

    def __init__(self, items: Sequence[str], chance: Chance) -> None:
        self._items = items
        self._chance = chance
        self._left: list[str] = []

    def draw(self) -> str:
        """The next item."""
        if not self._left:
            self._left = self._chance.shuffled(self._items)
        return self._left.pop()


def load_rules() -> list[Rule]:
    """The rules in the order of their file."""
    return [Rule(**json.loads(line)) for line in (HERE / "rules.jsonl").read_text("utf-8").splitlines()]


@cache
def load_vocabulary(topic: str) -> Vocabulary:
    """The words and sentences of a topic, together with the sentences that every topic shares."""
    own = tomllib.loads((HERE / "vocabulary" / f"{topic.replace(' ', '-')}.toml").read_text("utf-8"))
    shared = tomllib.loads((HERE / "vocabulary" / "shared.toml").read_text("utf-8"))
    return Vocabulary(
        slots={
            "n": own["nouns"],
            "v": own["verbs"],
            "a": own["adjectives"],
            "p": own["people"],
            "l": own["places"],
        },
        templates=own["templates"],
        shared_templates=shared["templates"],
        openings=shared["openings"],
        headings=shared["headings"],
    )


def plural(noun: str) -> str:
    """The plural of a regular noun (the vocabularies hold few others)."""
    irregular = {"shelf": "shelves", "knife": "knives", "brush": "brushes", "loaf": "loaves", "leaf": "leaves"}
    head, _, last = noun.rpartition(" ")
    if last in irregular:
        return f"{head} {irregular[last]}".strip()
    if last.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    if last.endswith("y") and last[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


class Writer:
    """Writes one note's prose; a section keeps to a handful of nouns, so that its paragraphs hang together."""

    def __init__(self, vocabulary: Vocabulary, chance: Chance) -> None:
        self._chance = chance
        self._vocabulary = vocabulary
        self._own = Bag(vocabulary.templates, chance)
        self._shared = Bag(vocabulary.shared_templates, chance)
        self._openings = Bag(vocabulary.openings, chance)
        self._headings = Bag(vocabulary.headings, chance)
        self._bags = {slot: Bag(items, chance) for slot, items in vocabulary.slots.items()}

    def section(self) -> list[str]:
        """A heading and its paragraphs."""
        focus = self._chance.shuffled(self._vocabulary.slots["n"])[:FOCUS_NOUNS]
        self._bags["n"] = Bag(focus, self._chance)
        blocks = [f"## {capitalised(self._filled(self._headings.draw()))}"]
        words = self._chance.between(*SECTION_WORDS)
        while words > 0:
            sentences = [self._sentence() for _ in range(self._chance.between(*PARAGRAPH_SENTENCES))]
            blocks.append(" ".join(sentences))
            words -= count_words(blocks[-1])
        return blocks

    def _sentence(self) -> str:
        bag = self._shared if self._chance.happens(SHARED_PROBABILITY) else self._own
        text = self._filled(bag.draw())
        if self._chance.happens(OPENING_PROBABILITY):
            text = f"{self._openings.draw()} {text}"
        return f"{capitalised(text)}."

    def _filled(self, template: str) -> str:
        used: set[str] = set()

        def fill(match: re.Match[str]) -> str:
            """The next word for the slot that this sentence has not used yet."""
            bag = self._bags[match[1].lower()]
            word = bag.draw()
            while word in used:
                word = bag.draw()
            used.add(word)
            return plural(word) if match[1] == "N" else word

        return ARTICLE.sub(r"\1n ", SLOT.sub(fill, template))


def capitalised(text: str) -> str:
    """The text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def count_words(text: str) -> int:
    """How many words, parted by white space, the text has."""
    return len(text.split())


def write_note(rule: Rule, vocabulary: Vocabulary, chance: Chance) -> str:
    """The whole note: title, sections, and the rule inside one of its paragraphs."""
    writer = Writer(vocabulary, chance)
    target = chance.between(MIN_WORDS, MAX_WORDS)
    blocks = [f"# {rule.title}"]
    while sum(map(count_words, blocks)) < target:
        blocks.extend(writer.section())
    bury(rule.rule, blocks, chance)
    return "\n\n".join(blocks) + "\n"


def bury(rule: str, blocks: list[str], chance: Chance) -> None:
    """Puts the rule between two sentences of a paragraph in the middle part of `blocks`."""
    words_before = int(sum(map(count_words, blocks)) * chance.share(*RULE_SHARE))
    place = 0
    while words_before > 0 or blocks[place].startswith("#"):
        words_before -= count_words(blocks[place])
        place += 1
    sentences = re.split(r"(?<=[a-z]\.) (?=[A-Z])", blocks[place])
    sentences.insert(chance.between(1, len(sentences) - 1), rule)
    blocks[place] = " ".join(sentences)


def build(folder: Path, *, seed: int = SEED) -> list[dict[str, object]]:
    """Writes the 120 notes into `folder` and returns the queries judged on them."""
    folder.mkdir(parents=True, exist_ok=True)
    queries: list[dict[str, object]] = []
    for number, rule in enumerate(load_rules(), start=1):
        note = write_note(rule, load_vocabulary(rule.topic), Chance(seed * 1_000 + number))
        (folder / rule.file_name).write_bytes(note.encode())
        queries.append(
            {
                "id": f"buried-{number:03}",
                "query": rule.query,
                "relevant": {rule.file_name: 1},
                "answerable": True,
                "kind": "buried",
            }
        )
    return queries


def main() -> None:
    """Writes `FOLDER/vault/*.md` and `FOLDER/queries.jsonl`."""
    parser = argparse.ArgumentParser(description="Write the long notes with one buried rule each, and their queries.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    queries = build(arguments.folder / "vault", seed=arguments.seed)
    lines = "".join(json.dumps(query, ensure_ascii=False) + "\n" for query in queries)
    (arguments.folder / "queries.jsonl").write_bytes(lines.encode())


if __name__ == "__main__":
    main()
