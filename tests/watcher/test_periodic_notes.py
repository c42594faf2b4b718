"""How periodic notes are named, by the files of Obsidian and of two plugins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vaultrag.domain.dates import PeriodicFormat
from vaultrag.watcher.periodic_notes import CALENDAR_FILE, DAILY_FILE, PERIODIC_FILE, periodic_formats

DEFAULT = PeriodicFormat("daily", "", "YYYY-MM-DD")


def written(root: Path, file: str, table: Any) -> str:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table if isinstance(table, str) else json.dumps(table), "utf-8")
    return str(root)


@pytest.mark.parametrize(
    ("file", "table", "expected"),
    [
        (DAILY_FILE, {"folder": "Daily", "format": "YYYY/MM/DD"}, [PeriodicFormat("daily", "Daily", "YYYY/MM/DD")]),
        (PERIODIC_FILE, {"weekly": {"enabled": True, "folder": "W"}, "yearly": {"enabled": False}},
         [PeriodicFormat("weekly", "W", "gggg-[W]ww"), DEFAULT]),
        (PERIODIC_FILE, {"calendarSets": [{"id": "x", "quarter": {"enabled": True, "format": "YYYY Q", "folder": ""}}]},
         [PeriodicFormat("quarterly", "", "YYYY Q"), DEFAULT]),
        (CALENDAR_FILE, {"weeklyNoteFormat": "GGGG-WW", "weeklyNoteFolder": "W"},
         [DEFAULT, PeriodicFormat("weekly", "W", "GGGG-WW")]),
        (DAILY_FILE, "{broken", [DEFAULT]),
        (DAILY_FILE, [1], [DEFAULT]),
        (PERIODIC_FILE, {"weekly": 3, "calendarSets": [7, {"day": None}]}, [DEFAULT]),
    ],
)  # fmt: skip
def test_formats_are_read(tmp_path: Path, file: str, table: Any, expected: list[PeriodicFormat]) -> None:
    """What is set is read, what is not set is the default, and what cannot be read is passed over."""
    assert list(periodic_formats(written(tmp_path, file, table))) == expected
