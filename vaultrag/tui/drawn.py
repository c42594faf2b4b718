"""What the preview is handed: lines, and which of them matter. Apart from what draws them, which is slow to load."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text


@dataclass(frozen=True, slots=True)
class Page:
    """Drawn lines, and which of them (first, behind the last) are the passage."""

    lines: tuple[Text, ...] = ()
    passage: tuple[int, int] = (0, 0)
