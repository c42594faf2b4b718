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
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from vaultrag.config import Places
from vaultrag.domain import Answer, Reader
from vaultrag.domain.requests import Params
from vaultrag.errors import ConnectionLost, DaemonNotRunning, InvalidParams
from vaultrag.rpc.client_methods import ClientMethods, Notification, read_notification, read_result
from vaultrag.rpc.discovery import CHUNK, Address, discover, hello, open_socket, without_news
from vaultrag.rpc.protocol import PARTIAL, Conversation, Message, Request, error_of

if TYPE_CHECKING:
    from vaultrag.rpc.async_client import AsyncClient

__all__ = ["Address", "AsyncClient", "Client", "OnPartial", "discover", "wait_for_daemon"]

R = TypeVar("R")
OnPartial = Callable[[Answer], None]


def __getattr__(name: str) -> Any:
    """Load ``AsyncClient`` when it is asked for: a command that waits does without asyncio."""
    if name == "AsyncClient":
        from vaultrag.rpc.async_client import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Client(ClientMethods):
    """One connection, used by one thread at a time."""

    welcome: dict[str, Any]

    def __init__(self, sock: socket.socket, reader: Reader = "person") -> None:
        self._sock = sock
        self._timeout_s = sock.gettimeout()
        self._reader = reader
        self._notifications: deque[Notification] = deque()
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
        client = cls(open_socket(address, timeout_s), reader)
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
                        self._keep(message)
                    elif message.id == call_id or message.id is None:
                        if message.error is not None:
                            raise error_of(message.error, self._reader)
                        return message.result
        except TimeoutError as error:
            raise ConnectionLost(f"the daemon did not answer {method} in time") from error
        except OSError as error:
            raise ConnectionLost("the daemon went away in mid-call") from error

    def ask(self, params: Params[R], on_partial: OnPartial | None = None) -> R:
        """Call the method of a request and wait for its answer.

        Args:
            params: The request, such as ``Search("pump", partial=True)``.
            on_partial: Called with what words have found, where the request asks for it.

        Raises:
            ConnectionLost, and what the method raises.
        """
        return read_result(params, self.call(params.method, params, on_partial))

    def notifications(self, timeout_s: float | None = None) -> Iterator[Notification]:
        """Yield what ``subscribe`` asked for, as it comes; end when nothing came for ``timeout_s``.

        Raises:
            ConnectionLost
        """
        self._sock.settimeout(timeout_s)
        try:
            while True:
                while self._notifications:
                    yield self._notifications.popleft()
                try:
                    for message in self._receive():
                        self._keep(message)
                except TimeoutError:
                    return
                except OSError as error:
                    raise ConnectionLost("the daemon went away") from error
        finally:
            self._sock.settimeout(self._timeout_s)

    def _keep(self, message: Message) -> None:
        if isinstance(message, Request) and (notification := read_notification(message)) is not None:
            self._notifications.append(notification)

    def _receive(self) -> list[Message]:
        data = self._sock.recv(CHUNK)
        if not data:
            raise ConnectionLost("the daemon closed the connection")
        return self._conversation.receive(data)


def _is_partial(message: Request, call_id: int) -> bool:
    # One of an earlier call may still come when that call was given up.
    return message.method == PARTIAL and message.params.get("id") == call_id and "answer" in message.params


def wait_for_daemon(places: Places, timeout_s: float, alive: Callable[[], bool] = lambda: True) -> Client | None:
    """Return a client as soon as a daemon answers; None when time is up or ``alive`` returns False."""
    until = time.monotonic() + timeout_s
    while True:
        try:
            return Client.connect(places)
        except (DaemonNotRunning, ConnectionLost):  # lost: the one before it, which is just stopping
            if not alive() or time.monotonic() > until:
                return None
            time.sleep(0.02)
