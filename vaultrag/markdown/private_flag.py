"""Which notes are kept from agents: those that say so in their header, and those that the settings name. Pure.

When in doubt a note is private: ``private`` hides with any value but a plain no, and what a header says of it counts
even where the header as a whole cannot be read (``frontmatter.salvage``).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from vaultrag.markdown.property_flags import marked

PROPERTY = "private"


def says_private(properties: Mapping[str, str | Sequence[str]]) -> bool:
    """Return whether a note's own properties hide it."""
    return marked(properties, PROPERTY)


def tag_key(tag: str) -> str:
    """Return how a tag is compared: without its ``#``, case aside."""
    return unicodedata.normalize("NFC", tag.strip().removeprefix("#").strip("/")).casefold()


def _no_path(path: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class PrivateRules:
    """Rules of the settings that make notes private, beside the notes' own properties.

    Attributes:
        tags: As ``tag_key`` makes them; tags below them count too.
        by_path: Whether a vault-relative path is private.
        any_path: False where ``by_path`` says no to everything, so that nobody need ask.
    """

    tags: tuple[str, ...] = ()
    by_path: Callable[[str], bool] = _no_path
    any_path: bool = False

    def hides(self, path: str, properties: Mapping[str, str | Sequence[str]], tags: Iterable[str]) -> bool:
        """Return whether a note with these is kept from agents."""
        return bool(self.reason(path, properties, tags))

    def reason(self, path: str, properties: Mapping[str, str | Sequence[str]], tags: Iterable[str]) -> str:
        """Return what keeps such a note from agents; empty for nothing."""
        if says_private(properties):
            return f"its own property {PROPERTY}"
        if self.by_path(path):
            return "its path, by privacy.paths in the settings"
        for tag in tags if self.tags else ():
            key = tag_key(tag)
            if any(key == known or key.startswith(f"{known}/") for known in self.tags):
                return f"its tag #{tag}, by privacy.tags in the settings"
        return ""
