"""The plain tables as peers: each half by itself, and both fused with previews."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench.peers import Ask, Peer
from tests.bench.plain import POOL
from tests.bench.stage import Stage


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


PEERS = (
    Peer("plain vec0", _meaning, "vectors alone, no previews", here=True),
    Peer("plain FTS5, ORDER BY rank", _words, "words alone, no previews", here=True),
    Peer("plain vec0 + rank, fused", _fused, f"{POOL} of each, reciprocal ranks, previews from files", here=True),
)
