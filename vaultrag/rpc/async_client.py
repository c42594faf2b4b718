"""``AsyncClient``: one connection, any number of calls at once."""

from __future__ import annotations

import asyncio
import contextlib
import socket
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
from vaultrag.errors import ConnectionLost, InvalidParams, VaultragError
from vaultrag.rpc import requests
from vaultrag.rpc.discovery import CHUNK, discover, hello, open_socket, without_news
from vaultrag.rpc.protocol import CANCEL, PARTIAL, Conversation, Message, Request, encode_request, error_of
from vaultrag.rpc.requests import Call

T = TypeVar("T")
OnPartial = Callable[[Answer], None]


class AsyncClient:
    """One connection, any number of calls at once. A cancelled ``await`` cancels the call at the daemon."""

    welcome: dict[str, Any]

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._readership: Reader = "person"
        self._writer = writer
        self._conversation = Conversation()
        self._waiting: dict[object, tuple[asyncio.Future[Any], OnPartial | None]] = {}
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

    async def search(
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
        return await self._ask(call, on_partial)

    async def explain(
        self, query: str, *, path: str = "", limit: int = 0, mode: Mode = "hybrid", vault: str = ""
    ) -> Explanation:
        """Why each note stands where it stands, or is missing; see ``service.VaultService.explain``."""
        return await self._ask(requests.explain(query, path, limit, mode, vault))

    async def related(
        self, path: str, *, limit: int = 0, linked: bool = True, folder: str = "", vault: str = ""
    ) -> Answer:
        return await self._ask(requests.related(path, limit, linked, vault, folder))

    async def in_note(self, path: str, query: str, *, limit: int = 0, mode: Mode = "hybrid", vault: str = "") -> InNote:
        return await self._ask(requests.in_note(path, query, limit, mode, vault))

    async def get(
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
        return await self._ask(requests.get(path, first_line, last_line, heading, vault, wish))

    async def rules(self, *, max_tokens: int | None = None, vault: str = "") -> Rules:
        """Every rule, whole; see ``service.VaultService.rules``."""
        return await self._ask(requests.rules(max_tokens, vault))

    async def recent(
        self, *, limit: int = 0, folder: str = "", tag: str = "", max_tokens: int = 0, vault: str = ""
    ) -> Recent:
        return await self._ask(requests.recent(limit, folder, tag, max_tokens, vault))

    async def catalogue(
        self, *, folder: str = "", tag: str = "", limit: int = 0, max_tokens: int = 0, vault: str = ""
    ) -> Catalogue:
        return await self._ask(requests.catalogue(folder, tag, limit, max_tokens, vault))

    async def triggers(
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
        return await self._ask(requests.triggers(tool, path, command, session, max_tokens, vault))

    async def tags(self, *, vault: str = "") -> list[TagCount]:
        return await self._ask(requests.tags(vault))

    async def status(self, *, full: bool = False) -> DaemonStatus:
        return await self._ask(requests.status(full))

    async def add_vault(self, path: Path) -> VaultStatus:
        return await self._ask(requests.add_vault(path))

    async def lost(self) -> None:
        """Wait until the connection has ended, whoever ended it."""
        await asyncio.wait([self._pump])

    async def _ask(self, call: Call[T], on_partial: OnPartial | None = None) -> T:
        return call.read(await self.call(call.method, call.params, on_partial))

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
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(error)
