"""Reading what is known of notes: rows for hits, names and links between notes, tags, the outline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar
from unicodedata import normalize

import apsw
import msgspec
from rapidfuzz import fuzz, process

from vaultrag.domain import Filters, Neighbour, NoteId, NoteRow
from vaultrag.domain.dates import DatedEntry, DatedNote, DateKind, NoteDate, NoteDates, Period
from vaultrag.markdown.titles import without_suffix
from vaultrag.storage.generation_cache import GenerationCache
from vaultrag.storage.notes.dates import dated, dates_of, entries_of, last_changed, sort_days
from vaultrag.storage.notes.filters import matching_ids
from vaultrag.storage.private_notes import Hidden, listed, nothing_hidden
from vaultrag.storage.sqlite import Readers, rows, scalar
from vaultrag.storage.titles.exact_names import named

Value = TypeVar("Value")

_MATCHING_KEPT = 150_000
"""Notes kept of what filters let through: a query that is typed on keeps its filters."""

_ROWS_KEPT = 1000
_HEADINGS_KEPT = 10_000
"""Of the notes shown lately: the same ones are shown at every key."""

NEAR_ENOUGH = 75.0
"""Percent of two names that must be alike for one to be taken for a slip of the other."""


class HasReaders(Protocol):
    """An open file with readers."""

    readers: Readers

    def snapshot(self) -> AbstractContextManager[tuple[apsw.Connection, int | None]]:
        """See ``NoteIndex.snapshot``."""
        ...


class NoteRows:
    """Reads rows by id or path. Callable from any thread."""

    def __init__(self, index: HasReaders, hidden: Hidden = nothing_hidden) -> None:
        """Read this index.

        Args:
            index: ``NoteIndex``, or a file that is only looked at.
            hidden: Notes that do not exist for the reader that this is for.
        """
        self._index = index
        self._hidden = hidden
        self._all: GenerationCache[frozenset[NoteId], tuple[NoteId, ...]] = GenerationCache(4)
        self._rows: GenerationCache[NoteId, NoteRow] = GenerationCache(_ROWS_KEPT)
        self._headings: GenerationCache[NoteId, list[tuple[int, str]]] = GenerationCache(_HEADINGS_KEPT, len)
        self._matching: GenerationCache[tuple[Filters, frozenset[NoteId]], frozenset[NoteId]] = GenerationCache(
            _MATCHING_KEPT, len
        )

    def by_ids(self, ids: Iterable[NoteId]) -> dict[NoteId, NoteRow]:
        """Return the rows of these notes; ids that no longer exist are left out."""
        return self._each(self._rows, ids, _rows_of)

    def _each(
        self,
        cache: GenerationCache[NoteId, Value],
        ids: Iterable[NoteId],
        read: Callable[[apsw.Connection, Sequence[NoteId]], Mapping[NoteId, Value]],
    ) -> dict[NoteId, Value]:
        """Return what is known of each of these notes that may be seen; what is not kept is read at once."""
        with self._index.snapshot() as (connection, generation):
            hidden = self._hidden(connection)
            wanted = [note_id for note_id in dict.fromkeys(ids) if note_id not in hidden]
            found: dict[NoteId, Value] = {}
            if generation is not None:
                kept = ((note_id, cache.find(generation, note_id)) for note_id in wanted)
                found = {note_id: value[0] for note_id, value in kept if value is not None}
            missing = [note_id for note_id in wanted if note_id not in found]
            if missing:
                new = read(connection, missing)
                if generation is not None:
                    for note_id, value in new.items():
                        cache.keep(generation, note_id, value)
                found |= new
            return {note_id: found[note_id] for note_id in wanted if note_id in found}

    def id_of(self, path: str) -> NoteId | None:
        """Return the note at this path: exactly, else the same name in another Unicode form, else without ``.md``."""
        if not _is_text(path):
            return None
        with self._index.readers.reading() as connection:
            hidden = listed(self._hidden(connection))
            for candidate in (path, path + ".md", path + ".markdown"):
                found = scalar(connection, f"SELECT id FROM notes WHERE path = ? AND {_SEEN}", (candidate, hidden))
                if found is None:
                    sql = f"SELECT min(id) FROM notes WHERE path_nfc = ? AND {_SEEN}"
                    found = scalar(connection, sql, (normalize("NFC", candidate), hidden))
                if found is not None:
                    return NoteId(found)
        return None

    def named(self, text: str) -> list[NoteId]:
        """Return the notes that a text names best: by title, alias, file name or path, or as a link or citation does.

        Returns:
            One where that is unambiguous, several of the same name, or none.
        """
        with self._index.readers.reading() as connection:
            return named(connection, text, self._hidden(connection)) if _is_text(text) else []

    def near_paths(self, path: str, k: int = 3) -> list[str]:
        """Known paths that end like this one, else whose names are spelled nearly so: for "did you mean"."""
        name = _name_of(normalize("NFC", path).casefold())
        if not name or not _is_text(name):
            return []
        with self._index.readers.reading() as connection:
            found = rows(
                connection,
                f"SELECT path FROM notes WHERE instr(path_key, ?) AND {_SEEN} ORDER BY length(path) LIMIT ?",
                (name, listed(self._hidden(connection)), k),
            )
            if found:
                return [row[0] for row in found]
            seen = rows(
                connection, f"SELECT path, path_key FROM notes WHERE {_SEEN}", (listed(self._hidden(connection)),)
            )
            names = {path: _name_of(key) for path, key in seen}
        near = process.extract(name, names, scorer=fuzz.ratio, limit=k, score_cutoff=NEAR_ENOUGH)
        return [path for _, _, path in near]

    def neighbours(self, note_id: NoteId) -> list[Neighbour]:
        """Return notes that this one links to, and notes that link to it."""
        with self._index.readers.reading() as connection:
            hidden = self._hidden(connection)
            out = rows(
                connection,
                "SELECT DISTINCT names.note_id FROM links JOIN names ON names.key = links.key"
                " WHERE links.note_id = ?1 AND links.key != '' AND names.kind != 'heading' AND names.note_id != ?1",
                (note_id,),
            )
            back = rows(
                connection,
                "SELECT DISTINCT links.note_id FROM names JOIN links ON links.key = names.key"
                " WHERE names.note_id = ?1 AND names.key != '' AND names.kind != 'heading' AND links.note_id != ?1",
                (note_id,),
            )
        found = [Neighbour(row[0], True) for row in out] + [Neighbour(row[0], False) for row in back]
        return [] if note_id in hidden else [neighbour for neighbour in found if neighbour.note_id not in hidden]

    def headings(self, ids: Iterable[NoteId]) -> dict[NoteId, list[tuple[int, str]]]:
        """Return the headings of each note that has any: file line and text, in order."""
        return {note_id: found for note_id, found in self._each(self._headings, ids, _headings_of).items() if found}

    def tags(self) -> list[tuple[str, int]]:
        """Every tag with the number of its notes, the most used first."""
        with self._index.readers.reading() as connection:
            return rows(
                connection,
                "SELECT min(tag), count(DISTINCT note_id) FROM tags"
                " WHERE note_id NOT IN (SELECT value FROM json_each(?)) GROUP BY key ORDER BY 2 DESC, 1",
                (listed(self._hidden(connection)),),
            )

    def all_ids(self) -> tuple[NoteId, ...]:
        """Every note, the most recently changed first."""
        with self._index.snapshot() as (connection, generation):
            hidden = self._hidden(connection)

            def read() -> tuple[NoteId, ...]:
                found = rows(connection, "SELECT id FROM notes ORDER BY mtime_ns DESC, id")
                return tuple(row[0] for row in found if row[0] not in hidden)

            return self._all.get(generation, hidden, read)

    def matching(self, filters: Filters) -> frozenset[NoteId] | None:
        """Ids of the notes that may be found; None when that is all there are."""
        with self._index.snapshot() as (connection, generation):
            hidden = self._hidden(connection)
            if not filters and not hidden:
                return None
            return self._matching.get(generation, (filters, hidden), lambda: matching_ids(connection, filters, hidden))

    def dated(self, period: Period) -> list[DatedNote]:
        """Return the notes that say that they, or an entry in them, are of a day in the period."""
        with self._index.readers.reading() as connection:
            return dated(connection, period, self._hidden(connection))

    def sort_days(self, kind: DateKind, ids: Iterable[NoteId]) -> dict[NoteId, str]:
        """Return the first day of each note's date of a kind, as text that sorts."""
        with self._index.readers.reading() as connection:
            return sort_days(connection, kind, ids)

    def last_changed(self, ids: Iterable[NoteId]) -> dict[NoteId, NoteDate]:
        """Return the day of each note's last change, and its source."""
        with self._index.readers.reading() as connection:
            return last_changed(connection, ids)

    def entries(self, ids: Sequence[NoteId]) -> dict[NoteId, list[DatedEntry]]:
        """Return the dated sections and lines of some notes, in the order of the file."""
        with self._index.readers.reading() as connection:
            hidden = self._hidden(connection)
            return entries_of(connection, [note_id for note_id in ids if note_id not in hidden])

    def having(self, name: str) -> list[NoteId]:
        """Return notes with this property, whatever its value and letter case, or with one below it (``name.part``)."""
        with self._index.readers.reading() as connection:
            hidden = self._hidden(connection)
            found = rows(
                connection,
                "SELECT id FROM notes WHERE properties LIKE ?1 AND EXISTS (SELECT 1 FROM json_each(properties) AS p"
                " WHERE p.key = ?2 COLLATE NOCASE OR p.key LIKE ?3) ORDER BY id",
                (f'%"{name}%', name, f"{name}.%"),
            )
        return [row[0] for row in found if row[0] not in hidden]


def _name_of(path: str) -> str:
    return without_suffix(path.rsplit("/", 1)[-1])


def _is_text(path: str) -> bool:
    """Return False where halves of surrogate pairs stand: no path in the index has any."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


_SEEN = "id NOT IN (SELECT value FROM json_each(?))"

# One statement a table for all notes, however many: the ids come as a JSON list.
_NOTES = (
    "SELECT id, path, title, mtime_ns, size, body_line, body_chars, properties, birth_ns FROM notes"
    " WHERE id IN (SELECT value FROM json_each(?))"
)
_HEADINGS = (
    "SELECT note_id, line, name FROM names WHERE kind = 'heading'"
    " AND note_id IN (SELECT value FROM json_each(?)) ORDER BY note_id, line"
)
_TAGS = "SELECT note_id, tag FROM tags WHERE note_id IN (SELECT value FROM json_each(?)) ORDER BY rowid"
_ALIASES = (
    "SELECT note_id, name FROM names WHERE note_id IN (SELECT value FROM json_each(?)) AND kind = 'alias' ORDER BY id"
)


def _rows_of(connection: apsw.Connection, ids: Sequence[NoteId]) -> dict[NoteId, NoteRow]:
    asked = (json.dumps(ids),)
    found = {row[0]: row for row in rows(connection, _NOTES, asked)}
    tags = _grouped(rows(connection, _TAGS, asked))
    aliases = _grouped(rows(connection, _ALIASES, asked))
    dates = dates_of(connection, {note_id: (row[3], row[8]) for note_id, row in found.items()})
    return {
        note_id: _row(row[:8], tags.get(note_id, ()), aliases.get(note_id, ()), dates.get(note_id))
        for note_id, row in found.items()
    }


def _headings_of(connection: apsw.Connection, ids: Sequence[NoteId]) -> dict[NoteId, list[tuple[int, str]]]:
    headings: dict[NoteId, list[tuple[int, str]]] = {note_id: [] for note_id in ids}
    for note_id, line, name in rows(connection, _HEADINGS, (json.dumps(ids),)):
        headings[note_id].append((line, name))
    return headings


def _grouped(pairs: Iterable[tuple[NoteId, str]]) -> dict[NoteId, list[str]]:
    groups: dict[NoteId, list[str]] = {}
    for note_id, text in pairs:
        groups.setdefault(note_id, []).append(text)
    return groups


_properties = msgspec.json.Decoder(dict[str, str | tuple[str, ...]]).decode


def _row(columns: Sequence[Any], tags: Iterable[str], aliases: Iterable[str], dates: NoteDates | None) -> NoteRow:
    note_id, path, title, mtime_ns, size, body_line, body_chars, properties = columns
    return NoteRow(
        note_id,
        path,
        title,
        mtime_ns,
        size,
        body_line,
        body_chars,
        _properties(properties),
        tuple(tags),
        tuple(aliases),
        dates,
    )
