"""A peer in a process of its own, asked line by line: a query as JSON in, the number of its results as JSON out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.machine import ROOT
from tests.bench.peers import Ask, CannotRun


@contextmanager
def asked_by_lines(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[Ask]:
    """The process, as soon as it has read the notes and says ``ready``.

    Args:
        folder: New; it gets the log.
        environment: Set beside what is set here.
    """
    folder.mkdir()
    log = folder / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **environment},
            text=True,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    requests, answers = process.stdin, process.stdout

    def ask(query: str) -> int:
        requests.write(json.dumps(query) + "\n")
        requests.flush()
        answer = answers.readline()
        if not answer.strip().isdigit():
            raise CannotRun(f"it failed at {query!r}: {answer.strip() or _end(log)}")
        return int(answer)

    try:
        first = answers.readline().strip()
        if first != "ready":
            raise CannotRun(f"it did not start: {first or _end(log)}")
        yield ask
    finally:
        requests.close()
        answers.close()
        process.terminate()
        process.wait(60)


def _end(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
