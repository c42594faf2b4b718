"""The facade that every client reaches, whatever it speaks: search, get, related, tags, status, reindex.

``VaultService`` answers for one vault, ``Service`` for all that are served. Nothing here knows of sockets, and nothing
here writes to a vault. All methods may be called from any thread.

``asking`` searches, ``reading`` hands out notes, ``faring`` tells how things stand; ``vault`` and ``fleet`` put them
together.
"""

from vaultrag.app.context import LISTED, MAX_LIMIT, VaultContext
from vaultrag.app.registry import Service
from vaultrag.app.vault import VaultService

__all__ = ["LISTED", "MAX_LIMIT", "Service", "VaultContext", "VaultService"]
