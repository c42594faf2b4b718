"""The vaults of a daemon and the models of their vectors, from its files alone. Light, for ``vaultrag --version``."""

from __future__ import annotations

import json
from pathlib import Path

from vaultrag.config import Places, vault_id
from vaultrag.domain import Identity
from vaultrag.errors import StoreError
from vaultrag.storage.inspection import VectorsFile


def known_roots(places: Places) -> list[Path]:
    """Return the vaults that a daemon would serve. None where the list cannot be read: ``doctor`` says so."""
    try:
        return [Path(root) for root in json.loads(places.registry.read_text("utf-8"))["vaults"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def identities(places: Places) -> dict[Path, Identity | str | None]:
    """Return what each vault's vectors were made with; why that cannot be read; None where there are none."""
    found: dict[Path, Identity | str | None] = {}
    for root in known_roots(places):
        try:
            found[root] = VectorsFile(places.vault_folder(vault_id(root))).identity()
        except StoreError as error:
            found[root] = error.message
    return found
