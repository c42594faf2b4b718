"""The targets hold for the corpus always, and for what a short search finds where the engine is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
INPUTS = sorted(path for path in CORPUS.glob("*/*") if path.is_file())
SECONDS = 4


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_corpus_holds(path: Path) -> None:
    """Every input that is kept, and each of its beginnings, is taken as the target says."""
    data = path.read_bytes()
    target = TARGETS[path.parent.name]
    target(data)
    for end in range(0, len(data), 3):
        target(data[:end])


def test_every_target_has_a_corpus() -> None:
    """A search that starts from nothing finds little."""
    assert {path.parent.name for path in INPUTS} == set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_bytes_hold(name: str, data: st.DataObject) -> None:
    """Bytes at random, and pieces of the corpus put together at random, are taken as the target says."""
    pieces = [path.read_bytes() for path in INPUTS if path.parent.name == name]
    noise = st.binary(max_size=40)
    cuts = st.tuples(st.sampled_from(pieces), st.integers(0, 200), st.integers(0, 200))
    part = cuts.map(lambda cut: cut[0][min(cut[1:]) : max(cut[1:])])
    TARGETS[name](b"".join(data.draw(st.lists(noise | part, max_size=6))))


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None,
    reason="atheris is not installed (pip install 'vaultrag[fuzz]'; wheels for Linux on x86-64 only)",
)
@pytest.mark.parametrize("name", TARGETS)
def test_a_short_search_finds_nothing(name: str, tmp_path: Path) -> None:
    """A few seconds of coverage-guided search find no input that breaks a target."""
    repository = Path(__file__).parents[2]
    search = [sys.executable, "-m", "tests.fuzz", name, "--seconds", str(SECONDS), "--seed", "1", "--found", "found"]
    # A program begins with the most memory that the one which started it has held, and libFuzzer ends it for that: the
    # shell between the two starts small.
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@"; exit $?', "sh", *search],
        cwd=tmp_path, env={"PYTHONPATH": str(repository), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
        timeout=150, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    assert "DONE" in done.stderr
    assert not list(tmp_path.glob("crash-*"))
