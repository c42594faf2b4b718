"""One version everywhere: the package, the plugin's files and the Neovim client."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import vaultrag
from tests.packaging import versions

ROOT = Path(__file__).parents[2]
BRIDGE = ROOT / "plugin-bridge"
PLUGIN = BRIDGE / "obsidian"


def read(name: str) -> Any:
    return json.loads((PLUGIN / name).read_text("utf-8"))


def test_every_part_has_the_packages_version() -> None:
    """Plugin, Neovim client and manual page say what the Python package says; `make version` writes it everywhere."""
    found = versions.said(ROOT)
    assert found[versions.SOURCE] == (vaultrag.__version__,)
    assert sum(map(len, found.values())) == 7
    assert versions.disagreements(ROOT) == []


def test_the_manifest_keeps_the_directorys_rules() -> None:
    """What the directory of community plugins asks of a manifest."""
    manifest = read("manifest.json")
    assert re.fullmatch(r"[a-z][a-z-]*[a-z]", manifest["id"])
    assert not manifest["id"].endswith("plugin")
    assert "obsidian" not in manifest["id"]
    assert not re.search("obsidian|plugin", manifest["name"], re.IGNORECASE)
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert len(manifest["description"]) <= 250
    assert manifest["description"].endswith(".")
    assert manifest["isDesktopOnly"] is True


def test_dependencies_are_pinned() -> None:
    """Every package that takes part in the build has one version, so that the build can be made again."""
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in read("package.json")["devDependencies"].values())
    assert "dependencies" not in read("package.json")
