"""What the search screen is opened for, and how it was left."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vaultrag.client.lines import LineFormat
from vaultrag.config import Places, TuiSettings
from vaultrag.domain import Mode

NOTHING_CHOSEN = 1
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Errand:
    """The options that the screen was started with.

    Attributes:
        printing: Enter prints the choice and leaves; else it opens the editor and comes back.
        form: How a choice is printed.
        start: Start the daemon if it does not run.
        here: The working folder.
    """

    places: Places
    settings: TuiSettings
    here: Path
    query: str = ""
    mode: Mode = "hybrid"
    vault: str = ""
    printing: bool = False
    form: LineFormat = "paths"
    start: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """The process's exit code, and the lines to print."""

    code: int = 0
    lines: tuple[str, ...] = ()
