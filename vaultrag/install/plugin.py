"""The Obsidian plugin's files: where the built ones are, what of them a vault has, and putting them there."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import vaultrag
from vaultrag.errors import ServiceError

FILES = ("main.js", "manifest.json", "styles.css")
FOLDER = ".obsidian/plugins/vaultrag"
ENABLED = "in Obsidian: Settings, Community plugins, Vaultrag"


def installed_version(root: Path) -> str | None:
    """Return the version in a vault; None without the plugin, empty where its files are incomplete."""
    folder = root / FOLDER
    if not folder.is_dir():
        return None
    try:
        version = json.loads((folder / "manifest.json").read_text("utf-8"))["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return str(version) if (folder / "main.js").is_file() else ""


def is_enabled(root: Path) -> bool:
    """Return whether Obsidian has been told to run it."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return "vaultrag" in json.loads((root / ".obsidian/community-plugins.json").read_text("utf-8"))
    return False


def built() -> Path:
    """Return the folder of the built plugin: in a clone, or beside the package.

    Raises:
        ServiceError: There is none, with the command that builds it.
    """
    package = Path(vaultrag.__file__).parent
    clone = package.parent / "plugin-bridge/obsidian"
    for folder in (package / "plugin", clone):
        if all((folder / name).is_file() for name in FILES):
            return folder
    if clone.is_dir():
        raise ServiceError(
            "the plugin has not been built yet (that wants Node 20 or newer)", hint=f"make -C '{package.parent}' plugin"
        )
    raise ServiceError(
        "the plugin's built files did not come with this installation",
        hint="git clone the project, and there: make plugin VAULT=~/Notes",
    )


def put_into(root: Path) -> Path:
    """Copy the plugin into a vault; the folder it is in then.

    Raises:
        ServiceError: It is not built, the vault is none of Obsidian's yet, or it cannot be written.
    """
    source = built()
    if not (root / ".obsidian").is_dir():
        raise ServiceError(f"{root} is no vault of Obsidian's yet", hint="open it in Obsidian once")
    folder = root / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            draft = folder / f".{name}.new"
            draft.write_bytes((source / name).read_bytes())
            draft.replace(folder / name)
    except OSError as error:
        raise ServiceError(f"{folder} cannot be written: {error.strerror or error}", hint=f"ls -la '{root}'") from error
    return folder
