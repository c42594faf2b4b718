"""``VaultService``: everything that can be asked of one vault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vaultrag.app import read
from vaultrag.app.census import file_counts
from vaultrag.app.context import VaultContext
from vaultrag.app.diagnosis import of_vault, whereabouts
from vaultrag.app.freshness import index_info
from vaultrag.app.list_notes import NoteLists
from vaultrag.app.search import SearchService
from vaultrag.app.status import embedder_status, vault_status
from vaultrag.app.stopwatch import stopwatch
from vaultrag.app.token_budget import delivery_of
from vaultrag.app.warm_up import WarmUp
from vaultrag.config import SearchSettings
from vaultrag.domain import (
    Answer,
    Capacity,
    Catalogue,
    Diagnosis,
    EmbedderStatus,
    Explanation,
    InNote,
    Mode,
    NoteView,
    Reader,
    Recent,
    Rules,
    Shape,
    TagCount,
    Triggered,
    VaultStatus,
)
from vaultrag.errors import NotForAgents
from vaultrag.markdown.triggers import Deed


class VaultService:
    """Answers for one vault."""

    def __init__(self, parts: VaultContext, settings: SearchSettings, agents: VaultContext | None = None) -> None:
        """Args:
        agents: What agents are answered from; without it they get no answer at all.
        """
        self._parts = parts
        self._agents = VaultService(agents, settings) if agents is not None else None
        self._asking = SearchService(parts, settings)
        self._listing = NoteLists(parts)
        self._warmer = WarmUp(parts.looking, parts.clock)
        self.id = parts.id
        self.root = parts.root
        self.name = parts.root.name

    def for_reader(self, reader: Reader) -> VaultService:
        """The vault as this reader may see it.

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
        """What the vault is made of, for those who measure it."""
        return self._parts

    def search(
        self,
        text: str,
        *,
        limit: int | None = None,
        mode: Mode = "hybrid",
        typing: bool = False,
        preview_chars: int | None = None,
        partial: Callable[[Answer], None] | None = None,
        shape: Shape | None = None,
        reader: Capacity | None = None,
        max_tokens: int = 0,
        deadline_s: float | None = None,
        include_weak: bool = False,
        measure: Callable[[str], int] = len,
    ) -> Answer:
        """Return the notes that are close to a question, best first; none where none is.

        Args:
            text: In the query language (``retrieval.query_parser``); anything goes.
            limit: Hits at most, 1 to ``MAX_LIMIT``.
            mode: Which arms are asked.
            typing: The last word may still go on.
            preview_chars: Length of a preview at most; 0 for none.
            partial: Called once with what words and names found, before meaning is asked.
            shape: How much of each note; a preview, where neither this nor ``reader`` says.
            reader: Sets shape and limit where they are not said.
            max_tokens: Budget of all hits together; 0 for none. What was cut is said in the answer.
            deadline_s: How long the model is waited for; 0 for as long as it takes. None for what the settings say, or
                as long as it takes where ``partial`` is given.
            include_weak: Put weak hits among the others, in place of three of them in ``nearest``.
            measure: Counts a text in the units that columns are wanted in; code points by default.
        """
        with self._parts.asked(), stopwatch() as times:
            answer = self._asking.search(
                text,
                mode=mode,
                typing=typing,
                preview_chars=preview_chars,
                partial=partial,
                wish=replace(delivery_of(shape, reader, limit, max_tokens), measure=measure),
                deadline_s=deadline_s,
                include_weak=include_weak,
            )
            return replace(answer, times_ms=dict(times))

    def explain(self, text: str, *, path: str = "", limit: int | None = None, mode: Mode = "hybrid") -> Explanation:
        """How a query was read, and why each note stands where it stands.

        Args:
            text: In the query language.
            path: A note to explain besides, also one that is not found or not indexed: then the reason.
            limit: Hits explained at most, whether they count as found or not.
            mode: Which arms are asked.
        """
        with self._parts.asked(), stopwatch() as times:
            explanation = self._asking.explain(text, path=path, limit=limit, mode=mode)
            return replace(explanation, times_ms=dict(times))

    def in_note(
        self,
        path: str,
        text: str,
        *,
        limit: int | None = None,
        mode: Mode = "hybrid",
        measure: Callable[[str], int] = len,
    ) -> InNote:
        """Where a query stands in one note: the lines with its words, and the passage nearest in meaning.

        Args:
            path: The note.
            text: In the query language; conditions are not applied, the note being chosen already.
            limit: Lines at most, 1 to ``MAX_LIMIT``.
            mode: ``words`` leaves out the passage, ``meaning`` the lines.
            measure: Counts a text in the units that columns are wanted in; code points by default.

        Raises:
            NoteNotFound, NoteUnreadable, PathRefused
        """
        with self._parts.asked():
            return self._asking.in_note(path, text, limit=limit, mode=mode, measure=measure)

    def related(self, path: str, *, limit: int | None = None, linked: bool = True, folder: str = "") -> Answer:
        """Notes near in meaning to one note, or linked with it.

        Args:
            path: The note; it is never among them.
            limit: Notes at most.
            linked: False leaves out notes that are linked with it already.
            folder: Only notes in this folder or below it.

        Raises:
            NoteNotFound, PathRefused
        """
        with self._parts.asked():
            return self._asking.related(path, limit=limit, linked=linked, folder=folder)

    def get(
        self,
        path: str,
        *,
        first: int | None = None,
        last: int | None = None,
        heading: str = "",
        shape: Shape = "full",
        max_tokens: int = 0,
    ) -> NoteView:
        """A note, whole, or the lines asked for (1-based, inclusive), or the section under a heading.

        Args:
            path: The note, or a citation; of that only the path counts.
            first: First line.
            last: Last line.
            heading: Only this section.
            shape: ``preview``: only the beginning, ``compact``: the note on one line.
            max_tokens: Budget of the text; 0 for none. ``cut`` says how many lines are left.

        Raises:
            NoteNotFound, NoteUnreadable, PathRefused, InvalidParams
        """
        return read.get(self._parts, path, first=first, last=last, heading=heading, shape=shape, max_tokens=max_tokens)

    def rules(self, *, max_tokens: int | None = None) -> Rules:
        """Every rule, whole, in the order in which they were made: by ``created``, then by path.

        Args:
            max_tokens: What they may cost together; None for what the settings say, 0 for no bound.

        Raises:
            RulesTooLong: They cost more; it names them.
            NoteUnreadable: A rule cannot be read now; it is not left out in silence.
        """
        return self._listing.rules(max_tokens)

    def recent(self, *, limit: int | None = None, folder: str = "", tag: str = "", max_tokens: int = 0) -> Recent:
        """Notes on one line each, the latest changed first."""
        return self._listing.recent(limit=limit, folder=folder, tag=tag, max_tokens=max_tokens)

    def catalogue(self, *, folder: str = "", tag: str = "", limit: int | None = None, max_tokens: int = 0) -> Catalogue:
        """Notes on one line each, by type, in an order that no edit of a note's text changes."""
        return self._listing.catalogue(folder=folder, tag=tag, limit=limit, max_tokens=max_tokens)

    def triggers(
        self, *, tool: str = "", path: str = "", command: str = "", session: str = "", max_tokens: int | None = None
    ) -> Triggered:
        """The notes whose ``when`` fits what is about to be done; see ``markdown.triggers``.

        Args:
            tool: The tool's name.
            path: The file that it is used on.
            command: The command that is run.
            session: No note comes twice in one; empty: nothing is remembered.
            max_tokens: Budget of all notes together; None for the default, 0 for none.
        """
        return self._listing.triggers(Deed(tool, path, command), session=session, max_tokens=max_tokens)

    def tags(self) -> tuple[TagCount, ...]:
        """Every tag with the number of its notes, the most used first."""
        return tuple(TagCount(tag, count) for tag, count in self._parts.table.tags())

    def why(self, path: str) -> Diagnosis:
        """What has become of a note: found, or why not."""
        return whereabouts(of_vault(self._parts), path)

    def status(self, *, full: bool = False, files: bool = False) -> VaultStatus:
        """How the vault fares. ``full`` lists skipped and odd notes; ``files`` counts everything in the vault."""
        status = vault_status(self._parts, full=full)
        if files and not self._parts.for_agents:
            return replace(status, files=file_counts(self._parts, listed=full))
        return status

    def embedder_status(self) -> EmbedderStatus:
        """What turns this vault's text into vectors, and how it fares."""
        return embedder_status(self._parts)

    def reindex(self) -> None:
        """Compare all with the disk; for a person read every file, believe what is missing, retry what failed."""
        self._parts.worker.reconcile(confirmed=not self._parts.for_agents)

    @property
    def identity(self) -> str:
        """Name of the model and the recipe of the vectors in use; empty while there are none."""
        return index_info(self._parts).identity

    def warm(self) -> None:
        """Have the model loaded, in another thread, because a search is about to come."""
        self._warmer.warm(self._parts.meaning.view.embedder)

    def close(self) -> None:
        self._parts.close()
