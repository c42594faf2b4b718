"""Which notes a session has been given already: in a file, so that a restart in the midst of one repeats nothing."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path

from vaultrag.domain import NotePath

SESSIONS = 512
"""So many are remembered; the one that was quiet the longest is forgotten first."""


class SessionMemory:
    """Remembers. Callable from any thread; a file that cannot be read or written costs the memory, nothing else."""

    def __init__(self, path: Path, write: Callable[[Path, str], None]) -> None:
        """Read the sessions of the file.

        Args:
            path: The file.
            write: Writes a small file whole or not at all.
        """
        self._path = path
        self._write = write
        self._lock = threading.Lock()
        self._had: OrderedDict[str, set[str]] | None = None

    def take(self, session: str, paths: Iterable[NotePath]) -> set[NotePath]:
        """Those of the notes that the session has not had; from now on it has had them."""
        with self._lock:
            had = self._loaded()
            known = had.setdefault(session[:200], set())
            had.move_to_end(session[:200])
            fresh = {path for path in paths if path not in known}
            if fresh:
                known |= fresh
                while len(had) > SESSIONS:
                    had.popitem(last=False)
                with contextlib.suppress(OSError, UnicodeError):
                    self._write(self._path, json.dumps({name: sorted(seen) for name, seen in had.items() if seen}))
            return fresh

    def _loaded(self) -> OrderedDict[str, set[str]]:
        if self._had is None:
            self._had = OrderedDict()
            with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
                kept = json.loads(self._path.read_text("utf-8"))
                self._had.update({str(name): set(map(str, seen)) for name, seen in kept.items()})
        return self._had
