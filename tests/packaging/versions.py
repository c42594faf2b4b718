"""Where the version is said. One place counts, ``vaultrag/__init__.py``; the others are written from it.

``python -m tests.packaging.versions 1.2.3`` writes a new one everywhere (``make version VERSION=1.2.3``).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tests.support.daemons import REPOSITORY

SOURCE = "vaultrag/__init__.py"
MANIFEST = "plugin-bridge/obsidian/manifest.json"
FITTING = "plugin-bridge/obsidian/versions.json"
NUMBER = r"\d+\.\d+\.\d+"

PLACES: dict[str, str] = {
    SOURCE: rf'(?<=^__version__ = "){NUMBER}(?="$)',
    MANIFEST: rf'(?<=^  "version": "){NUMBER}(?=",$)',
    "plugin-bridge/obsidian/package.json": rf'(?<=^  "version": "){NUMBER}(?=",$)',
    # Twice: of the file, and of the package that is at its root.
    "plugin-bridge/obsidian/package-lock.json": rf'(?<="name": "vaultrag-obsidian",\n  "version": "){NUMBER}'
    rf'|(?<="name": "vaultrag-obsidian",\n      "version": "){NUMBER}',
    "plugin-bridge/nvim/lua/vaultrag/version.lua": rf'(?<=^return "){NUMBER}(?="$)',
    "vaultrag/cli/vaultrag.1": rf'(?<=^\.TH VAULTRAG 1 "" "vaultrag ){NUMBER}(?=")',
}
"""File to the pattern of a version in it."""


def said(root: Path) -> dict[str, tuple[str, ...]]:
    """File to the versions that are said in it."""
    return {
        name: tuple(re.findall(pattern, (root / name).read_text("utf-8"), re.MULTILINE))
        for name, pattern in PLACES.items()
    }


def disagreements(root: Path) -> list[str]:
    """A sentence for each place that does not say what the package says."""
    found = said(root)
    (version,) = found[SOURCE] or ("",)
    faults = [
        f"{name} says {', '.join(versions) or 'no version'}, and {SOURCE} says {version}"
        for name, versions in found.items()
        if not versions or set(versions) != {version}
    ]
    needed = json.loads((root / MANIFEST).read_text("utf-8"))["minAppVersion"]
    known = json.loads((root / FITTING).read_text("utf-8")).get(version)
    if known != needed:
        faults.append(f"{FITTING} has {known or 'nothing'} for {version}, and {MANIFEST} needs {needed}")
    return faults


def write(root: Path, version: str) -> None:
    """Say this version everywhere."""
    for name, pattern in PLACES.items():
        path = root / name
        path.write_text(re.sub(pattern, version, path.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
    path = root / FITTING
    needed = json.loads((root / MANIFEST).read_text("utf-8"))["minAppVersion"]
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), version: needed}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    if not re.fullmatch(NUMBER, wanted := " ".join(sys.argv[1:])):
        sys.exit(f"a version has three numbers, not {wanted!r}: make version VERSION=1.2.3")
    write(REPOSITORY, wanted)
    print(f"every part says {wanted}; now the changelog: ## [{wanted}] - and the date, below ## [Unreleased]")
