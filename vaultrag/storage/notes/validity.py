"""Which notes no longer hold, and why: from what their properties say, with the links in them followed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date

import apsw

from vaultrag.domain import NoteId, NotePath, NoteValidity, Validity
from vaultrag.domain.dates import Period
from vaultrag.markdown.property_flags import key_of, texts
from vaultrag.retrieval.validity import Claims, day_of, in_force, lasting, standings
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_values import link_name
from vaultrag.storage.private_notes import Hidden, nothing_hidden
from vaultrag.storage.sqlite import rows
from vaultrag.text.tokenize import name_key

_BY = frozenset(("superseded_by", "supersededby", "replaced_by"))
_OF = frozenset(("supersedes", "replaces"))
_INVALID = frozenset(("invalidated_by", "invalidatedby"))
_INVALIDATES = frozenset(("invalidates",))
_RESTS = frozenset(("depends_on", "based_on"))
_FROM = frozenset(("provenance",))
_FIRST = frozenset(("valid_from",))
_LAST = frozenset(("valid_to", "valid_until"))
_LINK = re.compile(r"\[\[([^\]|#]+)")
_SPEAKING = " OR ".join(
    f"properties LIKE '%{part}%'" for part in ("supersede", "replace", "valid", "depends", "based", "provenance")
)


class NoteValidities:
    """Reads which notes no longer hold; anew only when the index has changed, or the day. Callable from any thread."""

    def __init__(self, index: NoteIndex, today: Callable[[], date], hidden: Hidden = nothing_hidden) -> None:
        """Read this index.

        Args:
            today: The day, by the machine's own calendar.
            hidden: Notes that say nothing for the reader that this is for, and of which nothing is said.
        """
        self._index = index
        self._today = today
        self._hidden = hidden
        self._claims: tuple[int | None, dict[NoteId, Claims]] = (None, {})
        self._known: tuple[tuple[int, date] | None, Mapping[NoteId, NoteValidity]] = (None, {})

    def __call__(self, at: Period | None = None) -> Mapping[NoteId, NoteValidity]:
        """Return every note that does not simply hold today, or on any day of another time."""
        if at is not None:
            return standings(self._current(), self._today(), at)
        asked = self._index.generation, self._today()
        known = self._known
        if known[0] != asked:
            self._known = known = (asked, standings(self._current(), asked[1]))
        return known[1]

    def in_force(self) -> Mapping[NoteId, frozenset[NoteId]]:
        """Return the notes that hold today and took another's place or say since when, with those others."""
        return in_force(self._current(), self._today())

    def lasting(self) -> Mapping[NoteId, Validity]:
        """Return how notes stand whatever day it is: superseded and invalidated ones."""
        return lasting(self._current())

    def _current(self) -> dict[NoteId, Claims]:
        """Return what notes say, read anew only when the index has changed."""
        generation, known = self._index.generation, self._claims
        if known[0] != generation:
            self._claims = known = (generation, self._read())
        return known[1]

    def _read(self) -> dict[NoteId, Claims]:
        said = _Gathered()
        with self._index.readers.reading() as connection:
            hidden = self._hidden(connection)
            for note_id, properties in rows(connection, f"SELECT id, properties FROM notes WHERE {_SPEAKING}"):
                if note_id not in hidden:
                    for name, value in json.loads(properties).items():
                        said.add(connection, note_id, key_of(name), texts(value))
            asked = json.dumps(sorted(said.notes - hidden))
            sql = "SELECT id, path FROM notes WHERE id IN (SELECT value FROM json_each(?))"
            paths = dict(rows(connection, sql, (asked,)))
        return {note_id: said.claims(note_id, path, hidden) for note_id, path in paths.items()}


class _Gathered:
    """Statements on validity so far, by note."""

    def __init__(self) -> None:
        self.notes: set[NoteId] = set()
        self._said: dict[str, dict[NoteId, set[NoteId]]] = {
            kind: {} for kind in ("superseded", "invalidated", "depends", "sources")
        }
        self._days: dict[tuple[str, NoteId], date] = {}

    def add(self, connection: apsw.Connection, note_id: NoteId, name: str, value: Sequence[str]) -> None:
        """One property of one note."""
        if name in _FIRST | _LAST:
            if (day := day_of("".join(value[:1]), end=name in _LAST)) is not None:
                self._days["last" if name in _LAST else "first", note_id] = day
                self.notes.add(note_id)
            return
        for names, kind, reversed_ in (
            (_BY, "superseded", False),
            (_OF, "superseded", True),
            (_INVALID, "invalidated", False),
            (_INVALIDATES, "invalidated", True),
            (_RESTS, "depends", False),
            (_FROM, "sources", False),
        ):
            if name in names and any(text.strip() for text in value):
                others = {other for other in _named(connection, value) if other != note_id}
                pairs = [(other, {note_id}) for other in others] if reversed_ else [(note_id, others)]
                for about, by in pairs:
                    self._said[kind].setdefault(about, set()).update(by)
                    self.notes |= {about, *by}

    def claims(self, note_id: NoteId, path: NotePath, hidden: frozenset[NoteId]) -> Claims:
        """Return what is said of this note, as if the hidden ones were not there."""

        def others(kind: str) -> frozenset[NoteId]:
            return frozenset(self._said[kind].get(note_id, ())) - hidden

        return Claims(
            path,
            note_id in self._said["superseded"],
            others("superseded"),
            note_id in self._said["invalidated"],
            others("invalidated"),
            others("depends"),
            others("sources"),
            self._days.get(("first", note_id)),
            self._days.get(("last", note_id)),
        )


def _named(connection: apsw.Connection, value: Sequence[str]) -> Iterator[NoteId]:
    """Yield notes that a property's links, or its plain text, name."""
    for text in value:
        for target in _LINK.findall(text) or [text]:
            key = name_key(link_name(target.strip()))
            for (note_id,) in rows(
                connection, "SELECT DISTINCT note_id FROM names WHERE key = ? AND kind != 'heading'", (key,)
            ):
                yield NoteId(note_id)
