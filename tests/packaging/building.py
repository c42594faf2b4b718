"""Building the wheel and the source archive, from a copy that holds what a clone would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.daemons import REPOSITORY

KINDS = ("wheel", "sdist")


def copy(target: Path) -> Path:
    """The repository's files, without what was installed or built; also those that are not committed yet."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=REPOSITORY, capture_output=True, check=True).stdout
    for name in map(os.fsdecode, names.split(b"\0")):
        source = REPOSITORY / name
        if name and source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target / name)
    return target


def build(source: Path, out: Path, *kinds: str, epoch: int | None = None) -> list[Path]:
    """Build these kinds (both, if none is named); the archives, in the order of the kinds."""
    kinds = kinds or KINDS
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    if epoch is not None:
        environment["SOURCE_DATE_EPOCH"] = str(epoch)
    for kind in kinds:
        done = subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)],
            cwd=source, env=environment, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"the {kind} cannot be built:\n{done.stdout}{done.stderr}")
    return [next(out.glob("*.whl" if kind == "wheel" else "*.tar.gz")) for kind in kinds]
