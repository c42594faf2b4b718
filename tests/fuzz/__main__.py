"""``python -m tests.fuzz TARGET``: run one target under atheris. A failing input is written to the current folder."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

CORPUS = Path(__file__).parent / "corpus"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.fuzz")
    options.add_argument("target", choices=sorted(path.name for path in CORPUS.iterdir()))
    options.add_argument("--seconds", type=int, default=60)
    options.add_argument("--max-bytes", type=int, default=2048)
    options.add_argument("--found", type=Path, help="Where inputs that reach something new are put.")
    options.add_argument("--seed", type=int, default=0, help="0: another one each time.")
    chosen = options.parse_args()
    # What is imported here is watched: how far an input gets in it is what guides the search.
    with atheris.instrument_imports(include=["vaultrag", "yaml", "frontmatter"]):
        from tests.fuzz.targets import TARGETS
    # The engine writes into the first folder it is given, which must not be the corpus that is kept by hand.
    found = chosen.found or Path(tempfile.mkdtemp(prefix="fuzz-"))
    found.mkdir(parents=True, exist_ok=True)
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={chosen.seconds}",
            f"-max_len={chosen.max_bytes}",
            f"-seed={chosen.seed}",
            "-timeout=10",
            "-rss_limit_mb=1024",
            str(found),
            str(CORPUS / chosen.target),
        ],
        TARGETS[chosen.target],
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
