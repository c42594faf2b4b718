"""The real daemon, with vectors that need no model: `python -m tests.bench.serve VAULT`. For the benchmark only."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.bench.hashing import HashVectors
from vaultrag.config import Places, Settings, load
from vaultrag.daemon.process import Daemon
from vaultrag.daemon.vaults import EmbedderPool
from vaultrag.domain import Identity
from vaultrag.protocols import Embedder


class HashOnly(EmbedderPool):
    """Whatever the index records, its vectors are hashed words."""

    def __init__(self, settings: Settings, dimension: int) -> None:
        super().__init__(settings)
        self._only = HashVectors(dimension)

    def choose(self, recorded: Identity | None) -> Embedder | None:
        return self._only


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vaults", type=Path, nargs="+")
    parser.add_argument("--dimension", type=int, default=384)
    arguments = parser.parse_args()
    places = Places.find()
    settings = load(places.config_file)
    Daemon(places, settings, embedders=HashOnly(settings, arguments.dimension)).run(arguments.vaults)
