"""The features of a set's queries, gathered once by the real pipeline and kept as numpy arrays.

A change of the parameters of the score or of the tiers needs nothing else, so it is judged in seconds. A change of the
retrievers, of the tokeniser or of the chunking needs ``--fresh``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.quality.lab.models import Other
from tests.quality.lab.sets import JudgedSet
from vaultrag.domain import NoteId, NoteValidity, Scale, Validity
from vaultrag.evaluate.datasets import Judged
from vaultrag.evaluate.run import Pipeline
from vaultrag.retrieval.demotion import demotions
from vaultrag.retrieval.features import Features
from vaultrag.retrieval.params import Params
from vaultrag.retrieval.query_intent import intents_of
from vaultrag.retrieval.scoring import score
from vaultrag.retrieval.tiers import PARTIAL, tiers
from vaultrag.retrieval.time_ranking import intents_beside_phrase, only_upcoming, time_of

COLUMNS = (
    "note_cosine", "passage_cosine", "passage_count", "words", "coverage", "near", "near_titled", "name", "name_match",
    "literal", "dated",
)  # fmt: skip
FORM = 7
"""Of the file; another one is gathered anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One query with the features of every note that a retriever brought.

    Attributes:
        grades: Grade by note.
        lacks_identifier: Whether it asks for an identifier that no note holds.
        aged: The notes among them that do not hold at the time that is asked for.
    """

    id: str
    kind: str
    query: str
    answerable: bool
    grades: dict[int, float]
    features: Features
    lacks_identifier: bool = False
    aged: dict[NoteId, NoteValidity] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """What a system made of one query.

    Attributes:
        order: Notes, best first.
        codes: Their tiers, in the same order.
        best: The best score; what tells an answer from none.
    """

    order: NDArray[np.int64]
    codes: NDArray[np.int8]
    best: float

    @property
    def shown(self) -> NDArray[np.int64]:
        """The notes that count as found."""
        return self.order[self.codes >= PARTIAL]


def rank(asked: Asked, params: Params) -> Ranked:
    """Order the notes of one query exactly as ``retrieval.pipeline`` does, from its features."""
    features = asked.features
    if not len(features.ids):
        return Ranked(features.ids, np.zeros(0, np.int8), 0.0)
    scores, intents = score(features, params), intents_of(asked.query)
    if asked.aged:
        for note_id, change in demotions(features.ids, scores, asked.aged, params.outdated).items():
            scores[features.row(note_id)] += change.amount
    codes = tiers(features, scores, params, identifier_missing=asked.lacks_identifier, every="enumerating" in intents)
    order = np.lexsort((features.ids, -scores, -features.precedence))
    return Ranked(features.ids[order], codes[order], float(scores[order[0]]))


def twin(asked: Asked) -> Asked:
    """Return the query asked of the vault without the notes that answer it."""
    kept = ~np.isin(asked.features.ids, list(asked.grades))
    columns = {name: getattr(asked.features, name)[kept] for name in ("ids", *COLUMNS)}
    features = replace(asked.features, **columns)
    return replace(asked, kind="twin", answerable=False, grades={}, features=features)


def gather(one: JudgedSet, cache: Path, progress: Callable[[int, int], None]) -> list[Asked]:
    """Index the set's vault where that has not been done, and ask every query."""
    with Pipeline(one.vault, one.home, one.settings, Other(one.other) if one.other else None) as pipeline:
        pipeline.wait(progress)
        asked = [_ask(pipeline, judged) for judged in (*one.judged, *one.foreign)]
    _write([query for query in asked if query is not None], _file(one.name, cache))
    return read(one.name, cache)


def cached(name: str, cache: Path) -> bool:
    """Whether the set's features are there, in this form."""
    file = _file(name, cache)
    if not file.exists():
        return False
    with np.load(file) as arrays:
        return int(arrays["form"]) == FORM


def read(name: str, cache: Path) -> list[Asked]:
    """Read the features of a set."""
    with np.load(_file(name, cache)) as file:
        arrays = {key: file[key] for key in file.files}
    notes: list[dict[str, Any]] = json.loads(bytes(arrays["queries"]))
    bounds = arrays["bounds"]
    return [
        Asked(
            id=raw["id"],
            kind=raw["kind"],
            query=raw["query"],
            answerable=raw["answerable"],
            grades={int(note): grade for note, grade in raw["grades"].items()},
            features=Features(
                ids=arrays["ids"][start:end],
                vectors=raw["vectors"],
                multilingual=raw["multilingual"],
                scale=Scale(*raw["scale"]),
                **{name: arrays[name][start:end] for name in COLUMNS},
            ),
            lacks_identifier=raw["lacks_identifier"],
            aged={NoteId(int(note)): _aged(value) for note, value in raw["aged"].items()},
        )
        for raw, start, end in zip(notes, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ]


def _ask(pipeline: Pipeline, judged: Judged) -> Asked | None:
    parts, view = pipeline.parts, pipeline.parts.meaning.view
    barred = frozenset(note for path in judged.without if (note := parts.table.id_of(path)) is not None)
    draft = parts.engine.begin(parts.engine.read(judged.query), barred=barred)
    if not draft.query.terms:
        return None
    text = draft.query.text
    scan, readable, multilingual = view.compare(view.embed(text))
    features = parts.engine.features(draft, scan, readable, multilingual=multilingual)
    grades: dict[int, float] = {}
    for path, grade in judged.relevant.items():
        note = parts.table.id_of(path)
        # A right note that the index does not hold stays right, and is never found.
        grades[note if note is not None else -1 - len(grades)] = float(grade)
    if not len(features.dated):
        features = replace(features, dated=np.zeros(len(features.ids)))
    at, listed = time_of(draft.query), set(features.ids.tolist())
    standing = parts.standings(at)
    if "past" in intents_beside_phrase(draft.query):
        standing = only_upcoming(standing)
    return Asked(
        judged.id,
        judged.kind,
        text,
        judged.answerable,
        {note: grade for note, grade in grades.items() if grade > 0},
        features,
        draft.lacks_identifier,
        {note: one for note, one in standing.items() if note in listed},
    )


def _file(name: str, cache: Path) -> Path:
    return cache / "features" / f"{name}.npz"


def _write(asked: list[Asked], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    notes = [
        {
            "id": one.id,
            "kind": one.kind,
            "query": one.query,
            "answerable": one.answerable,
            "grades": one.grades,
            "vectors": one.features.vectors,
            "multilingual": one.features.multilingual,
            "scale": [one.features.scale.far, one.features.scale.near],
            "lacks_identifier": one.lacks_identifier,
            "aged": {note: _raw(value) for note, value in (one.aged or {}).items()},
        }
        for one in asked
    ]
    np.savez_compressed(
        file,
        form=np.int64(FORM),
        queries=np.frombuffer(json.dumps(notes).encode(), np.uint8),
        bounds=np.cumsum([0, *(len(one.features.ids) for one in asked)]),
        ids=np.concatenate([one.features.ids for one in asked]),
        **{name: np.concatenate([getattr(one.features, name) for one in asked]) for name in COLUMNS},  # type: ignore[arg-type]
    )


def _raw(one: NoteValidity) -> list[Any]:
    first, last = (day.isoformat() if day else None for day in (one.first, one.last))
    return [one.standing.state, sorted(one.successors), first, last]


def _aged(raw: list[Any]) -> NoteValidity:
    state, successors, first, last = raw
    days = (date.fromisoformat(day) if day else None for day in (first, last))
    return NoteValidity(Validity(state), frozenset(NoteId(note) for note in successors), *days)
