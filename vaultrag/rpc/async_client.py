"""``AsyncClient``: one connection, any number of calls at once."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import msgspec

from vaultrag.config import Places
from vaultrag.domain import Answer, Reader
from vaultrag.domain.requests import Params
from vaultrag.errors import ConnectionLost, InvalidParams, VaultragError
from vaultrag.rpc.client_methods import ClientMethods, Notification, read_notification, read_result
from vaultrag.rpc.discovery import CHUNK, discover, hello, open_socket, without_news
from vaultrag.rpc.protocol import CANCEL, PARTIAL, Conversation, Message, Request, encode_request, error_of

R = TypeVar("R")
OnPartial = Callable[[Answer], None]


class AsyncClient(ClientMethods):
    """One connection, any number of calls at once. A cancelled ``await`` cancels the call at the daemon."""

    welcome: dict[str, Any]

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._readership: Reader = "person"
        self._writer = writer
        self._conversation = Conversation()
        self._waiting: dict[object, tuple[asyncio.Future[Any], OnPartial | None]] = {}
        self._notifications: asyncio.Queue[Notification | None] = asyncio.Queue()
        self._lost: VaultragError | None = None
        self._pump = asyncio.create_task(self._read())

    @classmethod
    async def connect(
        cls,
        places: Places | None = None,
        *,
        vault: str = "",
        timeout_s: float = 5.0,
        reader: Reader = "person",
        searches: bool = False,
    ) -> AsyncClient:
        """Connect and say hello; see ``Client.connect``."""
        address = discover(places or Places.find())
        greeting = hello(vault, address, reader, searches=searches)
        sock = await asyncio.to_thread(open_socket, address, timeout_s)
        sock.setblocking(False)
        if sock.family == socket.AF_INET:
            streams = await asyncio.open_connection(sock=sock)
        else:
            streams = await asyncio.open_unix_connection(sock=sock)
        client = cls(*streams)
        client._readership = reader
        try:
            try:
                client.welcome = await client.call("hello", greeting)
            except InvalidParams:
                older = without_news(greeting)
                if older is None:
                    raise
                client.welcome = await client.call("hello", older)
        except BaseException:
            await client.close()
            raise
        return client

    async def close(self) -> None:
        """End the connection; calls that still wait raise ``ConnectionLost``."""
        self._fail(ConnectionLost("the connection was closed", hint="connect again"))
        self._pump.cancel()
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._pump
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def call(self, method: str, params: object, on_partial: OnPartial | None = None) -> Any:
        """Call a method and await its answer, as plain JSON values.

        Raises:
            ConnectionLost, and what the method raises.
        """
        if self._lost is not None:
            raise self._lost
        call_id, data = self._conversation.call(method, params)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[call_id] = (future, on_partial)
        self._writer.write(data)
        try:
            return await future
        except asyncio.CancelledError:
            if not self._writer.is_closing():
                self._writer.write(encode_request(CANCEL, {"id": call_id}))
            raise
        finally:
            self._waiting.pop(call_id, None)

    async def ask(self, params: Params[R], on_partial: OnPartial | None = None) -> R:
        """Call the method of a request and await its answer; see ``Client.ask``."""
        return read_result(params, await self.call(params.method, params, on_partial))

    async def notifications(self) -> AsyncIterator[Notification]:
        """Yield what ``subscribe`` asked for, as it comes.

        Raises:
            ConnectionLost
        """
        while True:
            notification = await self._notifications.get()
            if notification is None:
                self._notifications.put_nowait(None)  # for whoever else listens
                raise self._lost or ConnectionLost("the connection was closed")
            yield notification

    async def lost(self) -> None:
        """Wait until the connection has ended, whoever ended it."""
        await asyncio.wait([self._pump])

    # -- what comes back -----------------------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            while data := await self._reader.read(CHUNK):
                for message in self._conversation.receive(data):
                    self._deliver(message)
            self._fail(ConnectionLost("the daemon closed the connection"))
        except OSError as error:
            self._fail(ConnectionLost(f"the connection broke: {error}"))
        except VaultragError as error:
            self._fail(error)

    def _deliver(self, message: Message) -> None:
        if isinstance(message, Request):
            if (notification := read_notification(message)) is not None:
                self._notifications.put_nowait(notification)
            else:
                self._deliver_partial(message)
            return
        if message.id is None:  # the connection as a whole is refused
            if message.error is not None:
                self._fail(error_of(message.error, self._readership))
            return
        future, _ = self._waiting.get(message.id, (None, None))
        if future is None or future.done():
            return  # the answer of a call that was cancelled here
        if message.error is not None:
            future.set_exception(error_of(message.error, self._readership))
        else:
            future.set_result(message.result)

    def _deliver_partial(self, message: Request) -> None:
        call_id = message.params.get("id")
        future, on_partial = self._waiting.get(call_id if isinstance(call_id, int) else None, (None, None))
        if message.method != PARTIAL or future is None or future.done() or on_partial is None:
            return
        try:
            on_partial(msgspec.convert(message.params.get("answer"), Answer))
        except Exception as error:  # the caller's own: it belongs to its call, not to the others on this connection
            future.set_exception(error)

    def _fail(self, error: VaultragError) -> None:
        self._lost = self._lost or error
        self._notifications.put_nowait(None)
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(error)
