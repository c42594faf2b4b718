"""Which notes have been superseded, and by which: from ``superseded_by`` and ``supersedes`` in their properties."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import apsw

from vaultrag.model import NoteId
from vaultrag.notes.words import name_key
from vaultrag.store.connection import rows
from vaultrag.store.note_index import NoteIndex
from vaultrag.store.note_values import link_name
from vaultrag.store.private import Hidden, nothing_hidden

_BY = frozenset(("superseded_by", "superseded-by", "supersededby", "replaced_by"))
_OF = frozenset(("supersedes", "replaces"))
_LINK = re.compile(r"\[\[([^\]|#]+)")


class Succession:
    """Reads who superseded whom; read anew only when the index has changed. Callable from any thread."""

    def __init__(self, index: NoteIndex, hidden: Hidden = nothing_hidden) -> None:
        """Args:
        hidden: Notes that supersede nothing for the reader that this is for, and that nothing is superseded by.
        """
        self._index = index
        self._hidden = hidden
        self._known: tuple[int, Mapping[NoteId, frozenset[NoteId]]] = (-1, {})

    def successors(self) -> Mapping[NoteId, frozenset[NoteId]]:
        """For each superseded note the notes that took its place (empty where none of them is in the vault)."""
        generation = self._index.generation
        if self._known[0] != generation:
            self._known = (generation, self._read())
        return self._known[1]

    def _read(self) -> dict[NoteId, frozenset[NoteId]]:
        found: dict[NoteId, set[NoteId]] = {}
        with self._index.readers.reading() as connection:
            hidden = self._hidden(connection)
            candidates = rows(
                connection,
                "SELECT id, properties FROM notes WHERE properties LIKE '%supersede%' OR properties LIKE '%replace%'",
            )
            for note_id, properties in candidates:
                if note_id in hidden:
                    continue
                for name, value in json.loads(properties).items():
                    named = list(_named(connection, value))
                    if name.lower() in _BY and _texts(value):
                        found.setdefault(note_id, set()).update(other for other in named if other != note_id)
                    elif name.lower() in _OF:
                        for other in named:
                            if other != note_id:
                                found.setdefault(other, set()).add(note_id)
        return {note_id: frozenset(others - hidden) for note_id, others in found.items() if note_id not in hidden}


def _texts(value: object) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _named(connection: apsw.Connection, value: object) -> Iterator[NoteId]:
    """Notes that a property's links, or its plain text, name."""
    for text in _texts(value):
        for target in _LINK.findall(text) or [text]:
            key = name_key(link_name(target.strip()))
            for (note_id,) in rows(
                connection, "SELECT DISTINCT note_id FROM names WHERE key = ? AND kind != 'heading'", (key,)
            ):
                yield NoteId(note_id)
