"""Clients that pipeline: `python -m tests.bench.flooding COUNT`, ended by its parent; used by ``crowding``."""

from __future__ import annotations

import sys
import threading

from tests.support.daemons import Raw
from vaultrag.config import Places

OUTSTANDING = 100
"""Calls that a client has sent and not read the answer of."""


def flood(places: Places) -> None:
    """Send a new call for each answer, for ever."""
    with Raw(places) as raw:
        raw.sock.settimeout(None)
        call = raw.request("search", {"query": "the", "limit": 1}, 1)
        raw.send(call * OUTSTANDING)
        while raw.line():
            raw.send(call)


if __name__ == "__main__":
    for _ in range(int(sys.argv[1])):
        threading.Thread(target=flood, args=(Places.find(),)).start()
