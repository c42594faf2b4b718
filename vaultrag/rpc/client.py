"""Talking to the daemon from Python: ``Client`` waits, ``AsyncClient`` awaits; the protocol is written once.

    with Client.connect() as client:
        answer = client.search("pump seal")
        for hit in answer.hits:
            print(hit.citation, hit.preview)

Errors of the daemon are raised as the exceptions they were (``vaultrag.errors``).
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from vaultrag.config import Places
from vaultrag.domain import (
    Answer,
    Capacity,
    Catalogue,
    DaemonStatus,
    Diagnosis,
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
from vaultrag.errors import ConnectionLost, DaemonNotRunning, InvalidParams
from vaultrag.rpc import requests
from vaultrag.rpc.async_client import AsyncClient, OnPartial
from vaultrag.rpc.discovery import CHUNK, Address, discover, hello, open_socket, without_news
from vaultrag.rpc.protocol import PARTIAL, Conversation, Message, Request
from vaultrag.rpc.requests import Call, result_of

__all__ = ["Address", "AsyncClient", "Client", "OnPartial", "discover", "wait_for_daemon"]

T = TypeVar("T")


class Client:
    """One connection, used by one thread at a time."""

    welcome: dict[str, Any]

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._conversation = Conversation()

    @classmethod
    def connect(
        cls,
        places: Places | None = None,
        *,
        vault: str = "",
        timeout_s: float = 30.0,
        reader: Reader = "person",
        searches: bool = False,
    ) -> Client:
        """Connect and say hello.

        Args:
            places: Where to look; the platform's places, or ``VAULTRAG_HOME``.
            vault: The vault that calls mean when they name none.
            timeout_s: How long any single answer may take.
            reader: ``agent`` where what is read reaches a model or a program that acts by itself: private notes are
                then kept back by the daemon, on this connection for good.
            searches: A search follows: the model is loaded meanwhile.

        Raises:
            DaemonNotRunning, ProtocolMismatch, VaultUnknown
        """
        address = discover(places or Places.find())
        greeting = hello(vault, address, reader, searches=searches)
        client = cls(open_socket(address, timeout_s))
        try:
            try:
                client.welcome = client.call("hello", greeting)
            except InvalidParams:
                older = without_news(greeting)
                if older is None:
                    raise
                client.welcome = client.call("hello", older)
        except BaseException:
            client.close()
            raise
        return client

    def close(self) -> None:
        self._sock.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, method: str, params: object, on_partial: OnPartial | None = None) -> Any:
        """Call a method and wait for its answer, as plain JSON values.

        Raises:
            ConnectionLost, and what the method raises.
        """
        call_id, data = self._conversation.call(method, params)
        try:
            # A daemon that refuses the connection says why before it closes it: what there is to read is read.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._sock.sendall(data)
            while True:
                for message in self._receive():
                    if isinstance(message, Request):
                        if on_partial is not None and _is_partial(message, call_id):
                            on_partial(msgspec.convert(message.params["answer"], Answer))
                    elif message.id == call_id or message.id is None:
                        return result_of(message)
        except TimeoutError as error:
            raise ConnectionLost(f"the daemon did not answer {method} in time") from error
        except OSError as error:
            raise ConnectionLost("the daemon went away in mid-call") from error

    def search(
        self,
        query: str,
        *,
        limit: int = 0,
        mode: Mode = "hybrid",
        typing: bool = False,
        preview_chars: int = 700,
        vault: str = "",
        on_partial: OnPartial | None = None,
        shape: Shape | None = None,
        reader: Capacity | None = None,
        max_tokens: int = 0,
        include_weak: bool = False,
    ) -> Answer:
        """The notes that fit, best first; see ``service.VaultService.search``."""
        wish = requests.Delivery(shape, reader, max_tokens)
        call = requests.search(
            query, limit, mode, typing, preview_chars, on_partial is not None, vault, wish, include_weak
        )
        return self._ask(call, on_partial)

    def explain(
        self, query: str, *, path: str = "", limit: int = 0, mode: Mode = "hybrid", vault: str = ""
    ) -> Explanation:
        """Why each note stands where it stands, or is missing; see ``service.VaultService.explain``."""
        return self._ask(requests.explain(query, path, limit, mode, vault))

    def why(self, path: str, *, vault: str = "") -> Diagnosis:
        """What has become of one note; see ``service.VaultService.why``."""
        return self._ask(requests.why(path, vault))

    def related(self, path: str, *, limit: int = 0, linked: bool = True, folder: str = "", vault: str = "") -> Answer:
        return self._ask(requests.related(path, limit, linked, vault, folder))

    def in_note(self, path: str, query: str, *, limit: int = 0, mode: Mode = "hybrid", vault: str = "") -> InNote:
        return self._ask(requests.in_note(path, query, limit, mode, vault))

    def get(
        self,
        path: str,
        *,
        first_line: int = 0,
        last_line: int = 0,
        heading: str = "",
        vault: str = "",
        shape: Shape | None = None,
        max_tokens: int = 0,
    ) -> NoteView:
        """A note, or a part of it; see ``service.VaultService.get``."""
        wish = requests.Delivery(shape, None, max_tokens)
        return self._ask(requests.get(path, first_line, last_line, heading, vault, wish))

    def rules(self, *, max_tokens: int | None = None, vault: str = "") -> Rules:
        """Every rule, whole; see ``service.VaultService.rules``."""
        return self._ask(requests.rules(max_tokens, vault))

    def recent(
        self, *, limit: int = 0, folder: str = "", tag: str = "", max_tokens: int = 0, vault: str = ""
    ) -> Recent:
        return self._ask(requests.recent(limit, folder, tag, max_tokens, vault))

    def catalogue(
        self, *, folder: str = "", tag: str = "", limit: int = 0, max_tokens: int = 0, vault: str = ""
    ) -> Catalogue:
        return self._ask(requests.catalogue(folder, tag, limit, max_tokens, vault))

    def triggers(
        self,
        *,
        tool: str = "",
        path: str = "",
        command: str = "",
        session: str = "",
        max_tokens: int | None = None,
        vault: str = "",
    ) -> Triggered:
        """The notes that an action calls for; see ``service.VaultService.triggers``."""
        return self._ask(requests.triggers(tool, path, command, session, max_tokens, vault))

    def tags(self, *, vault: str = "") -> list[TagCount]:
        return self._ask(requests.tags(vault))

    def status(self, *, full: bool = False, files: bool = False) -> DaemonStatus:
        """How the daemon fares; see ``rpc.messages.Status``."""
        try:
            return self._ask(requests.status(full, files))
        except InvalidParams:  # an older daemon, which does not count files
            return self._ask(requests.status(full))

    def reindex(self, *, vault: str = "") -> VaultStatus:
        return self._ask(requests.reindex(vault))

    def add_vault(self, path: Path) -> VaultStatus:
        return self._ask(requests.add_vault(path))

    def remove_vault(self, vault: str) -> None:
        self.call("remove_vault", {"vault": vault})

    def shutdown(self) -> None:
        self.call("shutdown", {})

    def _ask(self, call: Call[T], on_partial: OnPartial | None = None) -> T:
        return call.read(self.call(call.method, call.params, on_partial))

    def _receive(self) -> list[Message]:
        data = self._sock.recv(CHUNK)
        if not data:
            raise ConnectionLost("the daemon closed the connection")
        return self._conversation.receive(data)


def _is_partial(message: Request, call_id: int) -> bool:
    # One of an earlier call may still come when that call was given up.
    return message.method == PARTIAL and message.params.get("id") == call_id and "answer" in message.params


def wait_for_daemon(places: Places, timeout_s: float, alive: Callable[[], bool] = lambda: True) -> Client | None:
    """A client, as soon as a daemon answers; None when time is up, or when ``alive`` says it has ended."""
    until = time.monotonic() + timeout_s
    while True:
        try:
            return Client.connect(places)
        except (DaemonNotRunning, ConnectionLost):  # lost: the one before it, which is just stopping
            if not alive() or time.monotonic() > until:
                return None
            time.sleep(0.02)
