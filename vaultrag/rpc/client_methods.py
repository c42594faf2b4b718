"""The methods that both clients have, each declared once: ``client.search("pump", limit=3)``.

A method takes the fields of its request, and returns the request's type of answer: at once from ``Client``, to be
awaited from ``AsyncClient``.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

import msgspec

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
from vaultrag.errors import VaultragError
from vaultrag.rpc.messages import (
    AddVault,
    NotesChanged,
    Reindex,
    RemoveVault,
    Shutdown,
    Status,
    StatusChanged,
    Subscribe,
)
from vaultrag.rpc.protocol import NOTES_CHANGED, STATUS_CHANGED, Request

Notification = StatusChanged | NotesChanged
_NOTIFICATIONS: dict[str, type[Notification]] = {STATUS_CHANGED: StatusChanged, NOTES_CHANGED: NotesChanged}

P = ParamSpec("P")
R = TypeVar("R")


class _Waits(Protocol):
    """A client that returns answers."""

    def ask(self, params: Params[R]) -> R: ...


class _Awaits(Protocol):
    """A client whose answers are awaited."""

    async def ask(self, params: Params[R]) -> R: ...


class _Method(Generic[P, R]):
    """A method of a client: makes the request and asks it."""

    def __init__(self, params: Callable[P, Params[R]]) -> None:
        self._params = params
        self.__doc__ = params.__doc__

    @overload
    def __get__(self, client: _Waits, owner: object) -> Callable[P, R]: ...
    @overload
    def __get__(self, client: _Awaits, owner: object) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(self, client: Any, owner: object) -> Any:
        def method(*args: P.args, **options: P.kwargs) -> Any:
            return client.ask(self._params(*args, **options))

        return method


class ClientMethods:
    """Every method of the socket but ``hello``, which ``connect`` calls."""

    search = _Method(Search)
    explain = _Method(Explain)
    why = _Method(Why)
    related = _Method(Related)
    get = _Method(Get)
    rules = _Method(RulesParams)
    recent = _Method(RecentParams)
    timeline = _Method(TimelineParams)
    catalogue = _Method(CatalogueParams)
    triggers = _Method(Triggers)
    in_note = _Method(InNoteParams)
    tags = _Method(Tags)
    status = _Method(Status)
    subscribe = _Method(Subscribe)
    reindex = _Method(Reindex)
    add_vault = _Method(AddVault)
    remove_vault = _Method(RemoveVault)
    shutdown = _Method(Shutdown)


def read_notification(message: Request) -> Notification | None:
    """Return a notification that ``subscribe`` asked for; None for another message.

    Raises:
        VaultragError: The daemon sent something else.
    """
    kind = _NOTIFICATIONS.get(message.method)
    try:
        return None if kind is None else msgspec.convert(message.params, kind)
    except msgspec.ValidationError as error:
        raise VaultragError(f"the daemon's message {message.method} cannot be read: {error}") from error


def read_result(params: Params[R], value: object) -> R:
    """Return the answer to a request, from plain JSON values.

    Raises:
        VaultragError: The daemon sent something else.
    """
    try:
        result: R = msgspec.convert(value, result_type(type(params)))
    except msgspec.ValidationError as error:
        raise VaultragError(f"the daemon's answer to {params.method} cannot be read: {error}") from error
    return result
