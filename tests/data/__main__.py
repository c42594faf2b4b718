"""``python -m tests.data NAME [CHECKOUT]`` keeps the index files that this version, or a checkout of another, makes."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.data import FILES, HERE, fill, index_folder
from tests.support.daemons import REPOSITORY, daemon_home, ollama_process


def make(name: str, checkout: Path) -> None:
    """Index the vault with the code of a checkout, by its commands, and pack the files."""
    with ollama_process() as ollama, daemon_home(ollama.settings) as home:
        fill(home)
        environment = {**os.environ, "VAULTRAG_HOME": str(home.path), "PYTHONPATH": str(checkout)}

        def vaultrag(*args: str) -> str:
            command = [sys.executable, "-m", "vaultrag", *args]
            return subprocess.run(command, cwd=home.base, env=environment, check=True, text=True, timeout=60,
                                  stdout=subprocess.PIPE).stdout  # fmt: skip

        vaultrag("up", str(home.vault))
        try:
            for _ in range(200):  # passages follow the notes' vectors
                vault = json.loads(vaultrag("status", "--json"))["vaults"][0]
                if vault["state"] == "ready" and not vault.get("passages_pending"):
                    break
                time.sleep(0.1)
            time.sleep(1.0)
        finally:
            vaultrag("stop")
        (HERE / name).mkdir(exist_ok=True)
        for file in FILES:
            packed = gzip.compress((index_folder(home) / file).read_bytes(), mtime=0)
            (HERE / name / f"{file}.gz").write_bytes(packed)
            print(HERE / name / f"{file}.gz", len(packed))


if __name__ == "__main__":
    make(sys.argv[1], Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else REPOSITORY)
