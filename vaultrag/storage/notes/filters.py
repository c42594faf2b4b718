"""Filters become one SQL query over the notes; the arms get the ids that remain, before they rank anything.

(A filter after the ranking would lose notes that stand below the arm's cut.)
"""

from __future__ import annotations

import re
from unicodedata import normalize

import apsw

from vaultrag.domain import Filters, NoteId, PropertyFilter
from vaultrag.domain.dates import ALWAYS, DateFilter, Period, shifted
from vaultrag.domain.kinds import suffixes_of
from vaultrag.storage.notes.dates import condition as date_condition
from vaultrag.storage.notes.property_match import value_key
from vaultrag.storage.private_notes import listed
from vaultrag.storage.sqlite import rows

# What follows the last slash: rtrim takes the name's own letters off the end, which leaves the folder.
_FILE_NAME = "replace(path_key, rtrim(path_key, replace(path_key, '/', '')), '')"
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"

_STATES = {
    # A link of a note to itself (to one of its headings, say) joins it to nothing.
    "orphan": "NOT EXISTS (SELECT 1 FROM links WHERE note_id = notes.id AND key != '' AND key NOT IN ("
    "SELECT key FROM names WHERE note_id = notes.id AND kind != 'heading')) AND NOT EXISTS ("
    "SELECT 1 FROM names JOIN links ON links.key = names.key"
    " WHERE names.note_id = notes.id AND names.key != '' AND names.kind != 'heading' AND links.note_id != notes.id"
    " AND links.note_id NOT IN (SELECT value FROM json_each(?)))",
    "untagged": "NOT EXISTS (SELECT 1 FROM tags WHERE note_id = notes.id)",
    "empty": "body_chars = 0",
    "daily": "EXISTS (SELECT 1 FROM dates WHERE note_id = notes.id AND source = 'daily note')"
    f" OR title GLOB '{_DAY}' OR {_FILE_NAME} GLOB '{_DAY}.md'",
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
    for wanted in _dates(filters):
        condition, bound = date_condition(wanted)
        conditions.append(f"NOT ({condition})" if wanted.negated else f"({condition})")
        values.extend(bound)
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
    for kinds in filters.not_kinds if negated else filters.kinds:
        ends = suffixes_of(kinds)
        found.append((" OR ".join(["path_key LIKE ?"] * len(ends)), [f"%{end}" for end in ends]))
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


def _dates(filters: Filters) -> list[DateFilter]:
    found = list(filters.dates)
    if filters.after:
        found.append(DateFilter("about", Period(filters.after, ALWAYS.last), "after"))
    if filters.before:
        found.append(DateFilter("about", Period(ALWAYS.first, shifted(filters.before, -1)), "before"))
    return found


def _key(text: str) -> str:
    return normalize("NFC", text).casefold()
