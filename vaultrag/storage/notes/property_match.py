"""What a property's value shows: ``[[people/jane|Jane Roe]]`` is "Jane Roe", case and accents aside. No SQLite here."""

from __future__ import annotations

from vaultrag.markdown.cleaning import visible
from vaultrag.markdown.links import find_links
from vaultrag.text.tokenize import fold


def value_key(value: str) -> str:
    """Return how a property's name or value is compared: as it is shown, folded as words are."""
    return fold(visible(value)).casefold()


def shows(value: str, key: str) -> bool:
    """Return whether a key stands for a value, or for a link in it by its text, its target or its target's name."""
    if value_key(value) == key:
        return True
    return any(
        fold(name).casefold() == key
        for link in find_links(value, 1)
        for name in (link.alias, link.target, link.target.rpartition("/")[2])
        if name
    )
