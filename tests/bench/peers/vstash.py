"""vstash's store (PyPI, extra ``bench``), in this process: its hybrid search over chunks.

Its own way in would download a model and a tokenizer, so the chunks and their vectors are given to it: the chunks are
as long as its own would be, and the vectors are those that everybody has here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.bench.hashing import HashVectors
from tests.bench.peers import LIMIT, Ask, CannotRun, Peer
from tests.bench.rows import say
from tests.bench.stage import Stage
from tests.bench.vaults import body

CHUNK_WORDS = 700
"""About the thousand tokens that its chunks have."""


@contextmanager
def _open(stage: Stage) -> Iterator[Ask]:
    try:
        from vstash.store import VstashStore
    except ImportError:
        raise CannotRun("vstash is not installed; pip install 'vaultrag[bench]'") from None
    say(f"giving {stage.notes:,} notes to vstash")
    vectors = HashVectors(stage.dimension)
    store: Any = VstashStore(str(stage.folder / "vstash.db"), embedding_dim=stage.dimension)
    try:
        with store.batch_mode(defer_fts=True):
            for path in stage.paths:
                words = body((stage.vault / path).read_text("utf-8")).split()
                runs = [words[at : at + CHUNK_WORDS] for at in range(0, len(words), CHUNK_WORDS)]
                chunks = [" ".join(run) for run in runs if run]
                if chunks:
                    rows = vectors.rows(words, CHUNK_WORDS).tolist()
                    store.add_document(path, path, chunks, rows, source_type="md")
        yield lambda query: len(store.search(vectors.embed_query(query).tolist(), query, top_k=LIMIT))
    finally:
        store.close()


PEER = Peer("vstash", _open, "its hybrid search over chunks; chunks and vectors are given to it")
