"""A vault's parts for agents, put together: arms, table and reader that are blind to private notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime

from vaultrag.config import PrivacySettings
from vaultrag.errors import ConfigError
from vaultrag.model import NoteId
from vaultrag.notes.private import PrivateRules, tag_key
from vaultrag.ports import Clock, Masker, NoteTable
from vaultrag.retrieval.hits import HitMaker
from vaultrag.retrieval.pipeline import Pipeline
from vaultrag.service import VaultParts
from vaultrag.service.agents import MaskedTable, blind
from vaultrag.service.stopwatch import TimedNames, TimedWords
from vaultrag.store.fulltext import FullText
from vaultrag.store.names import Names
from vaultrag.store.note_index import NoteIndex
from vaultrag.store.note_rows import NoteRows
from vaultrag.store.private import PrivateNotes
from vaultrag.store.standings import Standings
from vaultrag.store.word_lists import WordLists
from vaultrag.watch.private import private_paths


def private_rules(settings: PrivacySettings) -> PrivateRules:
    """What the settings keep from agents.

    Raises:
        ConfigError: A path or a tag that makes no sense; to pass it over would show what it was meant to hide.
    """
    tags = tuple(tag_key(tag) for tag in settings.tags)
    if "" in tags:
        raise ConfigError("privacy.tags: an empty tag names no note", hint='for example tags = ["personal"]')
    return PrivateRules(tags, private_paths(settings.paths), any_path=bool(settings.paths))


def today(clock: Clock) -> Callable[[], date]:
    """The day, by the machine's own calendar."""
    return lambda: datetime.fromtimestamp(clock.time_ns() / 1e9).astimezone().date()


def for_agents(
    parts: VaultParts,
    index: NoteIndex,
    lists: WordLists,
    rules: PrivateRules,
    masker: Masker | None,
) -> VaultParts:
    """The vault's parts as agents get them. ``lists`` are those of everybody: what is hidden is left out afterwards."""
    private = PrivateNotes(rules)
    rows, words, names = NoteRows(index, private), FullText(index, private, lists), Names(index, private)
    table: NoteTable = rows if masker is None else MaskedTable(rows, masker)
    standings = Standings(index, today(parts.clock), private)

    def hidden() -> frozenset[NoteId]:
        with index.readers.reading() as connection:
            return private(connection)

    def inodes() -> frozenset[int]:
        with index.readers.reading() as connection:
            return private.inodes(connection)

    blinded = blind(
        parts,
        table,
        Pipeline(TimedWords(words), TimedNames(names), table, table.matching, standings),
        rules,
        lambda reader: HitMaker(table, words, reader, standings),
        hidden,
        inodes,
        standings,
        masker,
    )
    return replace(blinded, waiting=lambda: 0, files=tuple, indexed=frozenset, is_there=lambda path: "")
