"""The Pythons that are on this machine, of the versions that vaultrag is for."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

from tests.support.daemons import REPOSITORY

PYENV = Path("~/.pyenv/versions").expanduser()


def versions() -> list[str]:
    """The versions that the package names, oldest first: ``3.11``, …"""
    table = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    named = (
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", one) for one in table["project"]["classifiers"]
    )
    return sorted((one[1] for one in named if one), key=lambda version: int(version.split(".")[1]))


def find(version: str) -> Path | None:
    """A Python of this version that can make an environment."""
    on_path = shutil.which(f"python{version}")
    candidates = [Path(on_path)] if on_path else []
    candidates += sorted(PYENV.glob(f"{version}.*/bin/python"))
    return next((path for path in candidates if _is(path, version)), None)


def _is(path: Path, version: str) -> bool:
    asked = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([path, "-c", asked], capture_output=True, text=True, check=False, timeout=30)
    return done.returncode == 0 and done.stdout.strip() == version
