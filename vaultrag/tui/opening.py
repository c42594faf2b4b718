"""Opening a note elsewhere: the person's editor, or Obsidian."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from vaultrag.errors import ConfigError

_FALLBACKS = ("sensible-editor", "nano", "vim", "vi")

# Editors that want a line in another way than +LINE.
_GOTO = {"code", "code-insiders", "codium", "cursor", "windsurf"}
_COLON = {"subl", "zed", "hx", "helix", "micro", "atom"}


def editor_command(chosen: str, environ: Mapping[str, str], files: Sequence[Path], line: int) -> list[str]:
    """The command that opens files, the first one at a line.

    Args:
        chosen: As in the settings; empty for VISUAL, else EDITOR, else what is usual.
        environ: The environment.
        files: At least one.
        line: From 1; 0 for none.

    Raises:
        ConfigError: There is no such editor.
    """
    told = chosen or environ.get("VISUAL", "") or environ.get("EDITOR", "")
    if not told.strip():
        told = next((name for name in _FALLBACKS if shutil.which(name, path=environ.get("PATH"))), "")
    try:
        command = shlex.split(told)
    except ValueError as error:
        raise ConfigError(f"the editor {told!r} cannot be read: {error}", hint="export EDITOR=nano") from error
    if not command:
        raise ConfigError("no editor is known", hint="export EDITOR=nano")
    command[0] = os.path.expanduser(command[0])  # noqa: PTH111 - Path.expanduser() raises where there is no such user
    if shutil.which(command[0], path=environ.get("PATH")) is None:
        raise ConfigError(f"the editor {command[0]} is not there", hint="export EDITOR=nano")
    return [*command, *_at(Path(command[0]).name, files, line)]


def _at(editor: str, files: Sequence[Path], line: int) -> list[str]:
    names = [str(file) for file in files]
    if not line:
        return names
    if editor in _GOTO:
        return ["--goto", f"{names[0]}:{line}", *names[1:]]
    if editor in _COLON:
        return [f"{names[0]}:{line}", *names[1:]]
    return [f"+{line}", *names]


def obsidian_url(root: Path, path: str, home: Path, environ: Mapping[str, str]) -> str:
    """The link that makes Obsidian open a note: by its vault's id where Obsidian knows the vault, else by its file."""
    vault = _obsidian_vault(root, home, environ)
    if vault:
        return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(path, safe='', errors='surrogateescape')}"
    return f"obsidian://open?path={quote(str(root / path), safe='', errors='surrogateescape')}"


def open_url(url: str) -> bool:
    """Hand a link to the system; False where no program is known for it."""
    if sys.platform == "darwin":
        return _quietly(["open", url])
    opener = shutil.which("xdg-open")
    if opener is None or not _handled(url.partition(":")[0]):
        return False
    try:
        subprocess.Popen(
            [opener, url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True


def _handled(scheme: str) -> bool:
    """Whether a program is registered for links of this scheme."""
    asker = shutil.which("xdg-mime")
    if asker is None:
        return False
    try:
        told = subprocess.run(
            [asker, "query", "default", f"x-scheme-handler/{scheme}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return bool(told.stdout.strip())


def _quietly(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _obsidian_vault(root: Path, home: Path, environ: Mapping[str, str]) -> str:
    """The id under which Obsidian knows the vault; empty where it does not. Its list is only read."""
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    places = (
        config / "obsidian",
        home / ".var/app/md.obsidian.Obsidian/config/obsidian",
        home / "snap/obsidian/current/.config/obsidian",
        home / "Library/Application Support/obsidian",
    )
    for place in places:
        try:
            vaults = json.loads((place / "obsidian.json").read_text("utf-8"))["vaults"]
            for name, facts in vaults.items():
                if os.path.realpath(facts["path"]) == os.path.realpath(root):
                    return str(name)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue  # not there, or written by a version that we do not know
    return ""
