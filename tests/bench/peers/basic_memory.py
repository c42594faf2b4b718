"""basic-memory (PyPI). It is not measured, for the reason that is given."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager

from tests.bench.peers import Ask, CannotRun, Peer
from tests.bench.stage import Stage


def _open(_: Stage) -> AbstractContextManager[Ask]:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if sys.version_info < (3, 12):
        raise CannotRun(f"every release of it needs Python 3.12 or newer, and this is {here}")
    raise CannotRun("what would ask it is not written yet: it could be tried on no machine with Python 3.12")


PEER = Peer("basic-memory", _open)
