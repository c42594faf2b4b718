"""The table of methods: names, parameters, results, errors. The one source of the schema, the types and the reference.

Parameters are strict: an unknown name is refused, with the nearest known one, rather than ignored in silence. Results
are the values of ``model``. Positions count code points unless the client asked for other units in ``hello``.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from vaultrag import __version__
from vaultrag.app import Service, VaultService
from vaultrag.app.agent_view import without_hints
from vaultrag.domain import (
    Answer,
    Catalogue,
    DaemonStatus,
    Diagnosis,
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
from vaultrag.errors import InvalidParams, InvalidRequest, MethodNotFound, NotForAgents, ProtocolMismatch, VaultragError
from vaultrag.rpc.messages import (
    AddVault,
    CancelRequest,
    CatalogueParams,
    Done,
    Explain,
    Get,
    Hello,
    InNoteParams,
    NotesChanged,
    Params,
    PartialAnswer,
    RecentParams,
    Reindex,
    Related,
    RemoveVault,
    RulesParams,
    Search,
    Shutdown,
    Status,
    StatusChanged,
    Subscribe,
    Subscribed,
    Tags,
    Triggers,
    Welcome,
    Why,
)
from vaultrag.rpc.offset_encodings import Units, in_answer, in_matches, length
from vaultrag.rpc.protocol import CANCEL, PARTIAL, PROTOCOL_MAX, PROTOCOL_MIN
from vaultrag.rpc.subscriptions import NOTES_CHANGED, STATUS_CHANGED, Wish


@dataclass(slots=True)
class Session:
    """What the server remembers of one connection."""

    service: Service
    stop: Callable[[], None]
    greeted: bool = False
    client: str = ""
    vault: str = ""
    reader: Reader = "person"
    units: Units = "codepoint"
    subscribe: Callable[[Wish], None] = lambda wish: None

    def vault_for(self, name: str) -> VaultService:
        """The vault, as this connection's reader may see it."""
        return self.service.vault(name or self.vault).for_reader(self.reader)


Notify = Callable[[Answer], None]


@dataclass(frozen=True, slots=True)
class Method:
    """One method. ``run`` gets the session, the parameters, and a way to send a partial answer.

    ``agents``: agents may call it. Said of each method by itself, so that a new one is closed to them until somebody
    has thought about it.
    """

    name: str
    params: type[Params]
    result: Any
    run: Callable[[Session, Any, Notify], Any]
    summary: str
    errors: tuple[str, ...] = ()
    agents: bool = False


def _hello(session: Session, params: Hello, _: Notify) -> Welcome:
    version = min(PROTOCOL_MAX, params.protocol_max)
    if version < max(PROTOCOL_MIN, params.protocol_min):
        raise ProtocolMismatch(
            f"this daemon (vaultrag {__version__}) speaks protocol {PROTOCOL_MIN} to {PROTOCOL_MAX}, "
            f"the client {params.protocol_min} to {params.protocol_max}",
            protocol_min=PROTOCOL_MIN,
            protocol_max=PROTOCOL_MAX,
        )
    named = session.service.vault(params.vault).id if params.vault else ""
    vaults = session.service.vaults
    if not named and len(vaults) == 1:
        named = vaults[0].id
    if session.reader == "agent" and params.reader != "agent":
        raise NotForAgents("this connection is an agent's and stays one", hint="connect again")
    session.client, session.vault, session.units = params.client[:100], params.vault, params.positions
    session.reader = params.reader
    if session.reader == "agent":
        session.subscribe(Wish(status=False, notes=False))  # what was asked for as a person names notes
    session.greeted = True
    if params.searches:  # several vaults have their model in common
        for vault in session.service.vaults[:1]:
            vault.warm()
    offered = tuple(name for name, method in METHODS.items() if method.agents or session.reader == "person")
    return Welcome(
        "vaultrag",
        __version__,
        version,
        os.getpid(),
        named,
        tuple(vault.id for vault in vaults),
        offered,
        session.reader,
        params.positions,
        session.service.build,
        session.vault_for(named).identity if named else "",
    )


def _search(session: Session, params: Search, notify: Notify) -> Answer:
    def partial(answer: Answer) -> None:
        notify(in_answer(answer, session.units))

    answer = session.vault_for(params.vault).search(
        params.query,
        limit=params.limit or None,
        mode=params.mode,
        typing=params.typing,
        preview_chars=params.preview_chars,
        partial=partial if params.partial else None,
        shape=params.shape,
        reader=params.reader,
        max_tokens=params.max_tokens,
        deadline_s=None if params.deadline_ms is None else params.deadline_ms / 1000,
        include_weak=params.include_weak,
        measure=length(session.units),
    )
    return in_answer(answer, session.units)


def _explain(session: Session, params: Explain, _: Notify) -> Explanation:
    return session.vault_for(params.vault).explain(
        params.query, path=params.path, limit=params.limit or None, mode=params.mode
    )


def _related(session: Session, params: Related, _: Notify) -> Answer:
    answer = session.vault_for(params.vault).related(
        params.path, limit=params.limit or None, linked=params.linked, folder=params.folder
    )
    return in_answer(answer, session.units)


def _get(session: Session, params: Get, _: Notify) -> NoteView:
    return session.vault_for(params.vault).get(
        params.path,
        first=params.first_line or None,
        last=params.last_line or None,
        heading=params.heading,
        shape=params.shape,
        max_tokens=params.max_tokens,
    )


def _rules(session: Session, params: RulesParams, _: Notify) -> Rules:
    return session.vault_for(params.vault).rules(max_tokens=params.max_tokens)


def _recent(session: Session, params: RecentParams, _: Notify) -> Recent:
    return session.vault_for(params.vault).recent(
        limit=params.limit or None, folder=params.folder, tag=params.tag, max_tokens=params.max_tokens
    )


def _catalogue(session: Session, params: CatalogueParams, _: Notify) -> Catalogue:
    return session.vault_for(params.vault).catalogue(
        folder=params.folder, tag=params.tag, limit=params.limit or None, max_tokens=params.max_tokens
    )


def _triggers(session: Session, params: Triggers, _: Notify) -> Triggered:
    return session.vault_for(params.vault).triggers(
        tool=params.tool,
        path=params.path,
        command=params.command,
        session=params.session,
        max_tokens=params.max_tokens,
    )


def _in_note(session: Session, params: InNoteParams, _: Notify) -> InNote:
    vault = session.vault_for(params.vault)
    found = vault.in_note(
        params.path, params.query, limit=params.limit or None, mode=params.mode, measure=length(session.units)
    )
    return in_matches(found, session.units)


def _subscribe(session: Session, params: Subscribe, _: Notify) -> Subscribed:
    name = params.vault or session.vault
    vault = session.service.vault(name).id if name else ""
    status = session.service.status()
    session.subscribe(Wish(params.status, params.notes, vault, status))
    wanted = ((STATUS_CHANGED, params.status), (NOTES_CHANGED, params.notes))
    return Subscribed(tuple(name for name, wished in wanted if wished), status)


def _why(session: Session, params: Why, _: Notify) -> Diagnosis:
    return session.vault_for(params.vault).why(params.path)


def _tags(session: Session, params: Tags, _: Notify) -> tuple[TagCount, ...]:
    return session.vault_for(params.vault).tags()


def _status(session: Session, params: Status, _: Notify) -> DaemonStatus:
    return session.service.status(full=params.full, files=params.files, reader=session.reader)


def _reindex(session: Session, params: Reindex, _: Notify) -> VaultStatus:
    vault = session.vault_for(params.vault)
    vault.reindex()
    return vault.status()


def _add_vault(session: Session, params: AddVault, _: Notify) -> VaultStatus:
    if not params.path.startswith("~") and not Path(params.path).is_absolute():
        raise InvalidParams("add_vault: path must be absolute; the daemon runs in a folder of its own")
    return session.service.add(Path(params.path)).status()


def _remove_vault(session: Session, params: RemoveVault, _: Notify) -> Done:
    if not params.vault:
        raise InvalidParams("remove_vault: say which vault", hint="vaultrag vaults")
    session.service.remove(params.vault)
    return Done()


def _shutdown(session: Session, params: Shutdown, _: Notify) -> Done:
    session.stop()
    return Done()


_VAULT = ("VaultUnknown",)
_PATH = ("VaultUnknown", "NoteNotFound", "PathRefused")

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("hello", Hello, Welcome, _hello, "Begin: agree on a protocol version; the first call on a connection.",
               ("ProtocolMismatch", "VaultUnknown", "NotForAgents"), agents=True),
        Method("search", Search, Answer, _search, "Notes that fit a query, best first.", _VAULT, agents=True),
        Method("explain", Explain, Explanation, _explain,
               "How a query was read, and why each note stands where it stands, or is missing.", _VAULT,
               agents=True),
        Method("why", Why, Diagnosis, _why,
               "What has become of one note: found, or why not: the rule, the fault, or what is to come.", _VAULT),
        Method("related", Related, Answer, _related, "Notes near in meaning to a note, or linked with it.", _PATH,
               agents=True),
        Method("get", Get, NoteView, _get, "A note: whole, some lines, or the section under a heading.",
               (*_PATH, "NoteUnreadable"), agents=True),
        Method("rules", RulesParams, Rules, _rules,
               "The notes that are always to be read, whole, in the order in which they were made.",
               ("VaultUnknown", "RulesTooLong", "NoteUnreadable"), agents=True),
        Method("recent", RecentParams, Recent, _recent, "Notes on one line each, the latest changed first.", _VAULT,
               agents=True),
        Method("catalogue", CatalogueParams, Catalogue, _catalogue,
               "Notes on one line each, by type, in an order that no edit of a note's text changes.", _VAULT,
               agents=True),
        Method("triggers", Triggers, Triggered, _triggers,
               "The notes whose property `when` fits what is about to be done, each once in a session.", _VAULT,
               agents=True),
        Method("in_note", InNoteParams, InNote, _in_note,
               "Where a query stands in one note: the lines with its words, and the passage nearest in meaning.",
               (*_PATH, "NoteUnreadable"), agents=True),
        Method("tags", Tags, tuple[TagCount, ...], _tags, "Every tag with the number of its notes.", _VAULT,
               agents=True),
        Method("status", Status, DaemonStatus, _status, "How the daemon, its embedder and its vaults fare.",
               agents=True),
        Method("subscribe", Subscribe, Subscribed, _subscribe,
               "Be told of changes from now on; asking again replaces what was asked before, and both false ends it.",
               _VAULT),
        Method("reindex", Reindex, VaultStatus, _reindex,
               "Compare all with the disk; for a person read every file, believe what is missing, retry what failed.",
               _VAULT, agents=True),
        Method("add_vault", AddVault, VaultStatus, _add_vault, "Serve a folder of notes, now and after a restart.",
               ("VaultMissing", "VaultUnreadable", "VaultUnsuitable")),
        Method("remove_vault", RemoveVault, Done, _remove_vault,
               "Serve a vault no longer; its index stays on disk, its notes are not touched.", _VAULT),
        Method("shutdown", Shutdown, Done, _shutdown, "End the daemon after the answers under way."),
    )
}  # fmt: skip

NOTIFICATIONS: dict[str, tuple[type[msgspec.Struct], bool]] = {
    CANCEL: (CancelRequest, True),
    PARTIAL: (PartialAnswer, False),
    STATUS_CHANGED: (StatusChanged, False),
    NOTES_CHANGED: (NotesChanged, False),
}
"""Messages that have no answer: their parameters, and whether it is the client who sends them."""


def run(session: Session, name: str, params: dict[str, Any], notify: Notify) -> Any:
    """Run a method.

    Raises:
        MethodNotFound, InvalidParams, InvalidRequest, NotForAgents, and what the method says.
    """
    method = METHODS.get(name)
    if method is None:
        near = difflib.get_close_matches(name[:100], METHODS, n=1)
        raise MethodNotFound(
            f"there is no method {name[:100]!r}", **_everyones(f"did you mean {near[0]}?" if near else "")
        )
    if not session.greeted and name != "hello":
        raise InvalidRequest("the first call on a connection is hello", hint="call hello first")
    if session.reader == "agent" and not method.agents:
        raise NotForAgents(f"{name} is not for agents")
    result = method.run(session, convert(method, params), notify)
    return without_hints(result) if session.reader == "agent" else result


def convert(method: Method, params: dict[str, Any]) -> Params:
    """The parameters, checked.

    Raises:
        InvalidParams
    """
    known = [field.name for field in msgspec.structs.fields(method.params)]
    for name in params:
        if name not in known:
            near = difflib.get_close_matches(name[:100], known, n=1)
            raise InvalidParams(
                f"{method.name} has no parameter {name[:100]!r}",
                **_everyones(f"did you mean {near[0]}?" if near else f"known: {', '.join(known) or 'none'}"),
            )
    try:
        return msgspec.convert(params, method.params)
    except msgspec.ValidationError as error:
        # An enumeration's complaint repeats the value, however long.
        raise InvalidParams(
            f"{method.name}: {str(error)[:300]}", **_everyones(f"known: {', '.join(known) or 'none'}")
        ) from error


def _everyones(hint: str) -> dict[str, Any]:
    """A hint without a command, for persons and agents alike."""
    return {"hint": hint, "agent_hint": hint}


def masked(error: Exception) -> VaultragError:
    """What a client sees of a fault that nobody foresaw: no traceback, no note text."""
    return VaultragError(
        f"an unforeseen fault ({type(error).__name__}); the daemon goes on and its log has the rest",
        hint="vaultrag status",
    )
