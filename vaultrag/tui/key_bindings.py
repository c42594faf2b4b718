"""Which key does what, as the settings say. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields

from vaultrag.config import KeySettings
from vaultrag.errors import ConfigError

_NAMED = {
    "enter", "tab", "escape", "space", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown",
    "up", "down", "left", "right", "slash", "underscore", "backslash", "at", "minus", "plus", "comma", "full_stop",
    *(f"f{number}" for number in range(1, 25)),
}  # fmt: skip
_ORDER = ("alt", "ctrl", "shift")
_SHOWN = {
    "enter": "Enter", "tab": "Tab", "escape": "Esc", "up": "Up", "down": "Down", "left": "Left", "right": "Right",
    "pageup": "PgUp", "pagedown": "PgDn", "slash": "/", "underscore": "_",
}  # fmt: skip
_MODIFIERS = {"ctrl": "Ctrl", "alt": "Alt", "shift": "Shift"}
_LETTER = re.compile(r"[a-z0-9]")


def keymap(settings: KeySettings) -> dict[str, str]:
    """Key to action.

    Raises:
        ConfigError: A key that does not exist, that is needed for typing, or that does two things.
    """
    keys: dict[str, str] = {}
    for action in (field.name for field in fields(settings)):
        for written in getattr(settings, action):
            key = _checked(written, action)
            if keys.setdefault(key, action) != action:
                raise ConfigError(f"tui.keys: {written} stands for {keys[key]} and for {action}", hint=_HINT)
    if not any(action in ("leave", "abort") for action in keys.values()):
        raise ConfigError("tui.keys: there is no key to leave with", hint=_HINT)
    return keys


_HINT = "vaultrag config edit"


def shown(settings: KeySettings, action: str) -> str:
    """Return the first key of an action as people write it, ``Ctrl+O``; empty where it has none."""
    keys = getattr(settings, action)
    return key_shown(keys[0]) if keys else ""


def key_shown(key: str) -> str:
    """``ctrl+o`` as ``Ctrl+O``."""
    *modifiers, name = key.lower().split("+")
    return "+".join([*(_MODIFIERS.get(one, one) for one in modifiers), _SHOWN.get(name, name.upper())])


def sentences(explained: Mapping[str, str], settings: KeySettings) -> list[tuple[str, str]]:
    """Each action's keys and what it does.

    Args:
        explained: Action to its sentence.
        settings: The keys.
    """
    rows = []
    for action in (field.name for field in fields(settings)):
        keys = [key_shown(key) for key in getattr(settings, action) if key != "ctrl+underscore"]
        if keys:
            rows.append((", ".join(keys), explained.get(action, action)))
    return rows


def _checked(written: str, action: str) -> str:
    """Return the key as the screen names it."""
    *modifiers, name = written.strip().lower().split("+")
    known = all(one in _MODIFIERS for one in modifiers) and len(set(modifiers)) == len(modifiers)
    if not known or not (name in _NAMED or _LETTER.fullmatch(name)):
        raise ConfigError(
            f"tui.keys.{action}: there is no key {written!r}", hint='write it like "ctrl+o", "alt+up" or "f5"'
        )
    if not modifiers and (_LETTER.fullmatch(name) or name in ("space", "backspace")):
        raise ConfigError(f"tui.keys.{action}: {written!r} is needed for typing", hint='add "ctrl+" or "alt+"')
    return "+".join([*(one for one in _ORDER if one in modifiers), name])
