"""Finding rows that SQLite takes for sound and no reader can make sense of.

SQLite checks the structure of its pages, not the bytes in a cell: a flipped byte in a title or in a JSON text passes
``quick_check``. No row that is written by this program fails these checks.
"""

from __future__ import annotations

import apsw

_TEXTS = {
    "meta": ("key", "value"),
    "notes": ("path", "path_nfc", "path_key", "title", "content_hash", "text_hash", "properties", "problems"),
    "names": ("kind", "name", "key"),
    "tags": ("tag", "key"),
    "links": ("target", "key", "kind", "alias", "heading", "block"),
    "dates": ("kind", "first", "last", "source"),
    "skipped": ("path", "reason"),
    "vector_notes": ("text_hash",),
    "failures": ("text_hash", "reason"),
    "retired": ("text_hash",),
}
_NUMBERS = {
    "notes": ("size", "mtime_ns", "ctime_ns", "birth_ns", "inode", "body_line", "body_chars"),
    "names": ("note_id", "line", "level"),
    "tags": ("note_id",),
    "links": ("note_id", "line"),
    "dates": ("note_id", "line", "last_line"),
    "skipped": ("size", "mtime_ns"),
    "failures": ("permanent", "tries"),
}

_OF_NOTES = {"notes": "id", "names": "note_id", "tags": "note_id", "links": "note_id", "dates": "note_id"}
"""Tables with rows of notes, and the column that says whose they are."""

SAMPLE = 64
"""Notes whose rows one regular check reads; the next check goes on behind them."""


def senseless(connection: apsw.Connection, among: tuple[int, int] | None = None) -> str:
    """Return what is wrong with the values in the rows of a file of either kind; empty when nothing is.

    Args:
        among: Only rows of the notes from one id to another; None for every row of every table.

    Raises:
        UnicodeDecodeError: A text is not UTF-8.
    """
    tables = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in _OF_NOTES if among else _TEXTS:
        if table not in tables:
            continue
        where = f" WHERE {_OF_NOTES[table]} BETWEEN {among[0]} AND {among[1]}" if among else ""
        columns = {str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")}
        texts = [name for name in _TEXTS[table] if name in columns]
        odd = [f"typeof({name}) != 'text'" for name in texts]
        odd += [f"typeof({name}) != 'integer'" for name in _NUMBERS.get(table, ()) if name in columns]
        if table == "notes":
            odd += ["NOT json_valid(properties)", "NOT json_valid(problems)"]
        sql = f"SELECT {' OR '.join(odd)}, {', '.join(texts)} FROM {table}{where}"
        for row in connection.execute(sql):  # decodes each text
            if row[0]:
                return f"a row of {table} cannot be read"
    return ""


def disagreement(connection: apsw.Connection) -> str:
    """Return in which table notes are missing or too many; empty when the tables of the note index agree.

    Counts first: they differ after nearly every loss of a row.
    """
    for sql, what in _COUNTS:
        if connection.execute(sql).get:
            return what
    return ""


_COUNTS = (
    ("SELECT (SELECT count(*) FROM notes) != (SELECT count(*) FROM words_docsize)", "full-text rows and notes differ"),
    (
        "SELECT EXISTS (SELECT 1 FROM notes WHERE id NOT IN (SELECT id FROM words_docsize))",
        "a note has no full-text row",
    ),
    (
        "SELECT (SELECT count(*) FROM notes) != (SELECT count(*) FROM names WHERE kind = 'title')",
        "titles and notes differ",
    ),
    (
        "SELECT (SELECT count(*) FROM names WHERE kind != 'heading') != (SELECT count(*) FROM name_letters_docsize)",
        "names and their letters differ",
    ),
    (
        "SELECT EXISTS (SELECT 1 FROM names WHERE note_id NOT IN (SELECT id FROM notes))",
        "a name belongs to no note",
    ),
)


def check_sample(connection: apsw.Connection, after: int) -> tuple[str, int]:
    """Check the rows of the next notes.

    Args:
        after: The last id that the call before looked at.

    Returns:
        What is wrong, or an empty text; and the last id that was looked at, 0 at the end.
    """
    ids = [int(row[0]) for row in connection.execute(
        "SELECT id FROM notes WHERE id > ? ORDER BY id LIMIT ?", (after, SAMPLE)
    )]  # fmt: skip
    if not ids:
        return "", 0
    return senseless(connection, (ids[0], ids[-1])), ids[-1] if len(ids) == SAMPLE else 0
