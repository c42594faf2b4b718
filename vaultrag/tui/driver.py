"""The terminal, where Textual's own way does not fit.

- Its size is asked of the stream that is drawn on: with ``$(vaultrag tui)`` stdout is a pipe and knows no size.
- Alt+Enter arrives as ESC CR in terminals without the newer keyboard protocol; Textual would take it for Enter.
- Input that is not a terminal (``something | vaultrag tui``) gives way to the terminal itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from enum import StrEnum

from textual import _ansi_sequences
from textual.driver import Driver


class _Sent(StrEnum):
    ALT_ENTER = "alt+enter"


_SEQUENCES = {"\x1b\r": (_Sent.ALT_ENTER,)}


def driver_class() -> type[Driver] | None:
    """Return the driver for this system; None for Textual's own."""
    if sys.platform == "win32":
        return None
    from textual.drivers.linux_driver import LinuxDriver

    known: dict[str, object] = _ansi_sequences.ANSI_SEQUENCES_KEYS  # type: ignore[assignment]
    for sequence, keys in _SEQUENCES.items():
        known.setdefault(sequence, keys)

    class TerminalDriver(LinuxDriver):
        def _get_terminal_size(self) -> tuple[int, int]:
            try:
                size = os.get_terminal_size(2)
            except OSError:
                return super()._get_terminal_size()
            return size.columns or 80, size.lines or 25

    return TerminalDriver


def can_draw(environ: Mapping[str, str]) -> str:
    """Return why no screen can be drawn here; empty where one can."""
    if not sys.stderr.isatty():
        return "the screen is drawn on the terminal, and stderr is none"
    if environ.get("TERM", "") in ("", "dumb", "unknown"):
        return f"this terminal (TERM={environ.get('TERM', '')}) cannot place its cursor"
    return ""


def take_keys() -> bool:
    """Make stdin the terminal, if it is not; False where there is none."""
    if sys.stdin is not None and sys.stdin.isatty():
        return True
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return False
    os.dup2(terminal, 0)
    os.close(terminal)
    # Textual reads from sys.__stdin__, whatever that was before.
    sys.__stdin__ = sys.stdin = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    return True
