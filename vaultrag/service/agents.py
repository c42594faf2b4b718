"""What an agent gets to see of a vault: the same parts, blind to the private notes.

An agent's service is built on parts of its own (``blind``). Its table and arms leave the private notes out before
anything is counted or ranked, so that no method need think of them, not even one that is added later. What is left to
do here is what no table knows: the file as it is at this moment, the vectors, and the figures of the whole vault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vaultrag.model import Aged, Content, Gone, NoteId, NotePath, ReadResult, Skipped
from vaultrag.notes import parse_note
from vaultrag.notes.private import PrivateRules
from vaultrag.ports import NoteReader, NoteTable, VectorScan
from vaultrag.search.engine import Engine
from vaultrag.search.hits import HitMaker
from vaultrag.service.parts import VaultParts


class AgentReader:
    """Reads notes; one that is private by what its file says *now* is not there, whatever the index still thinks."""

    def __init__(self, reader: NoteReader, rules: PrivateRules, inodes: Callable[[], frozenset[int]]) -> None:
        """Args:
        inodes: The files that are private by where they lie; a link to one is private too.
        """
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
        return result


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

    def passages(self, k: int, allowed: frozenset[NoteId] | None = None) -> list[tuple[NoteId, float]]:
        return self._scan.passages(k, self._among(allowed))

    def together(
        self, k: int, allowed: frozenset[NoteId] | None, others: Sequence[NoteId]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        return self._scan.together(k, self._among(allowed), [note_id for note_id in others if note_id in self._seen])

    def passage(self, note_id: NoteId) -> tuple[float, int, int] | None:
        return self._scan.passage(note_id) if note_id in self._seen else None

    def background(self, without: frozenset[NoteId] = frozenset()) -> tuple[float, float]:
        return self._scan.background(self._hidden | without)

    def _among(self, allowed: frozenset[NoteId] | None) -> frozenset[NoteId]:
        return self._seen if allowed is None else allowed & self._seen


def blind(
    parts: VaultParts,
    table: NoteTable,
    engine: Engine,
    rules: PrivateRules,
    hits: Callable[[NoteReader], HitMaker],
    hidden: Callable[[], frozenset[NoteId]],
    inodes: Callable[[], frozenset[int]],
    standings: Callable[[], Mapping[NoteId, Aged]],
) -> VaultParts:
    """The parts that agents are answered from.

    Args:
        parts: Those for persons.
        table: Without the private notes.
        engine: With arms that are without them.
        rules: What makes a note private.
        hits: Makes hits of what this reader reads.
        hidden: The private notes.
        inodes: The files that are private by where they lie.
        standings: The notes that no longer hold, by what the visible notes say.
    """

    def seen_by_agents(scan: VectorScan) -> VectorScan:
        # What is seen is listed, not what is hidden: a note that comes meanwhile is in neither.
        unseen = hidden()
        return AgentScan(scan, frozenset(table.all_ids()), unseen) if unseen else scan

    reader = AgentReader(parts.reader, rules, inodes)
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
        lacking=lambda: len(parts.meaning.awaited & frozenset(table.all_ids())),
        for_agents=True,
    )
