"""Obsidian's own list of vaults, wherever it was installed from. It is only read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def known_vaults(home: Path, environ: Mapping[str, str]) -> dict[str, Path]:
    """Return the folders that Obsidian knows, by its ids, the one opened last first. Some may be gone by now."""
    opened: dict[str, tuple[float, Path]] = {}
    for place in _places(home, environ):
        try:
            vaults = json.loads((place / "obsidian.json").read_text("utf-8"))["vaults"]
            for name, facts in vaults.items():
                opened[str(name)] = (float(facts.get("ts", 0)), Path(facts["path"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue  # not there, or written by a version that we do not know
    return {name: path for name, (_, path) in sorted(opened.items(), key=lambda item: -item[1][0])}


def _places(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    windows = environ.get("APPDATA")
    return (
        config / "obsidian",
        home / ".var/app/md.obsidian.Obsidian/config/obsidian",
        home / "snap/obsidian/current/.config/obsidian",
        home / "Library/Application Support/obsidian",
        *((Path(windows) / "obsidian",) if windows else ()),
    )
