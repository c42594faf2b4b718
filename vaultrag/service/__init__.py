"""The facade that every client reaches, whatever it speaks: search, get, related, tags, status, reindex.

``VaultService`` answers for one vault, ``Service`` for all that are served. Nothing here knows of sockets, and nothing
here writes to a vault. All methods may be called from any thread.

``asking`` searches, ``reading`` hands out notes, ``faring`` tells how things stand; ``vault`` and ``fleet`` put them
together.
"""

from vaultrag.service.fleet import Service
from vaultrag.service.parts import LISTED, MAX_LIMIT, VaultParts
from vaultrag.service.vault import VaultService

__all__ = ["LISTED", "MAX_LIMIT", "Service", "VaultParts", "VaultService"]
