"""How a vault's daily, weekly, monthly, quarterly and yearly notes are named, as Obsidian's own files have it.

The core plugin's ``daily-notes.json``, and the settings of the community plugins Periodic Notes and Calendar. What
cannot be read is left out: a date in the file's name is still found without them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from vaultrag.domain.dates import PeriodicFormat, PeriodicKind
from vaultrag.watcher.disk import Disk
from vaultrag.watcher.filter_files import vault_file

DAILY_FILE = ".obsidian/daily-notes.json"
PERIODIC_FILE = ".obsidian/plugins/periodic-notes/data.json"
CALENDAR_FILE = ".obsidian/plugins/calendar/data.json"

DEFAULTS: Mapping[PeriodicKind, str] = {
    "daily": "YYYY-MM-DD", "weekly": "gggg-[W]ww", "monthly": "YYYY-MM", "quarterly": "YYYY-[Q]Q", "yearly": "YYYY",
}  # fmt: skip
_IN_SETS: Mapping[str, PeriodicKind] = {
    "day": "daily", "week": "weekly", "month": "monthly", "quarter": "quarterly", "year": "yearly",
}  # fmt: skip


def periodic_formats(root: str, disk: Disk | None = None) -> tuple[PeriodicFormat, ...]:
    """Return how the vault's periodic notes are named. Never raises."""
    disk = disk or Disk()
    daily, periodic, calendar = (_table(disk, root, path) for path in (DAILY_FILE, PERIODIC_FILE, CALENDAR_FILE))
    found = [*_plugin(periodic), _format("daily", daily)]
    if _text(calendar, "weeklyNoteFormat") or _text(calendar, "weeklyNoteFolder"):
        form = _text(calendar, "weeklyNoteFormat") or DEFAULTS["weekly"]
        found.append(PeriodicFormat("weekly", _text(calendar, "weeklyNoteFolder"), form))
    return tuple(dict.fromkeys(found))


def _plugin(table: Mapping[str, Any]) -> Iterator[PeriodicFormat]:
    for kind in DEFAULTS:
        one = table.get(kind)
        if isinstance(one, dict) and one.get("enabled"):
            yield _format(kind, one)
    sets = table.get("calendarSets")
    for calendar in sets if isinstance(sets, list) else ():
        for name, kind in _IN_SETS.items():
            one = calendar.get(name) if isinstance(calendar, dict) else None
            if isinstance(one, dict) and one.get("enabled"):
                yield _format(kind, one)


def _format(kind: PeriodicKind, table: Mapping[str, Any]) -> PeriodicFormat:
    return PeriodicFormat(kind, _text(table, "folder"), _text(table, "format") or DEFAULTS[kind])


def _text(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    return value.strip() if isinstance(value, str) else ""


def _table(disk: Disk, root: str, path: str) -> Mapping[str, Any]:
    with suppress(ValueError, RecursionError):
        table = json.loads((vault_file(disk, root, path, []) or b"").decode("utf-8-sig") or "{}")
        if isinstance(table, dict):
            return table
    return {}
