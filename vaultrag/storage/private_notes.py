"""The notes that agents must not know of, as a set of ids: what every reading class of this room can be blind to.

The set is read inside the snapshot in which it is used, so that a note is hidden from the very moment it is there. Each
connection keeps its last answer, by SQLite's own count of what others have committed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

import apsw

from vaultrag.domain import NoteId
from vaultrag.domain.kinds import SUFFIXES
from vaultrag.markdown.private_flag import PROPERTY, PrivateRules, says_private
from vaultrag.storage.sqlite import rows, scalar

Hidden = Callable[[apsw.Connection], frozenset[NoteId]]
"""Ids of the notes that are not to be seen, in the snapshot that this connection reads."""

_PATHS_KEPT = 200_000
_UNSIGNED = 0xFFFF_FFFF_FFFF_FFFF  # SQLite keeps an inode's 64 bits as a number with a sign


def nothing_hidden(connection: apsw.Connection) -> frozenset[NoteId]:
    """For readers who may see everything."""
    return frozenset()


def listed(note_ids: Iterable[NoteId]) -> str:
    """Return the ids as SQL takes them: ``id IN (SELECT value FROM json_each(?))``."""
    return json.dumps(sorted(note_ids))


def _files_of(connection: apsw.Connection, private: frozenset[NoteId]) -> frozenset[NoteId]:
    """Return the files of other kinds that private notes lead to, and no others: what they hold is as private."""
    if not private:
        return frozenset()
    sql = (
        "SELECT notes.id, min(links.note_id IN (SELECT value FROM json_each(?1))) FROM notes"
        " JOIN names ON names.note_id = notes.id AND names.kind != 'heading' AND names.key != ''"
        " JOIN links ON links.key = names.key AND links.note_id != notes.id"
        f" WHERE NOT ({_IS_NOTE}) AND notes.id NOT IN (SELECT value FROM json_each(?1)) GROUP BY notes.id"
    )
    return frozenset(note_id for note_id, all_private in rows(connection, sql, (listed(private),)) if all_private)


_IS_NOTE = " OR ".join(f"notes.path_key LIKE '%{suffix}'" for suffix, kind in SUFFIXES.items() if kind == "note")


class PrivateNotes:
    """Finds the private notes. Callable from any thread, with a connection that is inside a snapshot."""

    def __init__(self, rules: PrivateRules) -> None:
        self._rules = rules
        self._known: WeakKeyDictionary[apsw.Connection, tuple[int, frozenset[NoteId]]] = WeakKeyDictionary()
        self._paths: dict[str, bool] = {}
        self._lock = threading.Lock()

    def __call__(self, connection: apsw.Connection) -> frozenset[NoteId]:
        version = int(scalar(connection, "PRAGMA data_version"))
        with self._lock:
            known = self._known.get(connection)
        if known is not None and known[0] == version:
            return known[1]
        found = self._by_property(connection) | self._by_tag(connection) | self._by_path(connection)
        while more := _files_of(connection, found):  # a canvas that is found so may lead to further files
            found |= more
        with self._lock:
            self._known[connection] = (version, found)
        return found

    def shared_only_by_private(self, connection: apsw.Connection, note_id: NoteId) -> bool:
        """Return whether this is a file that is private because only private notes lead to it."""
        by_rule = self._by_property(connection) | self._by_tag(connection) | self._by_path(connection)
        return note_id in self(connection) and note_id not in by_rule

    def _by_property(self, connection: apsw.Connection) -> frozenset[NoteId]:
        sql = f"SELECT id, properties FROM notes WHERE properties LIKE '%{PROPERTY}%'"
        return frozenset(note_id for note_id, text in rows(connection, sql) if says_private(json.loads(text)))

    def _by_tag(self, connection: apsw.Connection) -> frozenset[NoteId]:
        sql = "SELECT note_id FROM tags WHERE key = ?1 OR (key >= ?1 || '/' AND key < ?1 || '0')"  # "0" follows "/"
        return frozenset(note_id for tag in self._rules.tags for (note_id,) in rows(connection, sql, (tag,)))

    def inodes(self, connection: apsw.Connection) -> frozenset[int]:
        """Return the files that are private by where they lie: a link may lead to them from elsewhere."""
        if not self._rules.any_path:
            return frozenset()
        sql = "SELECT inode FROM notes WHERE inode != 0 AND id IN (SELECT value FROM json_each(?))"
        return frozenset(inode & _UNSIGNED for (inode,) in rows(connection, sql, (listed(self._lying(connection)),)))

    def _by_path(self, connection: apsw.Connection) -> frozenset[NoteId]:
        if not self._rules.any_path:
            return frozenset()
        # The same file under another name, by a link of either kind, is the same private text.
        sql = (
            "SELECT id FROM notes WHERE inode != 0 AND inode IN"
            " (SELECT inode FROM notes WHERE id IN (SELECT value FROM json_each(?)))"
        )
        lying = self._lying(connection)
        return lying | {note_id for (note_id,) in rows(connection, sql, (listed(lying),))}

    def _lying(self, connection: apsw.Connection) -> frozenset[NoteId]:
        found = rows(connection, "SELECT id, path FROM notes")
        return frozenset(note_id for note_id, path in found if self._path(path))

    def _path(self, path: str) -> bool:
        known = self._paths.get(path)
        if known is None:
            if len(self._paths) >= _PATHS_KEPT:
                self._paths = {}
            known = self._paths[path] = self._rules.by_path(path)
        return known
