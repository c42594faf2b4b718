"""The plain tables as peers: each half by itself, and both fused with previews."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench.peers import Ask, CannotRun, Peer
from tests.bench.plain import POOL
from tests.bench.stage import Stage

MOST_NOTES = 20_000
"""For the table of passages: a dozen rows a note, of float32."""


@contextmanager
def _meaning(stage: Stage) -> Iterator[Ask]:
    plain = stage.plain()
    yield lambda query: len(plain.by_meaning(query))


@contextmanager
def _words(stage: Stage) -> Iterator[Ask]:
    plain = stage.plain()
    yield lambda query: len(plain.by_words(query))


@contextmanager
def _fused(stage: Stage) -> Iterator[Ask]:
    plain = stage.plain()
    yield lambda query: len(plain.fused(query))


@contextmanager
def _fused_by_passage(stage: Stage) -> Iterator[Ask]:
    if not stage.passages:
        raise CannotRun("passages are not measured in this run (--no-passages)")
    if stage.notes > MOST_NOTES:
        raise CannotRun(f"its table of passages would take gigabytes with over {MOST_NOTES:,} notes")
    plain = stage.plain()
    plain.fill_passages()
    yield lambda query: len(plain.fused(query, by_passage=True))


PEERS = (
    Peer("plain vec0", _meaning, "vectors alone, no previews", here=True),
    Peer("plain FTS5, ORDER BY rank", _words, "words alone, no previews", here=True),
    Peer("plain vec0 + rank, fused", _fused, f"{POOL} of each, reciprocal ranks, previews from files", here=True),
    Peer(
        "plain vec0 by passage + rank, fused", _fused_by_passage, "the same, with a vector a passage as here", here=True
    ),
)
