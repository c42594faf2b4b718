"""What ``vaultrag`` shows by itself: its version; and the search screen, which is to be there at once.

``vaultrag`` alone opens it without the parser of commands.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from vaultrag import __version__
from vaultrag.build import build_id
from vaultrag.cli.output import write
from vaultrag.client.lines import LineFormat
from vaultrag.config import Places, load
from vaultrag.domain import Mode


def show(
    query: str = "",
    *,
    vault: str = "",
    mode: Mode = "hybrid",
    printing: bool = False,
    form: LineFormat = "paths",
    start: bool = True,
) -> int:
    """Open the search screen, print what was chosen on it, and return the exit code."""
    places = Places.find()
    settings = load(places.config_file).tui
    from vaultrag.tui.launch_options import Errand  # brings in Textual: nothing that other commands need
    from vaultrag.tui.run import run

    printing = printing or not sys.stdout.isatty()
    left = run(Errand(places, settings, Path.cwd().resolve(), query, mode, vault, printing, form, start))
    write("".join(f"{line}\n" for line in left.lines))
    return left.code


def version_lines() -> Iterator[str]:
    """Return the version, the build, and the model of each vault's vectors. The first line alone is for programs."""
    yield f"vaultrag {__version__}"
    yield f"build {build_id()}, Python {platform.python_version()}"
    places = Places.find()
    if not places.registry.exists():
        return
    from vaultrag.doctor.known_vaults import identities  # brings in databases: nothing that other commands need

    for root, identity in identities(places).items():
        if identity is None:
            yield f"index of {root.name}: words only"
        elif isinstance(identity, str):
            yield f"index of {root.name}: {identity}"
        else:
            yield f"index of {root.name}: identity {identity.key} ({identity.provider} {identity.model})"


def possible() -> bool:
    """Return True if ``vaultrag`` alone may open the screen: a person at a terminal that can place its cursor."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    at_terminal = all(stream is not None and stream.isatty() for stream in streams)
    return at_terminal and os.environ.get("TERM", "") not in ("", "dumb", "unknown")
