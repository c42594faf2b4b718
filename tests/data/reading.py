"""What notes become, as one number: names, tags, links, texts and every word of the sample vault.

``python -m tests.data.reading`` writes it into ``reading.json``: after a change of the sample vault, and after one of
what is made of notes, which raises ``storage.schema.READING`` as well.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

from tests.support.daemons import REPOSITORY
from tests.support.stores import parsed
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_values import values_of
from vaultrag.storage.schema import READING
from vaultrag.storage.sqlite import rows

FILE = Path(__file__).with_name("reading.json")
VAULT = REPOSITORY / "sample-vault"

_TABLES = (
    "SELECT path, title, text_hash, body_line, body_chars, properties, problems FROM notes ORDER BY path",
    "SELECT kind, name, key, line, level, note_id FROM names ORDER BY note_id, kind, key, line",
    "SELECT note_id, tag, key FROM tags ORDER BY note_id, key, tag",
    "SELECT note_id, kind, first, last, source, line, last_line FROM dates ORDER BY note_id, kind, line",
    "SELECT * FROM links ORDER BY note_id, line, key, kind, alias, heading, block",
    "SELECT term, doc, cnt FROM words_vocabulary ORDER BY term",
)


def now() -> dict[str, object]:
    """The reading's number, the notes as a digest, and a digest of what is made of them."""
    given, made = hashlib.blake2b(digest_size=8), hashlib.blake2b(digest_size=8)
    with tempfile.TemporaryDirectory() as folder:
        index = NoteIndex.open(Path(folder) / "notes.db")
        for path in sorted(path for path in VAULT.rglob("*.md") if path.is_file()):
            text = path.read_bytes().decode("utf-8", "replace")
            given.update(text.encode())
            index.upsert([values_of(*parsed(path.relative_to(VAULT).as_posix(), text))])
        with index.readers.reading() as connection:
            for table in _TABLES:
                for row in rows(connection, table):
                    made.update(repr(row).encode())
        index.close()
    return {"reading": READING, "notes": given.hexdigest(), "made of them": made.hexdigest()}


if __name__ == "__main__":
    FILE.write_text(json.dumps(now(), indent=1) + "\n", "utf-8")
