"""Filters become one SQL query over the notes; the arms get the ids that remain, before they rank anything.

(A filter after the ranking would lose notes that stand below the arm's cut.)
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from unicodedata import normalize

import apsw

from vaultrag.domain import Filters, NoteId, PropertyFilter
from vaultrag.storage.notes.property_match import value_key
from vaultrag.storage.private_notes import listed
from vaultrag.storage.sqlite import rows

# What follows the last slash: rtrim takes the name's own letters off the end, which leaves the folder.
_FILE_NAME = "replace(path_key, rtrim(path_key, replace(path_key, '/', '')), '')"
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"

_STATES = {
    # A link of a note to itself (to one of its headings, say) joins it to nothing.
    "orphan": "NOT EXISTS (SELECT 1 FROM links WHERE note_id = notes.id AND key != '' AND key NOT IN ("
    "SELECT key FROM names WHERE note_id = notes.id AND kind != 'heading')) AND NOT EXISTS ("
    "SELECT 1 FROM names JOIN links ON links.key = names.key"
    " WHERE names.note_id = notes.id AND names.key != '' AND names.kind != 'heading' AND links.note_id != notes.id"
    " AND links.note_id NOT IN (SELECT value FROM json_each(?)))",
    "untagged": "NOT EXISTS (SELECT 1 FROM tags WHERE note_id = notes.id)",
    "empty": "body_chars = 0",
    "daily": f"title GLOB '{_DAY}' OR {_FILE_NAME} GLOB '{_DAY}'",
}


_PLAIN = re.compile(r"[a-z0-9][a-z0-9 .:-]*")
"""What stands in the stored JSON as it is, but for case; and means nothing to LIKE."""


def matching_ids(
    connection: apsw.Connection, filters: Filters, hidden: frozenset[NoteId] = frozenset()
) -> frozenset[NoteId]:
    """Ids of the notes that meet every condition; for a reader for whom those in ``hidden`` do not exist."""
    conditions: list[str] = []
    values: list[object] = []
    for negated in (False, True):
        for condition, bound in _conditions(filters, negated, listed(hidden)):
            conditions.append(f"NOT ({condition})" if negated else f"({condition})")
            values.extend(bound)
    if filters.after:
        conditions.append("mtime_ns >= ?")
        values.append(_start_of(filters.after))
    if filters.before:
        conditions.append("mtime_ns < ?")
        values.append(_start_of(filters.before))
    sql = "SELECT id FROM notes WHERE " + (" AND ".join(conditions) or "1")
    return frozenset(row[0] for row in rows(connection, sql, values)) - hidden


def _conditions(filters: Filters, negated: bool, hidden: str) -> list[tuple[str, list[object]]]:
    found: list[tuple[str, list[object]]] = []
    for tag in filters.not_tags if negated else filters.tags:
        key = _key(tag)
        found.append(
            (
                "id IN (SELECT note_id FROM tags WHERE key = ? OR key >= ? AND key < ?)",
                [key, key + "/", key + "0"],  # "0" follows "/": the tags below this one, by the index
            )
        )
    for path in filters.not_paths if negated else filters.paths:
        found.append(("instr(path_key, ?)", [_key(path.lstrip("/"))]))
    for name in filters.not_files if negated else filters.files:
        found.append((f"instr({_FILE_NAME}, ?)", [_key(name)]))
    for wanted in filters.not_properties if negated else filters.properties:
        found.append(_property(wanted))
    for state in filters.not_states if negated else filters.states:
        found.append((_STATES[state], [hidden] if state == "orphan" else []))
    return found


def _property(wanted: PropertyFilter) -> tuple[str, list[object]]:
    base = f"EXISTS (SELECT 1 FROM json_each(properties) AS p WHERE {_same('p.key')}"
    name: list[object] = [value_key(wanted.name)] * 2
    rarer = value_key(wanted.name if wanted.value is None else wanted.value)
    if _PLAIN.fullmatch(rarer):  # to look for the letters first is several times faster than to read every header
        base = f"(properties LIKE ? OR {_beyond_ascii('properties')}) AND {base}"
        name.insert(0, f"%{rarer}%")
    if wanted.value is None:
        return base + ")", name
    test = (
        " AND CASE p.type WHEN 'array' THEN"
        f" EXISTS (SELECT 1 FROM json_each(p.value) AS v WHERE {_same('v.value')})"
        f" ELSE {_same('p.value')} END)"
    )
    return base + test, [*name, *[value_key(wanted.value)] * 4]


def _same(column: str) -> str:
    """Return the column shows a key (bound twice). Only links and texts beyond ASCII need Python's slow function."""
    text = f"CAST({column} AS TEXT)"
    return f"({text} = ? COLLATE NOCASE OR (({_beyond_ascii(text)} OR instr({text}, '[')) AND shows({text}, ?)))"


def _beyond_ascii(text: str) -> str:
    return f"octet_length({text}) > length({text})"  # a pattern takes many times as long to say so


_FIRST, _LAST = date(1700, 1, 1), date(2250, 1, 1)
"""Nanoseconds since the epoch reach no further in 64 bits; no note does either."""


def _start_of(day: date) -> int:
    """Midnight at the beginning of the day, by the machine's own calendar, in nanoseconds since the epoch."""
    day = min(max(day, _FIRST), _LAST)
    return int(datetime.combine(day, time()).astimezone().timestamp()) * 1_000_000_000


def _key(text: str) -> str:
    return normalize("NFC", text).casefold()
