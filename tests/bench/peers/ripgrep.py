"""ripgrep over the notes: every file with one of the words and its first line that has it. It ranks nothing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench.peers import LIMIT, Ask, CannotRun, Peer
from tests.bench.stage import Stage


@contextmanager
def _open(stage: Stage) -> Iterator[Ask]:
    program = shutil.which("rg")
    if program is None:
        raise CannotRun("rg is not installed; on Debian: apt install ripgrep")
    fixed = [program, "--ignore-case", "--fixed-strings", "--word-regexp", "--max-count", "1", "--no-heading"]

    def ask(query: str) -> int:
        words = [part for word in query.split() for part in ("-e", word)]
        done = subprocess.run([*fixed, *words, str(stage.vault)], capture_output=True, check=False)
        return min(LIMIT, done.stdout.count(b"\n"))

    yield ask


PEER = Peer("ripgrep", _open, "all files with a word, unranked; a process a query")
