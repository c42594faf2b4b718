"""Ask for every note of a vault by what stands in it, and list each question that does not bring the note.

    python -m tests.quality.self_finding VAULT [--kinds title alias ...] [--builtin] [--sample N] [--all]

A kind of question is a function from the vault's notes to questions; ``KINDS`` names them all.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from pathlib import Path
from random import Random
from urllib.parse import quote

from vaultrag.app import VaultService
from vaultrag.config import EmbedderSettings, Settings
from vaultrag.domain import Content, Mode, Note, NotePath
from vaultrag.domain.requests import Search
from vaultrag.evaluate.run import Pipeline
from vaultrag.markdown import parse_note
from vaultrag.markdown.cleaning import visible
from vaultrag.text.tokenize import fold, has_long_run, name_key

SEED = 13
DEPTH = 10
"""Hits asked for: a note that stands below is missed."""


@dataclass(frozen=True, slots=True)
class Question:
    """One query that one note should answer.

    Attributes:
        path: The note.
        text: The query.
        within: How many other hits may come with the note at most: 1 for first, 3 for in the first three.
        equals: Notes that answer it as well; they may stand above.
    """

    path: NotePath
    text: str
    within: int = 1
    equals: frozenset[NotePath] = frozenset()


@dataclass(frozen=True, slots=True)
class Miss:
    """A question that did not bring its note where it belongs.

    Attributes:
        place: Where the note stands; 0 for not among the hits.
        first: The best hit; empty for none.
        state: The answer's.
    """

    kind: str
    question: Question
    place: int
    first: str
    state: str

    def __str__(self) -> str:
        """Return the miss on one line."""
        where = f"at {self.place}, behind" if self.place else "missing, first"
        return f"{self.kind}: {self.question.text!r} -> {self.question.path} {where} {self.first!r} ({self.state})"


@dataclass(slots=True)
class Outcome:
    """What all questions brought: how many there were of each kind, and the misses."""

    asked: Counter[str] = field(default_factory=Counter)
    misses: list[Miss] = field(default_factory=list)

    def table(self) -> str:
        """Return one line for each kind: questions, misses, share found."""
        missed = Counter(miss.kind for miss in self.misses)
        lines = [
            f"{kind:<14}{count:>7}{missed[kind]:>7}{100 * (1 - missed[kind] / count):>9.2f} %"
            for kind, count in self.asked.items()
        ]
        return "\n".join([f"{'kind':<14}{'asked':>7}{'missed':>7}{'found':>11}", *lines])


Kind = Callable[[Sequence[Note]], Iterable[Question]]


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def _names(note: Note) -> set[str]:
    return {name_key(name) for name in (note.title, _stem(note.path), *note.aliases)}


def _namesakes(notes: Sequence[Note]) -> Mapping[str, frozenset[NotePath]]:
    """Return the notes that have each name, by the name's key."""
    found: dict[str, set[NotePath]] = defaultdict(set)
    for note in notes:
        for key in _names(note):
            found[key].add(note.path)
    return {key: frozenset(paths) for key, paths in found.items()}


def _by_name(names: Callable[[Note], Iterable[str]], written: Callable[[str], str] = str) -> Kind:
    """Return a kind of question that asks for notes by these names, as ``written`` writes them."""

    def questions(notes: Sequence[Note]) -> Iterator[Question]:
        namesakes = _namesakes(notes)
        for note in notes:
            for name in names(note):
                if name_key(name):
                    yield Question(note.path, written(name), equals=namesakes[name_key(name)])

    return questions


def _by_path(written: Callable[[Note], str]) -> Kind:
    """Return a kind of question that asks for notes by their path: no other note may stand above."""
    return lambda notes: (Question(note.path, written(note)) for note in notes)


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W_]+", fold(text).lower()) if word.isalpha() and 3 <= len(word) <= 24}


def _own_words(notes: Sequence[Note]) -> Iterator[Question]:
    """Ask for each note by a word that stands in no other."""
    words = [_words(f"{note.body} {note.title} {' '.join(note.aliases)}") for note in notes]
    counts = Counter(chain.from_iterable(words))
    chance = Random(SEED)
    for note, own in zip(notes, words, strict=True):
        alone = sorted(word for word in own & _words(note.text.text) if counts[word] == 1)
        if alone:
            yield Question(note.path, chance.choice(alone), within=3)


def _sentences(notes: Sequence[Note]) -> Iterator[Question]:
    """Ask for each note by a sentence as a reader sees it, which stands in no other."""
    found = [[one for line in note.body.split("\n") for one in _sentences_of(line)] for note in notes]
    counts = Counter(chain.from_iterable(map(set, found)))
    chance = Random(SEED)
    for note, own in zip(notes, found, strict=True):
        alone = sorted({one for one in own if counts[one] == 1})
        if alone:
            yield Question(note.path, chance.choice(alone), within=3)


def _sentences_of(line: str) -> list[str]:
    line = visible(re.sub(r"^\s*(?:[-*+>#]+|\d+\.)\s+", "", line))
    if has_long_run(line, 60):  # data
        return []
    return [one for one in re.split(r"(?<=[.!?])\s+", line) if 6 <= len(re.findall(r"[^\W\d_]{2,}", one)) <= 30]


def _headings(notes: Sequence[Note]) -> Iterator[Question]:
    """Ask for each note by a heading of two words or more that no other has."""
    counts = Counter(key for note in notes for key in {name_key(heading.text) for heading in note.headings})
    for note in notes:
        alone = [one.text for one in note.headings if " " in (key := name_key(one.text)) and counts[key] == 1]
        if alone:
            yield Question(note.path, alone[0], within=3)


def _days(notes: Sequence[Note]) -> Iterator[Question]:
    """Ask for each daily note by its day, written otherwise."""
    for note in notes:
        named = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", _stem(note.path))
        if named is not None:
            day = date(*map(int, named.groups()))
            yield Question(note.path, f"{day.day} {day:%B %Y}")
            yield Question(note.path, f"{day:%d.%m.%Y}")
            yield Question(note.path, f"{day:%Y%m%d}")


KINDS: dict[str, Kind] = {
    "title": _by_name(lambda note: [note.title]),
    "alias": _by_name(lambda note: note.aliases),
    "file": _by_name(lambda note: [_stem(note.path)]),
    "file.md": _by_name(lambda note: [_stem(note.path)], "{}.md".format),
    "lower": _by_name(lambda note: [note.title], str.lower),
    "path": _by_path(lambda note: note.path.removesuffix(".md")),
    "path.md": _by_path(lambda note: note.path),
    "path\\": _by_path(lambda note: note.path.replace("/", "\\")),
    "link": _by_name(lambda note: [_stem(note.path)], "[[{}]]".format),
    "link path": _by_path(lambda note: f"[[{note.path.removesuffix('.md')}|shown]]"),
    "embed": _by_name(lambda note: [_stem(note.path)], "![[{}#Some heading]]".format),
    "uri": _by_path(lambda note: f"obsidian://open?vault=My%20vault&file={quote(note.path.removesuffix('.md'), '')}"),
    "citation": _by_path(lambda note: f"{note.path}#L3-L7"),
    "word": _own_words,
    "sentence": _sentences,
    "heading": _headings,
    "day": _days,
}


def read(service: VaultService) -> list[Note]:
    """Parse every note that the index holds."""
    parts, notes = service.parts, []
    rows = parts.table.by_ids(parts.table.all_ids())
    for path in sorted(row.path for row in rows.values()):
        result = parts.reader.read(path)
        if isinstance(result, Content):
            notes.append(parse_note(path, result.data))
    return notes


def ask(
    service: VaultService,
    notes: Sequence[Note],
    kinds: Iterable[str] = KINDS,
    *,
    mode: Mode = "hybrid",
    sample: int = 0,
) -> Outcome:
    """Ask all questions of these kinds.

    Args:
        service: The vault, indexed.
        notes: From ``read``.
        kinds: Names in ``KINDS``.
        mode: Which retrievers are asked.
        sample: Questions of each kind at most, chosen by a fixed seed; 0 for all.
    """
    outcome = Outcome()
    for kind in kinds:
        questions = list(KINDS[kind](notes))
        if 0 < sample < len(questions):
            questions = Random(SEED).sample(questions, sample)
        for question in questions:
            outcome.asked[kind] += 1
            miss = _missed(service, kind, question, mode)
            if miss is not None:
                outcome.misses.append(miss)
    return outcome


def _missed(service: VaultService, kind: str, question: Question, mode: Mode) -> Miss | None:
    depth = DEPTH + len(question.equals)
    answer = service.search(Search(question.text, limit=depth, mode=mode, preview_chars=0))
    paths = [hit.path for hit in answer.hits]
    place = paths.index(question.path) + 1 if question.path in paths else 0
    above = [path for path in paths[:place] if path not in question.equals and path != question.path]
    if place and len(above) < question.within:
        return None
    return Miss(kind, question, place, paths[0] if paths else "", str(answer.state))


def main(arguments: Sequence[str] | None = None) -> int:
    """Index a vault in a temporary folder, ask all questions and print what is not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.self_finding", description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--builtin", action="store_true", help="with the builtin model; otherwise words and names only")
    parser.add_argument("--sample", type=int, default=0, help="questions of each kind at most")
    parser.add_argument("--all", action="store_true", help="list every miss, not the first 20 of each kind")
    given = parser.parse_args(arguments)
    settings = Settings(embedder=EmbedderSettings(provider="builtin" if given.builtin else "off"))
    with tempfile.TemporaryDirectory() as home, Pipeline(given.vault, Path(home), settings) as pipeline:
        pipeline.wait()
        notes = read(pipeline.service)
        outcome = ask(pipeline.service, notes, given.kinds, sample=given.sample)
    listed: Counter[str] = Counter()
    for miss in outcome.misses:
        listed[miss.kind] += 1
        if given.all or listed[miss.kind] <= 20:
            print(miss)
    print(f"\n{len(notes)} notes\n{outcome.table()}")
    return 1 if outcome.misses else 0


if __name__ == "__main__":
    sys.exit(main())
