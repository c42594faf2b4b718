"""What the preview is handed: lines, and which of them matter. Apart from what draws them, which is slow to load."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text


@dataclass(frozen=True, slots=True)
class Page:
    """Drawn lines, which of them (first, behind the last) are the passage, and the first in it that matches."""

    lines: tuple[Text, ...] = ()
    passage: tuple[int, int] = (0, 0)
    match: int = 0
