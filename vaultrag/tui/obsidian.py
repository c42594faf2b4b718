"""Opening a note in Obsidian, or a file in the program that the system has for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from vaultrag.install.obsidian import known_vaults

OPENING_S = 3.0
"""An opener that has not failed after so long has opened."""


def obsidian_url(root: Path, path: str, home: Path, environ: Mapping[str, str]) -> str:
    """Return the link that makes Obsidian open a note: by its vault's id where Obsidian knows it, else by its file."""
    vault = _obsidian_vault(root, home, environ)
    if vault:
        return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(path, safe='', errors='surrogateescape')}"
    return f"obsidian://open?path={quote(str(root / path), safe='', errors='surrogateescape')}"


def open_url(url: str) -> bool:
    """Hand a link to the system; False where no program is known for it."""
    return (sys.platform == "darwin" or _handled(url.partition(":")[0])) and open_file(url)


def open_file(url: str) -> bool:
    """Hand a file, or a link, to the system; False where no program opens it."""
    if sys.platform == "darwin":
        return _quietly(["open", url])
    opener = shutil.which("xdg-open")
    if opener is None:
        return False
    try:
        opening = subprocess.Popen(
            [opener, url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return opening.wait(OPENING_S) == 0
    except subprocess.TimeoutExpired:
        return True  # on some desktops it stays for as long as the program that it has opened
    except OSError:
        return False


def _handled(scheme: str) -> bool:
    """Return True if a program is registered for links of this scheme."""
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
    """Return the id under which Obsidian knows the vault; empty where it does not."""
    real = os.path.realpath(root)
    return next((name for name, path in known_vaults(home, environ).items() if os.path.realpath(path) == real), "")
