"""A vault's parts for agents, put together: arms, table and reader that are blind to private notes."""

from __future__ import annotations

from vaultrag.config import PrivacySettings, SearchSettings
from vaultrag.errors import ConfigError
from vaultrag.model import NoteId
from vaultrag.notes.private import PrivateRules, tag_key
from vaultrag.search.engine import Engine
from vaultrag.search.hits import HitMaker
from vaultrag.service import VaultParts
from vaultrag.service.agents import blind
from vaultrag.store.fulltext import FullText
from vaultrag.store.names import Names
from vaultrag.store.note_index import NoteIndex
from vaultrag.store.note_rows import NoteRows
from vaultrag.store.private import PrivateNotes
from vaultrag.store.succession import Succession
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


def for_agents(parts: VaultParts, index: NoteIndex, rules: PrivateRules, settings: SearchSettings) -> VaultParts:
    """The vault's parts as agents get them."""
    private = PrivateNotes(rules)
    table, words, names = NoteRows(index, private), FullText(index, private), Names(index, private)
    successors = Succession(index, private).successors

    def hidden() -> frozenset[NoteId]:
        with index.readers.reading() as connection:
            return private(connection)

    def inodes() -> frozenset[int]:
        with index.readers.reading() as connection:
            return private.inodes(connection)

    return blind(
        parts,
        table,
        Engine(words, names, table, table.matching, settings, successors),
        rules,
        lambda reader: HitMaker(table, words, reader),
        hidden,
        inodes,
    )
