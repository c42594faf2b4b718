"""``VaultService``: answers every request about one vault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vaultrag.app import read
from vaultrag.app.census import file_counts
from vaultrag.app.context import VaultContext
from vaultrag.app.diagnosis import diagnose, sources_of
from vaultrag.app.freshness import index_info
from vaultrag.app.list_notes import NoteLists
from vaultrag.app.search import SearchService
from vaultrag.app.status import embedder_status, vault_status
from vaultrag.app.stopwatch import stopwatch
from vaultrag.app.timeline import Timelines
from vaultrag.app.warm_up import WarmUp
from vaultrag.config import SearchSettings
from vaultrag.domain import (
    Answer,
    Catalogue,
    Diagnosis,
    EmbedderStatus,
    Explanation,
    InNote,
    NoteView,
    Reader,
    Recent,
    Rules,
    TagCount,
    Triggered,
    VaultStatus,
)
from vaultrag.domain.requests import (
    CatalogueParams,
    Explain,
    Get,
    InNoteParams,
    RecentParams,
    Related,
    RulesParams,
    Search,
    TimelineParams,
    Triggers,
)
from vaultrag.domain.timeline import Timeline
from vaultrag.errors import NotForAgents


class VaultService:
    """Answers for one vault."""

    def __init__(self, parts: VaultContext, settings: SearchSettings, agents: VaultContext | None = None) -> None:
        """Serve a vault.

        Args:
            parts: The context for persons.
            settings: Defaults of a search.
            agents: The context for agents; without it they get no answer at all.
        """
        self._parts = parts
        self._agents = VaultService(agents, settings) if agents is not None else None
        self._asking = SearchService(parts, settings)
        self._listing = NoteLists(parts)
        self._timelines = Timelines(parts, self._asking)
        self._warmer = WarmUp(parts.looking, parts.clock)
        self.id = parts.id
        self.root = parts.root
        self.name = parts.root.name

    def for_reader(self, reader: Reader) -> VaultService:
        """Return the vault as this reader may see it.

        Raises:
            NotForAgents: This service was made without a view for agents.
        """
        if reader == "person" or self._parts.for_agents:
            return self
        if self._agents is None:
            raise NotForAgents("this vault is not open to agents")
        return self._agents

    @property
    def parts(self) -> VaultContext:
        """Return the objects of the vault, for evaluation."""
        return self._parts

    def search(
        self,
        request: Search,
        *,
        partial: Callable[[Answer], None] | None = None,
        measure: Callable[[str], int] = len,
    ) -> Answer:
        """Return the notes that fit a query, best first; none where none does.

        Args:
            request: The query, in the query language (``retrieval.query_parser``), and how to deliver the answer.
            partial: Called once with what words and names found, before the vectors are compared.
            measure: Counts a text in the units that columns are wanted in; code points by default.
        """
        with self._parts.asked(), stopwatch() as times:
            answer = self._asking.search(request, partial=partial, measure=measure)
            return replace(answer, times_ms=dict(times))

    def explain(self, request: Explain) -> Explanation:
        """Explain how a query was read, and why each note ranks where it does."""
        with self._parts.asked(), stopwatch() as times:
            explanation = self._asking.explain(request)
            return replace(explanation, times_ms=dict(times))

    def in_note(self, request: InNoteParams, *, measure: Callable[[str], int] = len) -> InNote:
        """Find where a query stands in one note: the lines with its words, and the passage nearest in meaning.

        Args:
            request: The note and the query. Conditions are not applied, the note being chosen already.
            measure: Counts a text in the units that columns are wanted in; code points by default.

        Raises:
            NoteNotFound, NoteUnreadable, PathRefused
        """
        with self._parts.asked():
            return self._asking.in_note(request, measure)

    def related(self, request: Related) -> Answer:
        """Find the notes near in meaning to one note, or linked with it. The note itself is never among them.

        Raises:
            NoteNotFound, PathRefused
        """
        with self._parts.asked():
            return self._asking.related(request)

    def get(self, request: Get) -> NoteView:
        """Return a note, whole, or the lines asked for (1-based, inclusive), or the section under a heading.

        The path may be a citation; of that only the path counts.

        Raises:
            NoteNotFound, NoteUnreadable, PathRefused, InvalidParams
        """
        return read.get(self._parts, request)

    def rules(self, request: RulesParams) -> Rules:
        """Return every rule, whole, in the order in which they were made: by ``created``, then by path.

        Raises:
            RulesTooLong: They cost more than the budget; it names them.
            NoteUnreadable: A rule cannot be read now; it is not left out in silence.
        """
        return self._listing.rules(request)

    def recent(self, request: RecentParams) -> Recent:
        """List notes on one line each, the latest changed first."""
        return self._listing.recent(request)

    def timeline(self, request: TimelineParams) -> Timeline:
        """List what the vault says about a thing in order of time, one line each."""
        with self._parts.asked():
            return self._timelines.timeline(request)

    def catalogue(self, request: CatalogueParams) -> Catalogue:
        """List notes on one line each, by type, in an order that no edit of a note's text changes."""
        return self._listing.catalogue(request)

    def triggers(self, request: Triggers) -> Triggered:
        """Return the notes whose ``when`` fits what is about to be done; see ``markdown.triggers``."""
        return self._listing.triggers(request)

    def tags(self) -> tuple[TagCount, ...]:
        """List every tag with the number of its notes, the most used first."""
        return tuple(TagCount(tag, count) for tag, count in self._parts.table.tags())

    def why(self, path: str) -> Diagnosis:
        """Explain what became of a note: found, or why not."""
        return diagnose(sources_of(self._parts), path)

    def status(self, *, full: bool = False, files: bool = False) -> VaultStatus:
        """Return the state of the vault. ``full`` lists skipped and odd notes; ``files`` counts every file in it."""
        status = vault_status(self._parts, full=full)
        if files and not self._parts.for_agents:
            return replace(status, files=file_counts(self._parts, listed=full))
        return status

    def embedder_status(self) -> EmbedderStatus:
        """Return the embedder of this vault and its state."""
        return embedder_status(self._parts)

    def reindex(self) -> None:
        """Compare all with the disk; for a person read every file, believe what is missing, retry what failed."""
        self._parts.worker.reconcile(confirmed=not self._parts.for_agents)

    @property
    def identity(self) -> str:
        """Name of the model and the recipe of the vectors in use; empty while there are none."""
        return index_info(self._parts).identity

    def warm(self) -> None:
        """Load the model in another thread, because a search is about to come."""
        self._warmer.warm(self._parts.meaning.view.embedder)

    def close(self) -> None:
        self._parts.close()
