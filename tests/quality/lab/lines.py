"""How often what a search says of the right note holds the answer: ``python -m tests.quality.lab.lines``.

For questions whose answer is known by its words (own: ``rule-answers.json``; natural; COVID-QA): the line of the right
note at several budgets of tokens, and the preview cut to as many. A note that is not among the first ten holds nothing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from tests.quality.lab.sets import QUALITY, SEED, available, load
from vaultrag.domain import Hit
from vaultrag.evaluate.datasets import Judged
from vaultrag.evaluate.run import LIMIT, Pipeline
from vaultrag.retrieval.query_parser import parse_query
from vaultrag.text.token_estimate import estimate, fit

TOKENS = (40, 60, 80, 100)
MOST = 400
"""Questions of a set at most, sampled."""

HELD = 0.7
"""An answer is held where so much of its pairs of words is there."""

_WORD = re.compile(r"\w+")

Answer = str | list[str]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(".quality"))
    options = parser.parse_args()
    print("| set | what is shown | answer held | tokens |\n| --- | --- | --- | --- |")
    for name in ("own", "natural", "covidqa"):
        if available(name, options.data):
            for row in measured(name, options.data, options.cache):
                print(f"| {name} | {row} |", flush=True)


def measured(name: str, data: Path | None, cache: Path) -> list[str]:
    """Ask a set's questions, and return a row for each way of showing a hit."""
    one, answers = load(name, data, cache), answers_of(name, data)
    judged = [query for query in one.judged if query.answerable and query.id in answers]
    judged = Random(SEED).sample(judged, MOST) if len(judged) > MOST else judged
    held: dict[str, list[bool]] = {}
    costs: dict[str, int] = {}
    with Pipeline(one.vault, one.home, one.settings) as pipeline:
        pipeline.wait()
        for query in judged:
            for shown, texts in _shown(pipeline, query).items():
                held.setdefault(shown, []).append(any(holds(answers[query.id], text) for text in texts))
                costs[shown] = costs.get(shown, 0) + sum(map(estimate, texts)) // max(1, len(texts))
    return [
        f"{shown} | {sum(found)} of {len(found)} ({sum(found) / len(found):.3f}) | {costs[shown] / len(found):.0f}"
        for shown, found in held.items()
    ]


def holds(answer: Answer, text: str) -> bool:
    """Whether a text holds an answer: all of its parts, or most of its pairs of words."""
    if isinstance(answer, list):
        return all(part in text for part in answer)
    size = min(2, len(_words(answer)))
    wanted = _runs(answer, size)
    return bool(wanted) and len(wanted & _runs(text, size)) >= HELD * len(wanted)


def answers_of(name: str, data: Path | None) -> Mapping[str, Answer]:
    """Return the answer's words by query."""
    if name == "own":
        parts: dict[str, Answer] = json.loads((QUALITY / "rule-answers.json").read_text("utf-8"))
        return parts
    if name == "natural":
        lines = (QUALITY / "natural" / "queries.jsonl").read_text("utf-8").splitlines()
        return {raw["id"]: raw["answer"] for raw in map(json.loads, lines) if raw.get("answer")}
    with gzip.open((data or Path()) / name / "queries.jsonl.gz", "rt", encoding="utf-8") as file:
        return {raw["_id"]: raw["metadata"]["answer"] for raw in map(json.loads, file)}


def _shown(pipeline: Pipeline, judged: Judged) -> dict[str, list[str]]:
    """What is said of the right notes among the first ten, by the way of showing it."""
    parts, view = pipeline.parts, pipeline.parts.meaning.view
    draft = parts.engine.begin(parse_query(judged.query))
    wanted = parts.hits.wanted([(count.clause, count.idf) for count in draft.words.counts])
    compared = view.compare(view.embed(draft.query.text))
    scan = compared.scan
    ranking = parts.engine.rank(draft, scan, compared.readable, multilingual=compared.multilingual)
    best = max(judged.relevant.values())
    right = {parts.table.id_of(path) for path, grade in judged.relevant.items() if grade == best}
    notes = [note for note in ranking.notes[:LIMIT] if note.note_id in right]

    def made(text: Callable[[Hit], str], tokens: int = 0) -> list[str]:
        if tokens:
            hits, _ = parts.hits.make(notes, wanted, scan, limit=LIMIT, shape="compact", line_tokens=(tokens,))
        else:
            hits, _ = parts.hits.make(notes, wanted, scan, limit=LIMIT)
        return [text(hit) for hit in hits]

    previews = made(lambda hit: hit.preview)
    shown = {f"line, {tokens} tokens": made(lambda hit: hit.line, tokens) for tokens in TOKENS}
    shown |= {f"preview, {tokens} tokens": [fit(text, tokens) for text in previews] for tokens in TOKENS}
    return shown | {"preview, 700 characters": previews}


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _runs(text: str, size: int) -> set[tuple[str, ...]]:
    words = _words(text)
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)} if size else set()


if __name__ == "__main__":
    main()
