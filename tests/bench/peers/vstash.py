"""vstash's store (PyPI, extra ``bench``): its hybrid search over chunks, in a process of its own.

Its own way in would download a model and a tokenizer, so the chunks and their vectors are given to it: the chunks are
as long as its own would be, and the vectors are those that everybody has here. It uses Python's own SQLite and wants to
load extensions into it, which many builds of Python cannot: then another Python of the same version is looked for.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.bench.hashing import HashVectors
from tests.bench.peers import LIMIT, Ask, CannotRun, Peer
from tests.bench.peers.lines import asked_by_lines
from tests.bench.rows import say
from tests.bench.stage import Stage
from tests.bench.vaults import body, paths

CHUNK_WORDS = 700
"""About the thousand tokens that its chunks have."""


@contextmanager
def _open(stage: Stage) -> Iterator[Ask]:
    if find_spec("vstash") is None:
        raise CannotRun("it is not installed; pip install 'vaultrag[bench]'")
    say(f"giving {stage.notes:,} notes to vstash")
    own = stage.folder / "vstash"
    numbers = [str(stage.notes), str(stage.dimension)]
    command = [_python(), "-m", "tests.bench.peers.vstash", str(own / "notes.db"), str(stage.vault), *numbers]
    with asked_by_lines(command, own, {"HOME": str(own), "PYTHONPATH": _packages()}) as ask:
        yield ask


def _python() -> str:
    """A Python whose SQLite takes extensions and that can use the packages of this one."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    asks = "import sqlite3, sys; sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"
    for candidate in (sys.executable, shutil.which(name), f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        if candidate and Path(candidate).exists() and subprocess.run([candidate, "-c", asks]).returncode == 0:
            return candidate
    raise CannotRun(f"no {name} here has an SQLite that takes extensions, which it needs")


def _packages() -> str:
    found = find_spec("vstash")
    assert found is not None
    assert found.origin is not None
    return str(Path(found.origin).parents[1])


def _serve(database: str, vault: Path, notes: int, dimension: int) -> None:
    from vstash.store import VstashStore

    vectors = HashVectors(dimension)
    store: Any = VstashStore(database, embedding_dim=dimension)
    with store.batch_mode(defer_fts=True):
        for path in paths(notes):
            words = body((vault / path).read_text("utf-8")).split()
            chunks = [" ".join(words[at : at + CHUNK_WORDS]) for at in range(0, len(words), CHUNK_WORDS)]
            if chunks:
                store.add_document(path, path, chunks, vectors.rows(words, CHUNK_WORDS).tolist(), source_type="md")
    print("ready", flush=True)
    for line in sys.stdin:
        query = json.loads(line)
        print(len(store.search(vectors.embed_query(query).tolist(), query, top_k=LIMIT)), flush=True)
    store.close()


PEER = Peer("vstash", _open, "its hybrid search; chunks and vectors are given to it")

if __name__ == "__main__":
    _serve(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
