"""What goes over the socket: each method's parameters, the results that are not values of ``model``, and notifications.

Parameters are strict: an unknown name is refused, with the nearest known one, rather than ignored in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from vaultrag.domain import Answer, DaemonStatus, Reader
from vaultrag.rpc.protocol import PROTOCOL_MAX, PROTOCOL_MIN


class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of every method's parameters."""


class Hello(Params, frozen=True):
    client: str
    """The client's name and version, for the log."""
    protocol_min: int = PROTOCOL_MIN
    protocol_max: int = PROTOCOL_MAX
    vault: str = ""
    """The vault that later calls mean when they name none: an id, a folder, or a folder's name."""
    positions: Literal["codepoint", "utf-16", "byte"] = "codepoint"
    """How spans and columns are counted: code points, UTF-16 units, or bytes of UTF-8."""
    token: str = ""
    """Over TCP: the content of the token file."""
    reader: Literal["person", "agent"] = "person"
    """Who gets the answers. From an agent private notes are kept; a connection that was an agent's stays one."""
    searches: bool = False
    """A search follows: the model is loaded meanwhile, so that the search need not wait for it."""


class Search(Params, frozen=True):
    query: str
    limit: int = 0
    """Hits at most; 0 for the default."""
    mode: Literal["hybrid", "words", "meaning"] = "hybrid"
    typing: bool = False
    """The last word may still go on."""
    preview_chars: int = 700
    partial: bool = False
    """Send what words found at once, as the notification ``search/partial``."""
    shape: Literal["full", "preview", "compact"] | None = None
    """How much of each note: all of it in ``text``, its best passage in ``preview``, or one line in ``line``."""
    reader: Literal["large", "small"] | None = None
    """Who reads: sets ``shape`` and ``limit`` where they are not said. large: compact, 10; small: compact, 5."""
    max_tokens: int = 0
    """Budget of all hits together; what was cut for it says so in ``cut`` and ``shortened``. 0 for none."""
    deadline_ms: int | None = None
    """How long the model is waited for; then the answer is ``partial``. 0: as long as it takes. null: what the settings
    say, or as long as it takes where ``partial`` is true."""
    include_weak: bool = False
    """Put weak hits among the others, in place of three of them in ``nearest``."""
    vault: str = ""


class Explain(Params, frozen=True):
    query: str
    path: str = ""
    """A note to explain besides, also one that is missing from the answer."""
    limit: int = 0
    mode: Literal["hybrid", "words", "meaning"] = "hybrid"
    vault: str = ""


class Related(Params, frozen=True):
    path: str
    limit: int = 0
    linked: bool = True
    """False leaves out notes that are linked with this one already."""
    folder: str = ""
    """Only notes in this folder or below it."""
    vault: str = ""


class Get(Params, frozen=True):
    path: str
    first_line: int = 0
    last_line: int = 0
    heading: str = ""
    """Only the section under this heading."""
    shape: Literal["full", "preview", "compact"] = "full"
    """``preview``: only the beginning; ``compact``: the note on one line."""
    max_tokens: int = 0
    """Budget of the text; ``cut`` says how many of the lines asked for are left. 0 for none."""
    vault: str = ""


class RulesParams(Params, frozen=True):
    max_tokens: int | None = None
    """What all rules may cost together; null for the setting, 0 for no bound. More is an error that names them."""
    vault: str = ""


class RecentParams(Params, frozen=True):
    limit: int = 0
    """Notes at most; 0 for 10."""
    folder: str = ""
    """Only notes in this folder or below it."""
    tag: str = ""
    """Only notes with this tag, or one below it."""
    max_tokens: int = 0
    vault: str = ""


class CatalogueParams(Params, frozen=True):
    folder: str = ""
    """Only notes in this folder or below it."""
    tag: str = ""
    """Only notes with this tag, or one below it."""
    limit: int = 0
    """Notes at most; 0 for 2000."""
    max_tokens: int = 0
    vault: str = ""


class Triggers(Params, frozen=True):
    tool: str = ""
    """Name of the tool that is about to be used."""
    path: str = ""
    """The file that it is used on."""
    command: str = ""
    """The command that is about to be run."""
    session: str = ""
    """No note comes twice in one session; empty: nothing is remembered."""
    max_tokens: int | None = None
    """Budget of all notes together; notes beyond it are told on one line. null for 2000, 0 for none."""
    vault: str = ""


class InNoteParams(Params, frozen=True):
    path: str
    query: str
    limit: int = 0
    """Lines at most; 0 for the default."""
    mode: Literal["hybrid", "words", "meaning"] = "hybrid"
    """``words`` leaves out the passage nearest in meaning, ``meaning`` the lines that hold words."""
    vault: str = ""


class Why(Params, frozen=True):
    path: str
    """A note, also one that is not indexed or not there."""
    vault: str = ""


class Tags(Params, frozen=True):
    vault: str = ""


class Status(Params, frozen=True):
    full: bool = False
    """List the notes that are skipped or odd, with the reason."""
    files: bool = False
    """Count everything in each vault by what became of it; with ``full``, list that too. Walks the vault."""


class Reindex(Params, frozen=True):
    vault: str = ""


class AddVault(Params, frozen=True):
    path: str
    """An absolute folder."""


class RemoveVault(Params, frozen=True):
    vault: str


class Shutdown(Params, frozen=True):
    pass


class Subscribe(Params, frozen=True):
    status: bool = True
    """Send ``status/changed`` when the daemon, a vault or the embedder fares otherwise than before."""
    notes: bool = True
    """Send ``notes/changed`` when notes were read anew or are gone."""
    vault: str = ""
    """Whose notes; that of ``hello`` when empty, and all where ``hello`` named none."""


class PartialAnswer(msgspec.Struct, frozen=True):
    """What words found, for the search with this id; its answer follows."""

    id: int | str
    answer: Answer


class CancelRequest(msgspec.Struct, frozen=True):
    """Takes back a call, which is answered all the same: ``Cancelled``, or its result if that was quicker."""

    id: int | str


class StatusChanged(msgspec.Struct, frozen=True):
    """How the daemon fares now. May come before the answer to ``subscribe``."""

    status: DaemonStatus


class NotesChanged(msgspec.Struct, frozen=True):
    """Notes that were read anew or are gone. ``more``: there were others; ask again for what is shown."""

    vault: str
    paths: tuple[str, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Welcome:
    """The answer to ``hello``."""

    name: str
    version: str
    protocol: int
    pid: int
    vault: str
    vaults: tuple[str, ...]
    methods: tuple[str, ...]
    reader: Reader = "person"
    positions: Literal["codepoint", "utf-16", "byte"] = "codepoint"
    build: str = ""
    """Digest of the daemon's source."""
    identity: str = ""
    """Names the model and the recipe of that vault's vectors; empty while there are none."""


@dataclass(frozen=True, slots=True)
class Subscribed:
    """What the connection is told from now on (the names of notifications), and how the daemon fares now."""

    tells: tuple[str, ...]
    status: DaemonStatus


@dataclass(frozen=True, slots=True)
class Done:
    """The answer of a method that has nothing to say."""

    ok: bool = True
