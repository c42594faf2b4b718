"""A batch of notes into the tables of the note index: few statements, each with many rows.

Two things decide what a batch costs. SQLite works on a statement without asking this process for anything, so that
other threads run meanwhile; with a statement for each row it would have to wait for them each time. And a full-text
table writes out what it has gathered whenever a statement begins: in small pieces, which it then merges over and over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, islice

import apsw

from vaultrag.domain import NoteId, NoteValues
from vaultrag.storage.lexical.postings import stemmed
from vaultrag.storage.schema import FIELDS
from vaultrag.storage.sqlite import rows, scalar

MAX_VALUES = 32_000
"""Values bound in one statement; SQLite takes 32,766."""

KEPT_ROWS = 16
"""A statement of so many rows, such as a note that was edited needs, is kept for the next time."""

GATHERED_BYTES = 8 << 20
"""The full-text table gathers so much before it writes it out: the words of some 1,000 notes. It is held only while
there is so much to write, and more would not fit into the processor's cache."""

LARGE = 256
"""Notes in a batch that is surely not the only one: its words are written down and not merged with others."""

LARGE_CHARS = 2_000_000
"""Characters in a batch whose words are not merged at once either: one long note, that others wait for."""

_MERGED_AT_ONCE = {"automerge": 4, "crisismerge": 16}
_MERGED_LATER = {"automerge": 0, "crisismerge": 256}
"""SQLite's own choice merges a little with each write, over and over; the other lets pieces lie until
``merge_segments`` merges them once. A word is looked for in each piece meanwhile: about 100 at 100,000 notes, half a
millisecond more."""

TIDY_PAGES = 256
"""Of 4 KB, written by one call of ``merge_segments``: some 30 ms of work."""

PURGED_STEMS = 500
"""Whose forms one call of ``purge_forms`` looks up: some 20 ms."""

_ENDED = re.compile(r"[a-z0-9]{2,}[a-z](?![a-z0-9])")
_ENDED_OR_FOREIGN = re.compile(r"[a-z0-9]{2,}[a-z](?![a-z0-9])|[^\W\d_]{3,40}")

_NOTE_COLUMNS = (
    "path", "path_nfc", "path_key", "title", "content_hash", "text_hash", "size", "mtime_ns", "inode", "ctime_ns",
    "birth_ns", "body_line", "body_chars", "properties", "problems",
)  # fmt: skip
_REPLACING = (
    f" ON CONFLICT (id) DO UPDATE SET ({', '.join(_NOTE_COLUMNS)}) ="
    f" ({', '.join(f'excluded.{name}' for name in _NOTE_COLUMNS)})"
)

_PARTS: tuple[tuple[str, tuple[str, ...], Callable[[NoteValues], Iterable[tuple[str | int, ...]]]], ...] = (
    ("names", ("note_id", "kind", "name", "key", "line", "level"), lambda values: values.names),
    ("tags", ("note_id", "tag", "key"), lambda values: values.tags),
    ("links", ("note_id", "target", "key", "kind", "alias", "heading", "block", "line"), lambda values: values.links),
    ("dates", ("note_id", "kind", "first", "last", "source", "line", "last_line"), lambda values: values.dates),
    ("words", ("rowid", *FIELDS), lambda values: (values.words,)),
)
_THESE = "IN (SELECT value FROM json_each(?))"
_LETTERS = (
    f"INSERT INTO name_letters (rowid, key) SELECT id, key FROM names WHERE note_id {_THESE} AND kind != 'heading'"
)
_FORGETTING = (
    f"DELETE FROM name_letters WHERE rowid IN (SELECT id FROM names WHERE note_id {_THESE} AND kind != 'heading')",
    *(f"DELETE FROM {table} WHERE {columns[0]} {_THESE}" for table, columns, _ in _PARTS),
)


def set_hash_size(connection: apsw.Connection) -> None:
    """Have the full-text table gather ``GATHERED_BYTES``."""
    _set(connection, {"hashsize": GATHERED_BYTES})


def merged_later(notes: Sequence[NoteValues]) -> bool:
    """Return True for a batch whose segments are left to ``merge_segments``."""
    return len(notes) >= LARGE or sum(len(text) for values in notes for text in values.words) >= LARGE_CHARS


def needs_merge(connection: apsw.Connection) -> bool:
    """Return whether large batches were written since ``merge_segments`` last came to its end."""
    return _setting(connection, "automerge") == _MERGED_LATER["automerge"]


def merge_segments(connection: apsw.Connection) -> bool:
    """Merge some of what large batches have left lying beside each other; whether there is more to do."""
    before = connection.total_changes()
    connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (TIDY_PAGES,))
    if connection.total_changes() - before > 1:  # the command itself counts for one
        return True
    _set(connection, _MERGED_AT_ONCE)
    return False


def purge(connection: apsw.Connection, *, begin: bool) -> bool:
    """Take a step of removing what deleted notes and earlier texts left in the full-text tables.

    Such a table only marks what is deleted; its words stay in the file, to be read by anybody, until the pieces that
    hold them are merged. To merge all of 10,000 notes takes 0.3 s, in steps of some 30 ms.

    Args:
        begin: The first step; the others go on with it.

    Returns:
        Whether there is more to do.
    """
    before = connection.total_changes()
    for table in ("words", "name_letters"):
        pages = -TIDY_PAGES if begin else TIDY_PAGES
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))
    return begin or connection.total_changes() - before > 2  # the commands themselves count for two


def _setting(connection: apsw.Connection, name: str) -> int | None:
    found: int | None = scalar(connection, "SELECT v FROM words_config WHERE k = ?", (name,))
    return found


def _set(connection: apsw.Connection, settings: Mapping[str, int]) -> None:
    """Change a setting of the full-text table, which the file remembers."""
    for name, value in settings.items():
        if _setting(connection, name) != value:
            connection.execute("INSERT INTO words (words, rank) VALUES (?, ?)", (name, value))


def write(connection: apsw.Connection, notes: Sequence[NoteValues]) -> list[NoteId]:
    """Add or replace notes, inside the caller's transaction; returns their ids, in order."""
    ids = _ids(connection, [values.entry.note_id for values in notes])
    written = list(zip(ids, notes, strict=True))
    if merged_later(notes):
        _set(connection, _MERGED_LATER)
    _insert(
        connection,
        "notes",
        ("id", *_NOTE_COLUMNS),
        ((note_id, *values.note) for note_id, values in written),
        _REPLACING,
    )
    for table, columns, rows_of in _PARTS:
        _insert(connection, table, columns, ((note_id, *row) for note_id, values in written for row in rows_of(values)))
    connection.execute(_LETTERS, (json.dumps(ids),))
    _write_forms(connection, notes)
    return ids


def _write_forms(connection: apsw.Connection, notes: Sequence[NoteValues]) -> None:
    """Write down the words that have an ending, which only what is all ASCII has, and those that words are made of."""
    words: set[str] = set()
    for values in notes:
        for text in values.words:
            words.update((_ENDED if text.isascii() else _ENDED_OR_FOREIGN).findall(text.lower()))
    forms = list(words)
    pairs = [
        (stem, form)
        for stem, form in zip(stemmed(connection, forms), forms, strict=True)
        if stem != form or form.isalpha()
    ]
    connection.execute(
        "INSERT OR IGNORE INTO forms SELECT value ->> 0, value ->> 1 FROM json_each(?)", (json.dumps(pairs),)
    )


def purge_forms(connection: apsw.Connection, after: str) -> str:
    """Take out some of the forms that no note holds any more.

    Args:
        after: The last stem that the call before looked at.

    Returns:
        The last stem that was looked at; empty at the end.
    """
    stems = [stem for (stem,) in rows(
        connection, "SELECT DISTINCT stem FROM forms WHERE stem > ? ORDER BY stem LIMIT ?", (after, PURGED_STEMS)
    )]  # fmt: skip
    if not stems:
        return ""
    connection.execute(
        "DELETE FROM forms WHERE stem > ? AND stem <= ?"
        " AND NOT EXISTS (SELECT 1 FROM words_vocabulary WHERE term = form)",
        (after, stems[-1]),
    )
    return str(stems[-1])


def forget(connection: apsw.Connection, note_ids: Collection[NoteId]) -> None:
    """Take out everything about these notes but their own rows."""
    if note_ids:
        for sql in _FORGETTING:
            connection.execute(sql, (json.dumps(list(note_ids)),))


def _ids(connection: apsw.Connection, asked: Sequence[NoteId]) -> list[NoteId]:
    """Return the id of each note, old or new.

    The old rows of a note that is there already are forgotten. One that was deleted meanwhile is a new note; an id is
    never given twice.
    """
    known = [note_id for note_id in asked if note_id]
    there: set[NoteId] = set()
    if known:
        there = {row[0] for row in rows(connection, f"SELECT id FROM notes WHERE id {_THESE}", (json.dumps(known),))}
        forget(connection, there)
    last = int(scalar(connection, "SELECT seq FROM sqlite_sequence WHERE name = 'notes'") or 0)
    ids: list[NoteId] = []
    for note_id in asked:
        if note_id not in there:
            last += 1
            note_id = NoteId(last)
        ids.append(note_id)
    return ids


def _insert(
    connection: apsw.Connection,
    table: str,
    columns: Sequence[str],
    new: Iterable[tuple[str | int, ...]],
    otherwise: str = "",
) -> None:
    """Rows into a table, in as few statements as SQLite's limit on bound values allows."""
    begin = f"INSERT INTO {table} ({', '.join(columns)}) VALUES "
    row = f"({', '.join('?' * len(columns))})"
    left = iter(new)
    while many := list(islice(left, MAX_VALUES // len(columns))):
        sql = begin + ", ".join([row] * len(many)) + otherwise
        # A statement that is kept keeps its values, and one of just so many rows hardly comes again.
        connection.execute(sql, tuple(chain.from_iterable(many)), can_cache=len(many) <= KEPT_ROWS)
