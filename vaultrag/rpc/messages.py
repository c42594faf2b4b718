"""Messages on the socket: the parameters of the daemon's own methods, their results, and notifications.

What is asked of a vault is in ``domain.requests``. Parameters are strict: an unknown name is refused, with the nearest
known one, rather than ignored in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import msgspec

from vaultrag.domain import Answer, DaemonStatus, Reader, VaultStatus
from vaultrag.domain.requests import Params
from vaultrag.rpc.protocol import PROTOCOL_MAX, PROTOCOL_MIN


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
    root: str = ""
    """The folder of the vault that calls without a vault mean; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Subscribed:
    """The names of the notifications that will come, and the state of the daemon now."""

    tells: tuple[str, ...]
    status: DaemonStatus


@dataclass(frozen=True, slots=True)
class Done:
    """The answer of a method that has nothing to say."""

    ok: bool = True


class Hello(Params[Welcome], frozen=True):
    """Begin: agree on a protocol version. The first call on a connection."""

    method: ClassVar[str] = "hello"
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


class Status(Params[DaemonStatus], frozen=True):
    """Return the state of the daemon, its embedder and its vaults."""

    method: ClassVar[str] = "status"
    full: bool = False
    """List the notes that are skipped or odd, with the reason."""
    files: bool = False
    """Count everything in each vault by what became of it; with ``full``, list that too. Walks the vault."""


class Reindex(Params[VaultStatus], frozen=True):
    """Compare the whole vault with the disk. For a person: read every file, accept missing files, retry failed ones."""

    method: ClassVar[str] = "reindex"
    vault: str = ""


class AddVault(Params[VaultStatus], frozen=True):
    """Serve a folder of notes, now and after a restart."""

    method: ClassVar[str] = "add_vault"
    path: str
    """An absolute folder."""


class RemoveVault(Params[Done], frozen=True):
    """Stop serving a vault. Its index stays on disk; its notes are not touched."""

    method: ClassVar[str] = "remove_vault"
    vault: str


class Shutdown(Params[Done], frozen=True):
    """Stop the daemon after the answers under way."""

    method: ClassVar[str] = "shutdown"


class Subscribe(Params[Subscribed], frozen=True):
    """Send notifications of changes from now on. Asking again replaces the last request; both false ends it."""

    method: ClassVar[str] = "subscribe"
    status: bool = True
    """Send ``status/changed`` when the state of the daemon, a vault or the embedder changes."""
    notes: bool = True
    """Send ``notes/changed`` when notes were read again or are gone."""
    vault: str = ""
    """Whose notes; that of ``hello`` when empty, and all where ``hello`` named none."""


class PartialAnswer(msgspec.Struct, frozen=True):
    """The hits that words found, for the search with this id. Its answer follows."""

    id: int | str
    answer: Answer


class CancelRequest(msgspec.Struct, frozen=True):
    """Takes back a call, which is answered all the same: ``Cancelled``, or its result if that was quicker."""

    id: int | str


class StatusChanged(msgspec.Struct, frozen=True):
    """The state of the daemon now. May come before the answer to ``subscribe``."""

    status: DaemonStatus


class NotesChanged(msgspec.Struct, frozen=True):
    """Notes that were read again or are gone. ``more``: there were others; ask again for what is shown."""

    vault: str
    paths: tuple[str, ...]
    more: bool
