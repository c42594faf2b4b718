"""Notes that have a name: title, alias, file name or path, or one of the forms in which these are copied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import apsw

from vaultrag.domain import NameHit, NameMatch, NoteId
from vaultrag.markdown.titles import without_suffix
from vaultrag.retrieval.note_reference import reference_of, same_form
from vaultrag.text.tokenize import name_key

WORTH = {"title": 1.0, "file": 1.0, "alias": 1.0, "heading": 0.85}
"""What a name of each kind counts."""

NAMESAKES = 1_000
"""Notes of one name, all first: five times as many as can be asked for."""

HEADINGS = 200


@dataclass(frozen=True, slots=True)
class Seen:
    """The notes that may be found: those allowed (None: all), less those hidden."""

    allowed: frozenset[NoteId] | None
    hidden: frozenset[NoteId]

    def __contains__(self, note_id: NoteId) -> bool:
        return note_id not in self.hidden and (self.allowed is None or note_id in self.allowed)

    @property
    def everything(self) -> bool:
        return self.allowed is None and not self.hidden


def first(limit: int, found: Iterable[Any], seen: Seen) -> list[Any]:
    """Return the first rows, a note's id in front of each, of notes that are seen."""
    return list(islice(found if seen.everything else (row for row in found if row[0] in seen), limit))


def exact_names(connection: apsw.Connection, text: str, seen: Seen, *, elsewhere: bool = True) -> list[NameHit]:
    """Find the notes that a text names: by a name of the same words, or by the path that it refers to.

    Args:
        elsewhere: Whether a note of that name in another folder than the text says is meant, too.
    """
    reference = reference_of(text)
    keys = name_key(text), name_key(reference.name)
    by_last_part = "/" not in reference.target or (reference.certain and elsewhere)
    same_names = {same_form(text), same_form(reference.name) if reference.certain and by_last_part else ""}
    sql = (
        "SELECT names.note_id, kind, name, key, path_nfc FROM names JOIN notes ON notes.id = names.note_id"
        " WHERE key IN (?, ?) AND key != '' AND kind != 'heading'"
    )
    hits = []
    for note_id, kind, name, key, path in first(NAMESAKES, connection.execute(sql, keys), seen):
        if reference.is_path(path):
            match = NameMatch.PATH
        elif reference.ends_path(path) or same_form(name) in same_names:
            match = NameMatch.VERBATIM
        elif key == keys[0] or by_last_part:
            match = NameMatch.SAME
        else:
            continue
        hits.append(NameHit(note_id, kind, name, WORTH[kind], match))
    return hits


def exact_headings(connection: apsw.Connection, text: str, seen: Seen) -> list[NameHit]:
    """Find notes with a heading of the same words: no names, and so common that a few are enough."""
    sql = "SELECT note_id, name FROM names WHERE key = ? AND key != '' AND kind = 'heading'"
    found = first(HEADINGS, connection.execute(sql, (name_key(text),)), seen)
    return [NameHit(note_id, "heading", name, WORTH["heading"]) for note_id, name in found]


def named(connection: apsw.Connection, text: str, hidden: frozenset[NoteId]) -> list[NoteId]:
    """Return the notes that a text names best: one where that is unambiguous."""
    hits = exact_names(connection, text, Seen(None, hidden), elsewhere=False)
    target = text.partition("#")[0]
    if without_suffix(target) != target:  # a file is meant, not a title
        hits = [hit for hit in hits if hit.match == NameMatch.PATH or hit.kind == "file"]
    best = max((hit.match for hit in hits), default=NameMatch.NONE)
    return sorted({hit.note_id for hit in hits if hit.match == best})
