"""The tables of both files, the steps from each earlier version to the next, and when notes are read again.

All steps that a file lacks are one transaction together with the new ``user_version``: after a crash the file is what
it was. A file from a newer vaultrag is refused, not touched.

Neither file is thrown away by an upgrade. Where notes are read otherwise than before (``READING``) they are read again,
and keep their ids, and their vectors where the text is the same. Vectors are made again where their identity is another
one (``model.Identity``), beside those in use.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from vaultrag.errors import StoreTooNew
from vaultrag.storage.sqlite import rows, scalar, translating, writing
from vaultrag.text.tokenize import EXTRA_LETTERS

# Marks belong to words (Hindi, Thai), symbols are words (emoji). Accents are dropped before, in ``text.tokenize``:
# SQLite's own folding would take Japanese voiced marks with them.
TOKENIZER = (
    "unicode61",
    "remove_diacritics",
    "0",
    "categories",
    "L* M* N* Co So",
    "tokenchars",
    EXTRA_LETTERS,
)

STEMMER = ("porter", *TOKENIZER)
"""The table holds words as they are written; English endings are taken off by this, when words are looked up."""

FIELDS = ("title", "aliases", "headings", "tags", "properties", "body", "extra")
"""Columns of the full-text table. ``extra`` holds parts of compound words and lines that are nothing but links."""


def _quoted(parts: tuple[str, ...]) -> str:
    return " ".join(part if part.isalnum() or part == "remove_diacritics" else f"''{part}''" for part in parts)


NOTE_STEPS: tuple[str, ...] = (
    f"""
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: the other file refers to it
        path TEXT NOT NULL UNIQUE,             -- as on disk
        path_nfc TEXT NOT NULL,                -- as people and other systems write it
        path_key TEXT NOT NULL,                -- NFC and case-folded, for filters
        title TEXT NOT NULL,
        content_hash TEXT NOT NULL,            -- of the file's bytes
        text_hash TEXT NOT NULL,               -- of what is embedded
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        body_line INTEGER NOT NULL,            -- file line of the first body line
        body_chars INTEGER NOT NULL,           -- 0: a note of a title only
        properties TEXT NOT NULL,              -- JSON object of strings and lists of strings
        problems TEXT NOT NULL                 -- JSON list, usually empty
    );
    CREATE INDEX notes_path_nfc ON notes (path_nfc);
    CREATE INDEX notes_mtime ON notes (mtime_ns);
    CREATE INDEX notes_problems ON notes (id) WHERE problems != '[]';
    CREATE TABLE names (
        id INTEGER PRIMARY KEY,
        note_id INTEGER NOT NULL,
        kind TEXT NOT NULL,                    -- title, alias, file or heading
        name TEXT NOT NULL,
        key TEXT NOT NULL,                     -- notes.words.name_key
        line INTEGER NOT NULL DEFAULT 0,       -- of a heading
        level INTEGER NOT NULL DEFAULT 0       -- of a heading
    );
    CREATE INDEX names_note ON names (note_id);
    CREATE INDEX names_key ON names (key);
    -- Letters in threes, for names that are typed wrongly. Not of headings: their wording is body text.
    CREATE VIRTUAL TABLE name_letters USING fts5 (key, content='', contentless_delete=1, tokenize='trigram');
    CREATE TABLE tags (note_id INTEGER NOT NULL, tag TEXT NOT NULL, key TEXT NOT NULL);
    CREATE INDEX tags_note ON tags (note_id);
    CREATE INDEX tags_key ON tags (key);
    CREATE TABLE links (
        note_id INTEGER NOT NULL, target TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
        alias TEXT NOT NULL, heading TEXT NOT NULL, block TEXT NOT NULL, line INTEGER NOT NULL
    );
    CREATE INDEX links_note ON links (note_id);
    CREATE INDEX links_key ON links (key);
    CREATE TABLE skipped (
        path TEXT PRIMARY KEY, reason TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL
    ) WITHOUT ROWID;
    -- Without its own copy of the text: a quarter of the size; previews are made from the file, which is the truth.
    CREATE VIRTUAL TABLE words USING fts5 (
        {", ".join(FIELDS)}, content='', contentless_delete=1, tokenize='{_quoted(STEMMER)}'
    );
    CREATE VIRTUAL TABLE words_vocabulary USING fts5vocab (words, row);
    """,
    "CREATE VIRTUAL TABLE words_instances USING fts5vocab (words, instance);",
    "ALTER TABLE notes ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0;  -- 0: of an earlier version, not known",
    # Words as written, not as stems; the notes are read again (READING), until then they are found by their titles.
    f"""
    DROP TABLE words_instances;
    DROP TABLE words_vocabulary;
    DROP TABLE words;
    CREATE VIRTUAL TABLE words USING fts5 (
        {", ".join(FIELDS)}, content='', contentless_delete=1, tokenize='{_quoted(TOKENIZER)}'
    );
    CREATE VIRTUAL TABLE words_vocabulary USING fts5vocab (words, row);
    CREATE VIRTUAL TABLE words_instances USING fts5vocab (words, instance);
    INSERT INTO words (rowid, title) SELECT id, title FROM notes;
    -- Words by what is left of them without an English ending: those that have one, and all that are letters only.
    CREATE TABLE forms (stem TEXT NOT NULL, form TEXT NOT NULL, PRIMARY KEY (stem, form)) WITHOUT ROWID;
    """,
    # What notes say of their dates (``markdown.note_dates``); where one says nothing, the file's times stand in.
    """
    ALTER TABLE notes ADD COLUMN birth_ns INTEGER NOT NULL DEFAULT 0;  -- 0: not known
    CREATE TABLE dates (
        note_id INTEGER NOT NULL,
        kind TEXT NOT NULL,                    -- about, created, updated; entry: of a section or a line
        first TEXT NOT NULL,                   -- 2026-01-31, by the owner's calendar
        last TEXT NOT NULL,
        source TEXT NOT NULL,
        line INTEGER NOT NULL,                 -- of an entry, in the file; 0 for the others
        last_line INTEGER NOT NULL             -- of its section; 0: to the end
    );
    CREATE INDEX dates_note ON dates (note_id);
    CREATE INDEX dates_first ON dates (first);
    """,
)

VECTOR_STEPS: tuple[str, ...] = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE vector_notes (
        note_id INTEGER PRIMARY KEY,           -- notes.id of hybrid-fts.db, and the row in note_vectors
        text_hash TEXT NOT NULL,
        covered REAL NOT NULL                  -- share of the text that the model saw
    );
    CREATE INDEX vector_notes_hash ON vector_notes (text_hash);
    CREATE TABLE passages (
        note_id INTEGER PRIMARY KEY,
        lines BLOB NOT NULL,                   -- int32[n, 2], body lines, first and last
        codes BLOB NOT NULL,                   -- int8[n, dimension]
        scales BLOB NOT NULL                   -- float32[n]: code * scale is the vector's component
    );
    -- Vectors whose note is gone or has changed: an undo, a cut and paste, a return costs no model call.
    CREATE TABLE retired (
        text_hash TEXT PRIMARY KEY, vector BLOB NOT NULL, covered REAL NOT NULL,
        lines BLOB, codes BLOB, scales BLOB, retired_ns INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX retired_age ON retired (retired_ns);  -- also for counting, without a walk over the vectors
    CREATE TABLE failures (
        text_hash TEXT PRIMARY KEY, reason TEXT NOT NULL, permanent INTEGER NOT NULL, tries INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
    # CRC-32 of the bytes, which SQLite does not check; rows from before get theirs when the file is opened
    # (``vector_rows.add_checksums``).
    """
    ALTER TABLE vector_notes ADD COLUMN checksum INTEGER;
    ALTER TABLE passages ADD COLUMN checksum INTEGER;
    ALTER TABLE retired ADD COLUMN checksum INTEGER;
    ALTER TABLE retired ADD COLUMN passages_checksum INTEGER;
    """,
    # By the multilingual model (``storage.vectors.multilingual``); of which model and recipe stands in ``meta``.
    """
    CREATE TABLE multilingual (
        text_hash TEXT PRIMARY KEY,
        is_foreign INTEGER NOT NULL,           -- whether the text is in another language than English
        code BLOB NOT NULL,                    -- int8[dimension] of the whole text; empty: the model makes none of it
        scale REAL NOT NULL,
        lines BLOB NOT NULL,                   -- passages, as in the table of that name
        codes BLOB NOT NULL,
        scales BLOB NOT NULL,
        checksum INTEGER NOT NULL
    );
    """,
)


READING = 5
"""What is made of a note's bytes: parsing, and the texts of the full-text table. Raised with each change of that; a
test compares what comes out with what came out before.
"""


def migrate(connection: apsw.Connection, steps: tuple[str, ...], path: Path) -> int:
    """Bring the file to the newest version; returns the version before. Does nothing to one that is there already.

    Raises:
        StoreTooNew: The file is from a newer vaultrag.
        StoreError
    """
    with translating(path, in_use=False):
        refuse_newer(connection, steps, path)
        before = _version(connection)
        if before == len(steps):
            return before
        with writing(connection):
            # Asked again under the lock: another opener may have been first.
            before = _version(connection)
            for step in steps[before:]:
                connection.execute(step)
            connection.execute(f"PRAGMA user_version = {len(steps)}")
        return before


def refuse_newer(connection: apsw.Connection, steps: tuple[str, ...], path: Path) -> None:
    """Leave a file alone that is from a newer vaultrag.

    Raises:
        StoreTooNew
    """
    version = _version(connection)
    if version > len(steps):
        raise too_new(path, f"its version {version}, known here: {len(steps)}")


def too_new(path: Path, how: str) -> StoreTooNew:
    """Return the fault of a file from a newer vaultrag, to be raised."""
    return StoreTooNew(
        f"{path.name} was written by a newer vaultrag ({how})",
        hint=f"pip install --upgrade vaultrag, or remove {path}: it is built again from the notes",
        path=str(path),
    )


def renew(connection: apsw.Connection, path: Path, dates: str = "") -> bool:
    """Have every note read again, if the index was made by another reading; whether it was.

    Args:
        connection: The file, open for writing.
        path: The file.
        dates: How notes' dates are read (``DateReader.recipe``).
    """
    with translating(path, in_use=False):
        known = dict(rows(connection, "SELECT key, value FROM meta WHERE key IN ('reading', 'dates')"))
        if known.get("reading") == str(READING) and known.get("dates", "") == dates:
            return False
        with writing(connection):
            connection.execute("UPDATE notes SET content_hash = ''")
            found = connection.changes()
            connection.execute("DELETE FROM skipped")  # what was no note may be one now
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('reading', ?)", (str(READING),))
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('dates', ?)", (dates,))
        return found > 0


def _version(connection: apsw.Connection) -> int:
    return int(scalar(connection, "PRAGMA user_version"))
