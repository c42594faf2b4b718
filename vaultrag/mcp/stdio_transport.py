"""stdin and stdout as the protocol has them: one message a line, and nothing else.

Whatever else is printed in this process (by a library, by C code, by a program it starts) goes to stderr. Hosts show
that in their logs; on stdout it would end the session.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def take_stdout() -> TextIO:
    """Return the real stdout, for the protocol alone, and point descriptor 1 and ``sys.stdout`` to stderr."""
    sys.stdout.flush()
    _have_stderr()
    wire = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return io.TextIOWrapper(os.fdopen(wire, "wb"), encoding="utf-8", newline="\n")


def _have_stderr() -> None:
    """Open a stderr for a process that was started without one; else the next descriptor would become it."""
    try:
        os.fstat(2)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
