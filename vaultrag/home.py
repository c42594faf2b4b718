"""Where vaultrag's own files lie: all that a client needs to find the daemon, and light.

(``config.Places`` says the rest; it takes as long to load as a whole `vaultrag push` may take.)
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

TELEMETRY_OFF = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "OTEL_SDK_DISABLED": "true"}
"""What switches off the reporting in libraries that have some: onnxruntime (on by default from 1.30), huggingface_hub
(comes with tokenizers, is never imported) and OpenTelemetry (comes with mcp; sends only where its SDK is installed)."""


def own_home(environ: Mapping[str, str]) -> Path | None:
    """Return the one folder for everything, where ``VAULTRAG_HOME`` is set."""
    home = environ.get("VAULTRAG_HOME")
    return Path(home).expanduser().absolute() if home else None


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Indexes, the list of vaults, the discovery file."""
    base = own_home(os.environ if environ is None else environ)
    if base is not None:
        return base / "data"
    import platformdirs  # not needed where the folder is named

    return Path(platformdirs.user_data_dir("obsidian-rag", appauthor=False))


def discovery_file(data: Path) -> Path:
    """Tells clients where the daemon answers."""
    return data / "daemon.json"


LEFT_BEHIND = ("deviceid", "onnxruntime.db")
"""What the runtime's telemetry wrote under earlier versions of vaultrag, below the user's cache folder."""


def remove_left_behind(cache: Path | None = None) -> bool:
    """Remove the device id and the database that the runtime's telemetry left, and their folders where these are empty.

    Another program that uses the runtime with its telemetry on makes them again; it loses nothing that it needs.

    Args:
        cache: The user's cache folder; by default where it is on this system.

    Returns:
        Whether there was anything to remove.
    """
    cache = cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "Microsoft/DeveloperTools/.onnxruntime"
    removed = False
    for name in LEFT_BEHIND:
        for path in folder.glob(f"{name}*"):  # the database's log and index, and what lies beside the id, too
            with contextlib.suppress(OSError):
                path.unlink()
                removed = True
    for path in (folder, folder.parent, folder.parent.parent):
        with contextlib.suppress(OSError):  # not empty, or not there
            path.rmdir()
    return removed
