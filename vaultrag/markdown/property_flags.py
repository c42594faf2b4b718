"""What a note's properties say in a word: marks that are set or not, and texts whatever their name's spelling. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Properties = Mapping[str, str | Sequence[str]]

_NO = frozenset(("", "false", "no", "off", "0"))


def marked(properties: Properties, name: str) -> bool:
    """Return whether a mark is set: with any value but a plain no."""
    for key, value in properties.items():
        if key.partition(".")[0].casefold() == name and any(
            text.strip().casefold() not in _NO for text in texts(value)
        ):
            return True
    return False


def texts(value: str | Sequence[str]) -> Sequence[str]:
    """Return a property's values, be they one or several."""
    return (value,) if isinstance(value, str) else value


def key_of(name: str) -> str:
    """Return how a property's name is compared: ``Valid-From`` is ``valid_from``."""
    return name.casefold().replace("-", "_")


def first_text(properties: Properties, *names: str) -> str:
    """Return the first of these properties that says something, on one line; of a list its first text."""
    for wanted in names:
        for name, value in properties.items():
            if key_of(name) == wanted and (text := " ".join(next(iter(texts(value)), "").split())):
                return text
    return ""
