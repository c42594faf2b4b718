"""The table of methods: parameters, results, errors. The one source of the schema, the types and the reference.

Parameters are strict: an unknown name is refused, with the nearest known one, rather than ignored in silence. Results
are the values of ``model``. Positions count code points unless the client asked for other units in ``hello``.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
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
from vaultrag.domain.requests import (
    CatalogueParams,
    Explain,
    Get,
    InNoteParams,
    Params,
    RecentParams,
    Related,
    RulesParams,
    Search,
    Tags,
    TimelineParams,
    Triggers,
    Why,
    result_type,
)
from vaultrag.domain.timeline import Timeline
from vaultrag.errors import InvalidParams, InvalidRequest, MethodNotFound, NotForAgents, ProtocolMismatch, VaultragError
from vaultrag.rpc.messages import (
    AddVault,
    CancelRequest,
    Done,
    Hello,
    NotesChanged,
    PartialAnswer,
    Reindex,
    RemoveVault,
    Shutdown,
    Status,
    StatusChanged,
    Subscribe,
    Subscribed,
    Welcome,
)
from vaultrag.rpc.offset_encodings import Units, in_answer, in_matches, length
from vaultrag.rpc.protocol import CANCEL, NOTES_CHANGED, PARTIAL, PROTOCOL_MAX, PROTOCOL_MIN, STATUS_CHANGED
from vaultrag.rpc.subscriptions import Wish


@dataclass(slots=True)
class Session:
    """The state of one connection."""

    service: Service
    stop: Callable[[], None]
    greeted: bool = False
    client: str = ""
    vault: str = ""
    reader: Reader = "person"
    units: Units = "codepoint"
    subscribe: Callable[[Wish], None] = lambda wish: None

    def vault_for(self, name: str) -> VaultService:
        """Return the vault, as the reader of this connection may see it."""
        return self.service.vault(name or self.vault).for_reader(self.reader)


Notify = Callable[[Answer], None]


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the socket: its parameters, and what answers it.

    Attributes:
        params: The parameters; they name the method, its result and its documentation.
        run: Gets the session, the parameters, and a way to send a partial answer.
        errors: Exceptions that it may answer with, beside those of every method.
        agents: Agents may call it. False by default, so that a new method is closed to them until somebody decides.
    """

    params: type[Params[Any]]
    run: Callable[[Session, Any, Notify], Any]
    errors: tuple[str, ...] = ()
    agents: bool = False

    @property
    def name(self) -> str:
        return self.params.method

    @property
    def result(self) -> Any:
        return result_type(self.params)

    @property
    def summary(self) -> str:
        return cleandoc(self.params.__doc__ or "").partition("\n")[0]


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
        str(session.service.vault(named).root) if named else "",
    )


def _search(session: Session, params: Search, notify: Notify) -> Answer:
    def partial(answer: Answer) -> None:
        notify(in_answer(answer, session.units))

    vault = session.vault_for(params.vault)
    answer = vault.search(params, partial=partial if params.partial else None, measure=length(session.units))
    return in_answer(answer, session.units)


def _explain(session: Session, params: Explain, _: Notify) -> Explanation:
    return session.vault_for(params.vault).explain(params)


def _related(session: Session, params: Related, _: Notify) -> Answer:
    return in_answer(session.vault_for(params.vault).related(params), session.units)


def _get(session: Session, params: Get, _: Notify) -> NoteView:
    return session.vault_for(params.vault).get(params)


def _rules(session: Session, params: RulesParams, _: Notify) -> Rules:
    return session.vault_for(params.vault).rules(params)


def _recent(session: Session, params: RecentParams, _: Notify) -> Recent:
    return session.vault_for(params.vault).recent(params)


def _timeline(session: Session, params: TimelineParams, _: Notify) -> Timeline:
    return session.vault_for(params.vault).timeline(params)


def _catalogue(session: Session, params: CatalogueParams, _: Notify) -> Catalogue:
    return session.vault_for(params.vault).catalogue(params)


def _triggers(session: Session, params: Triggers, _: Notify) -> Triggered:
    return session.vault_for(params.vault).triggers(params)


def _in_note(session: Session, params: InNoteParams, _: Notify) -> InNote:
    matches = session.vault_for(params.vault).in_note(params, measure=length(session.units))
    return in_matches(matches, session.units)


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
        Method(Hello, _hello, ("ProtocolMismatch", "VaultUnknown", "NotForAgents"), agents=True),
        Method(Search, _search, _VAULT, agents=True),
        Method(Explain, _explain, _VAULT, agents=True),
        Method(Why, _why, _VAULT),
        Method(Related, _related, _PATH, agents=True),
        Method(Get, _get, (*_PATH, "NoteUnreadable"), agents=True),
        Method(RulesParams, _rules, ("VaultUnknown", "RulesTooLong", "NoteUnreadable"), agents=True),
        Method(RecentParams, _recent, _VAULT, agents=True),
        Method(TimelineParams, _timeline, _VAULT, agents=True),
        Method(CatalogueParams, _catalogue, _VAULT, agents=True),
        Method(Triggers, _triggers, _VAULT, agents=True),
        Method(InNoteParams, _in_note, (*_PATH, "NoteUnreadable"), agents=True),
        Method(Tags, _tags, _VAULT, agents=True),
        Method(Status, _status, agents=True),
        Method(Subscribe, _subscribe, _VAULT),
        Method(Reindex, _reindex, _VAULT, agents=True),
        Method(AddVault, _add_vault, ("VaultMissing", "VaultUnreadable", "VaultUnsuitable")),
        Method(RemoveVault, _remove_vault, _VAULT),
        Method(Shutdown, _shutdown),
    )
}
"""The one table of methods. Clients have them in ``rpc.client_methods``."""

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


def convert(method: Method, params: dict[str, Any]) -> Params[Any]:
    """Check the parameters.

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
        checked: Params[Any] = msgspec.convert(params, method.params)
    except msgspec.ValidationError as error:
        # An enumeration's complaint repeats the value, however long.
        raise InvalidParams(
            f"{method.name}: {str(error)[:300]}", **_everyones(f"known: {', '.join(known) or 'none'}")
        ) from error
    return checked


def _everyones(hint: str) -> dict[str, Any]:
    """Return a hint without a command, for persons and agents alike."""
    return {"hint": hint, "agent_hint": hint}


def masked(error: Exception) -> VaultragError:
    """Return the error that a client sees for an unexpected fault: no traceback, no note text."""
    return VaultragError(
        f"an unforeseen fault ({type(error).__name__}); the daemon goes on and its log has the rest",
        hint="vaultrag status",
    )
