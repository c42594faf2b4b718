"""Every failure vaultrag tells a person or a client about, as one tree.

    VaultragError
    |-- ConfigError            the settings file or an option is wrong
    |-- UsageError             a call or a command was given something it cannot take
    |   |-- InvalidParams          a method's parameters do not fit
    |   |-- MethodNotFound         no such method
    |   |-- InvalidRequest         not a JSON-RPC 2.0 request
    |   |   |-- ParseFailed            not JSON at all
    |   |   `-- MessageTooLarge        one line is longer than the limit
    |   |-- NotForAgents           an agent asks for what only a person may
    |   |-- RulesTooLong           the rules cost more than they may
    |   `-- Cancelled              the caller took the call back
    |-- VaultError             the folder of notes
    |   |-- VaultMissing           no such folder
    |   |-- VaultUnreadable        the folder may not be read
    |   |-- VaultUnsuitable        not a folder of notes, or one that must not be indexed
    |   |-- VaultUnknown           no vault of that name is served
    |   |-- VaultRefused           the vault is known, and its index cannot be opened
    |   |-- NoteNotFound           no such note in the index
    |   |-- NoteUnreadable         the note is known but cannot be read now
    |   `-- PathRefused            a path that leaves the vault or is excluded
    |-- DaemonError            the process that serves
    |   |-- DaemonNotRunning       nothing answers on the socket
    |   |-- DaemonAlreadyRunning   another daemon holds the lock
    |   |-- DaemonFailed           it started and ended before it could serve
    |   |-- ConnectionLost         the daemon went away in mid-call
    |   `-- ProtocolMismatch       client and daemon speak different versions
    |-- StoreError             the two database files
    |   |-- StoreCorrupt           a file fails its check
    |   |-- StoreFull              no room on the disk, or the folder is read-only
    |   `-- StoreTooNew            written by a newer vaultrag
    |-- ServiceError           the system's service manager, or what is installed with it
    `-- EmbedError             turning text into vectors
        |-- EmbedderUnavailable    the server is down or too slow: worth trying again
        |-- ModelMissing           the server has no such model
        |-- ModelBroken            the model's files are absent or not the pinned ones
        `-- BadVectors             wrong count, wrong dimension, zero or not finite

A class is a *kind* of failure: it carries the JSON-RPC code and the exit code. The message says what and
why in one sentence; ``hint`` is the command (or the step) that helps. Foreign exceptions are translated once,
where the foreign library is called.
"""

from __future__ import annotations

from typing import ClassVar, Literal


class VaultragError(Exception):
    """Base of everything vaultrag raises on purpose.

    Args:
        message: What went wrong and why, one sentence, no trailing period, no note text.
        hint: What a person types or does next; empty when there is nothing to do.
        agent_hint: What a model does next: a tool to call or a step to take, never a shell command.
        data: Small JSON-safe facts for clients (a path, a limit).
    """

    code: ClassVar[int] = -32000
    exit_code: ClassVar[int] = 2
    default_hint: ClassVar[str] = ""
    default_agent_hint: ClassVar[str] = "tell the person you work for; this is theirs to repair"

    def __init__(self, message: str, *, hint: str = "", agent_hint: str = "", **data: str | int | float | bool) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.default_hint
        self.agent_hint = agent_hint or self.default_agent_hint
        self.data = data

    def hint_for(self, reader: Literal["person", "agent"]) -> str:
        """Return the hint for this audience. A model with a shell runs what it reads: it gets no command."""
        return self.agent_hint if reader == "agent" else self.hint


class ConfigError(VaultragError):
    """The settings file, an environment variable or an option cannot be used."""

    code = -32010
    default_hint = "vaultrag config"


class UsageError(VaultragError):
    """A call that cannot be carried out as it was made."""

    code = -32602
    default_agent_hint = ""


class InvalidParams(UsageError):
    """A method's parameters do not fit its schema."""

    code = -32602


class MethodNotFound(UsageError):
    """There is no such method."""

    code = -32601


class InvalidRequest(UsageError):
    """The line is JSON but not a JSON-RPC 2.0 request."""

    code = -32600


class ParseFailed(InvalidRequest):
    """The line is not JSON."""

    code = -32700


class MessageTooLarge(InvalidRequest):
    """One line is longer than the transport allows; the connection is closed."""

    code = -32001


class NotForAgents(UsageError):
    """A client that called itself an agent asks for what only a person may."""

    code = -32002
    default_hint = "ask the person to do it"
    default_agent_hint = default_hint


class RulesTooLong(UsageError):
    """The rules cost more tokens than they may. None of them is left out in silence; the message names them."""

    code = -32003
    default_hint = "shorten them, or raise max_tokens under [rules]"
    default_agent_hint = "ask the person to shorten them, or to raise max_tokens under [rules]"


class Cancelled(UsageError):
    """The caller took the call back; a cancelled call is still answered, with this."""

    code = -32800


class VaultError(VaultragError):
    """Something about the folder of notes."""

    code = -32020


class VaultMissing(VaultError):
    """The folder does not exist."""

    code = -32021


class VaultUnreadable(VaultError):
    """The folder exists but may not be read."""

    code = -32022


class VaultUnsuitable(VaultError):
    """The path is no folder, holds no notes, or is a place that must not be indexed."""

    code = -32023


class VaultUnknown(VaultError):
    """The daemon serves no such vault."""

    code = -32024
    default_hint = "vaultrag vaults"


class VaultRefused(VaultError):
    """The vault is known, but its index cannot be opened now; the daemon tries again by itself."""

    code = -32028
    default_hint = "vaultrag doctor"


class NoteNotFound(VaultError):
    """The index has no such note."""

    code = -32025
    default_agent_hint = "search_notes, for the paths of notes"


class NoteUnreadable(VaultError):
    """The note is known, but its file cannot be read at the moment."""

    code = -32026


class PathRefused(VaultError):
    """The path leaves the vault, or names something vaultrag does not read."""

    code = -32027
    default_agent_hint = "search_notes, for the paths of notes"


class DaemonError(VaultragError):
    """Something about the serving process."""

    code = -32030


class DaemonNotRunning(DaemonError):
    """Nothing answers where the daemon should be."""

    code = -32031
    default_hint = "vaultrag up"


class DaemonAlreadyRunning(DaemonError):
    """Another daemon holds the lock."""

    code = -32032
    default_hint = "vaultrag status"


class DaemonFailed(DaemonError):
    """A daemon was started and ended, or hung, before it could serve."""

    code = -32033


class ConnectionLost(DaemonError):
    """The daemon went away while a call was under way."""

    code = -32034
    default_hint = "vaultrag up"


class ProtocolMismatch(DaemonError):
    """Client and daemon have no protocol version in common."""

    code = -32035
    default_hint = "vaultrag stop && vaultrag up"


class StoreError(VaultragError):
    """Something about the database files. The notes themselves are never at risk."""

    code = -32040


class StoreCorrupt(StoreError):
    """A database file fails its check; it is set aside and built again."""

    code = -32041


class StoreFull(StoreError):
    """The index cannot be written: no room, or a read-only place."""

    code = -32042


class StoreTooNew(StoreError):
    """The file was written by a newer vaultrag."""

    code = -32043


class ServiceError(VaultragError):
    """The system's service manager does not do what it was asked, or there is none."""

    code = -32060


class EmbedError(VaultragError):
    """Something about turning text into vectors."""

    code = -32050


class EmbedderUnavailable(EmbedError):
    """The model's server is down, slow or busy. Worth trying again later."""

    code = -32051


class ModelMissing(EmbedError):
    """The server answers but does not have the model."""

    code = -32052


class ModelBroken(EmbedError):
    """The builtin model's files are absent, or are not the files vaultrag was built against."""

    code = -32053


class BadVectors(EmbedError):
    """The embedder's answer is unusable: wrong count or dimension, zero or non-finite values."""

    code = -32054
