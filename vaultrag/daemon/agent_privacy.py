"""The context for agents: retrievers, table and reader that leave private notes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime

from vaultrag.app import VaultContext
from vaultrag.app.agent_view import MaskedTable, blind
from vaultrag.app.stopwatch import TimedLexicalRetriever, TimedTitleRetriever
from vaultrag.config import PrivacySettings
from vaultrag.domain import NoteId, NoteRow
from vaultrag.errors import ConfigError
from vaultrag.markdown.private_flag import PrivateRules, tag_key
from vaultrag.protocols import Clock, Masker, NoteTable
from vaultrag.retrieval.hit_maker import HitMaker
from vaultrag.retrieval.pipeline import Pipeline
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.lexical.posting_cache import PostingCache
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_rows import NoteRows
from vaultrag.storage.notes.validity import NoteValidities
from vaultrag.storage.private_notes import PrivateNotes
from vaultrag.storage.titles.title_retriever import SqliteTitleRetriever
from vaultrag.watcher.private_paths import private_paths


def private_rules(settings: PrivacySettings) -> PrivateRules:
    """Return the rules that hide notes from agents.

    Raises:
        ConfigError: A path or a tag that makes no sense; to pass it over would show what it was meant to hide.
    """
    tags = tuple(tag_key(tag) for tag in settings.tags)
    if "" in tags:
        raise ConfigError("privacy.tags: an empty tag names no note", hint='for example tags = ["personal"]')
    return PrivateRules(tags, private_paths(settings.paths), any_path=bool(settings.paths))


def reason_of(index: NoteIndex, rules: PrivateRules, private: PrivateNotes) -> Callable[[NoteRow], str]:
    """Return a function that says why a note is kept from agents; nothing where it is not."""

    def reason(row: NoteRow) -> str:
        if said := rules.reason(row.path, row.properties, row.tags):
            return said
        with index.readers.reading() as connection:
            return "only private notes lead to it" if private.shared_only_by_private(connection, row.note_id) else ""

    return reason


def today(clock: Clock) -> Callable[[], date]:
    """Return a function that gives the local date."""
    return lambda: datetime.fromtimestamp(clock.time_ns() / 1e9).astimezone().date()


def for_agents(
    parts: VaultContext,
    index: NoteIndex,
    lists: PostingCache,
    rules: PrivateRules,
    masker: Masker | None,
    private: PrivateNotes,
) -> VaultContext:
    """Return the context for agents. ``lists`` hold all notes: hidden ones are left out afterwards."""
    rows, words, names = (
        NoteRows(index, private),
        SqliteLexicalRetriever(index, private, lists),
        SqliteTitleRetriever(index, private),
    )
    table: NoteTable = rows if masker is None else MaskedTable(rows, masker)
    standings = NoteValidities(index, today(parts.clock), private)

    def hidden() -> frozenset[NoteId]:
        with index.readers.reading() as connection:
            return private(connection)

    def inodes() -> frozenset[int]:
        with index.readers.reading() as connection:
            return private.inodes(connection)

    blinded = blind(
        parts,
        table,
        Pipeline(
            TimedLexicalRetriever(words),
            TimedTitleRetriever(names),
            table,
            table.matching,
            standings,
            today=today(parts.clock),
        ),
        rules,
        lambda reader: HitMaker(table, words, reader, standings),
        hidden,
        inodes,
        standings,
        masker,
    )
    return replace(blinded, waiting=lambda: 0, files=tuple, indexed=frozenset, is_there=lambda path: "")
