"""The part of a vault that an agent may see: everything but the private notes.

An agent's service has a context of its own (``blind``). Its table and retrievers leave the private notes out before
anything is counted or ranked, so that no method has to think of them, not even one that is added later. This module
does the rest: it hides what no table knows (the file as it is now, the vectors, the counts of the whole vault), and
masks keys and tokens in everything that is read for an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from vaultrag.app.context import VaultContext
from vaultrag.app.diagnosis import GUESS
from vaultrag.domain import (
    Answer,
    Content,
    DaemonStatus,
    Explanation,
    Filters,
    Gone,
    NoteId,
    NotePath,
    NoteRow,
    ReadResult,
    Scale,
    Skipped,
    VectorMatches,
)  # fmt: skip
from vaultrag.markdown import parse_note
from vaultrag.markdown.private_flag import PrivateRules
from vaultrag.protocols import Masker, NoteReader, NoteTable
from vaultrag.retrieval.hit_maker import HitMaker
from vaultrag.retrieval.pipeline import Pipeline
from vaultrag.retrieval.validity import Validities
from vaultrag.vector_protocols import VectorScan

T = TypeVar("T")


class AgentReader:
    """Reads notes; one that is private by what its file says *now* is not there, whatever the index still thinks."""

    def __init__(
        self,
        reader: NoteReader,
        rules: PrivateRules,
        inodes: Callable[[], frozenset[int]],
        masker: Masker | None = None,
    ) -> None:
        """Wrap a reader of the vault.

        Args:
            reader: The reader of all notes.
            rules: Rules that make a note private.
            inodes: The files that are private by their path; a link to one is private too.
            masker: Hides keys and tokens in what is read, after it is known whether the note is private.
        """
        self._masker = masker
        self._reader = reader
        self._rules = rules
        self._inodes = inodes

    def read(self, path: NotePath) -> ReadResult:
        if self._rules.by_path(path):
            return Gone(path)
        result = self._reader.read(path)
        if isinstance(result, Content):
            note = parse_note(path, result.data)
            if self._rules.hides(path, note.properties, note.tags) or result.entry.inode in self._inodes():
                return Gone(path)
            if self._masker is not None:
                return replace(result, data=self._masker.data(result.data))
        return result


class MaskedTable:
    """A table whose texts have their keys and tokens masked. Paths stay: they are what notes are asked for by."""

    def __init__(self, table: NoteTable, masker: Masker) -> None:
        self._table = table
        self._mask = masker.text
        self.id_of = table.id_of
        self.named = table.named
        self.near_paths = table.near_paths
        self.all_ids = table.all_ids
        self.matching = table.matching
        self.having = table.having
        self.dated = table.dated
        self.sort_days = table.sort_days
        self.last_changed = table.last_changed
        self.entries = table.entries
        self.neighbours = table.neighbours

    def by_ids(self, ids: Iterable[NoteId]) -> dict[NoteId, NoteRow]:
        return {note_id: self._masked(row) for note_id, row in self._table.by_ids(ids).items()}

    def headings(self, ids: Iterable[NoteId]) -> dict[NoteId, list[tuple[int, str]]]:
        found = self._table.headings(ids)
        return {note_id: [(line, self._mask(text)) for line, text in named] for note_id, named in found.items()}

    def tags(self) -> list[tuple[str, int]]:
        return [(self._mask(tag), count) for tag, count in self._table.tags()]

    def _masked(self, row: NoteRow) -> NoteRow:
        mask = self._mask
        properties = {
            name: mask(value) if isinstance(value, str) else tuple(map(mask, value))
            for name, value in row.properties.items()
        }
        tags, aliases = tuple(map(mask, row.tags)), tuple(map(mask, row.aliases))
        return replace(row, title=mask(row.title), properties=properties, tags=tags, aliases=aliases)


class AgentCensus:
    """Counts the notes an agent may see. A file that was not read may be private: none is counted or listed."""

    def __init__(self, table: NoteTable) -> None:
        self._table = table

    def count(self) -> int:
        return len(self._table.all_ids())

    def skipped(self) -> Mapping[NotePath, Skipped]:
        return {}

    def problems(self) -> list[Skipped]:
        return []


class AgentScan:
    """A query against the vectors of these notes only."""

    def __init__(self, scan: VectorScan, seen: frozenset[NoteId], hidden: frozenset[NoteId]) -> None:
        self._scan = scan
        self._seen = seen
        self._hidden = hidden

    def notes(self, k: int, allowed: frozenset[NoteId] | None = None) -> list[tuple[NoteId, float]]:
        return self._scan.notes(k, self._among(allowed))

    def matches(self, k: int, allowed: frozenset[NoteId] | None, others: NDArray[np.int64]) -> VectorMatches:
        found = self._scan.matches(k, self._among(allowed), others)
        unseen = np.array([note_id not in self._seen for note_id in found.ids.tolist()], np.bool_)
        found.notes[unseen] = found.passages[unseen] = np.nan
        found.counts[unseen] = 0
        return found

    def passage(self, note_id: NoteId) -> tuple[float, int, int] | None:
        return self._scan.passage(note_id) if note_id in self._seen else None

    def background(self, without: frozenset[NoteId] = frozenset()) -> tuple[float, float]:
        return self._scan.background(self._hidden | without)

    @property
    def scale(self) -> Scale:
        return self._scan.scale

    def _among(self, allowed: frozenset[NoteId] | None) -> frozenset[NoteId]:
        return self._seen if allowed is None else allowed & self._seen


def without_hints(result: T) -> T:
    """Return an answer without the commands that help: they are a person's to run."""
    if isinstance(result, Answer | Explanation):
        result = replace(result, reasons=tuple(replace(reason, hint="") for reason in result.reasons))
    if isinstance(result, Explanation) and result.asked is not None and not result.asked.hint.startswith(GUESS):
        result = replace(result, asked=replace(result.asked, hint=""))
    if isinstance(result, DaemonStatus):
        vaults = tuple(replace(vault, hint="") for vault in result.vaults)
        return cast("T", replace(result, vaults=vaults, embedder=replace(result.embedder, hint="")))
    return result


def blind(
    parts: VaultContext,
    table: NoteTable,
    engine: Pipeline,
    rules: PrivateRules,
    hits: Callable[[NoteReader], HitMaker],
    hidden: Callable[[], frozenset[NoteId]],
    inodes: Callable[[], frozenset[int]],
    standings: Validities,
    masker: Masker | None = None,
) -> VaultContext:
    """Return the context that agents are answered from, without the private notes.

    Args:
        parts: The context for persons.
        table: Without the private notes.
        engine: A pipeline whose retrievers leave them out.
        rules: Rules that make a note private.
        hits: Makes hits from what this reader reads.
        hidden: The private notes.
        inodes: The files that are private by their path.
        standings: The validity of notes, by what the visible notes say.
        masker: Hides keys and tokens; None where the settings do not want that.
    """

    def seen_by_agents(scan: VectorScan) -> VectorScan:
        # What is seen is listed, not what is hidden: a note that comes meanwhile is in neither.
        seen = table.matching(Filters())
        return scan if seen is None else AgentScan(scan, seen, hidden())

    reader = AgentReader(parts.reader, rules, inodes, masker)
    return replace(
        parts,
        reader=reader,
        index=AgentCensus(table),
        table=table,
        engine=engine,
        hits=hits(reader),
        why_excluded=lambda path: None,  # a pattern may name what it hides
        watching=lambda: "",
        events=(),
        narrowed=seen_by_agents,
        standings=standings,
        lacking=lambda multilingual: len(parts.meaning.lacking(multilingual) & frozenset(table.all_ids())),
        for_agents=True,
    )
