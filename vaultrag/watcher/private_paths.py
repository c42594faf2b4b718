"""Paths that the settings keep from agents, in the syntax of ``.gitignore``.

Stricter than the patterns that leave notes out: letter case never matters, so that no other spelling of a name gets
past, and a pattern that makes no sense is an error. (To pass it over would show what it was meant to hide.)
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from pathspec import GitIgnoreSpec

from vaultrag.errors import ConfigError
from vaultrag.watcher.paths import matchable, parent


def private_paths(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return whether a vault-relative path is private: itself, or a folder it lies in.

    Raises:
        ConfigError: A pattern makes no sense.
    """
    for pattern in patterns:
        try:
            # Of a remark, a blank and a bare "/" nothing is made.
            if not any(made.include is not None for made in GitIgnoreSpec.from_lines([pattern]).patterns):
                raise ConfigError(f"privacy.paths: {pattern!r} names no path", hint='for example paths = ["Diary/"]')
        except ValueError as error:  # pathspec's GitIgnorePatternError
            raise ConfigError(
                f"privacy.paths: {pattern!r} is no pattern", hint='for example paths = ["Diary/", "*.secret.md"]'
            ) from error
    spec = GitIgnoreSpec.from_lines(_folded(pattern) for pattern in patterns)

    def is_private(path: str) -> bool:
        path = matchable(_folded(path))
        if spec.match_file(path):
            return True
        # As in git, what lies in a private folder is private, whatever a later "!" says.
        while path := parent(path):
            if spec.match_file(path + "/"):
                return True
        return False

    return is_private


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
