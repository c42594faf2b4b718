"""One client's connection: lines in, calls run, answers out.

Everything here is the event loop's; methods, and the encoding of what they return, run in the host's threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hmac
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vaultrag.app import Service
from vaultrag.app.fair_queue import Client
from vaultrag.domain import Answer
from vaultrag.errors import Cancelled, InvalidRequest, VaultragError
from vaultrag.rpc import methods, protocol
from vaultrag.rpc.protocol import CallId, Lines, Request
from vaultrag.rpc.subscriptions import Feeds, Wish
from vaultrag.rpc.thread_pool import Workers

log = logging.getLogger(__name__)

MAX_CALLS = 32
"""Calls under way per connection; further lines wait unread."""

WRITE_TIMEOUT_S = 20.0
"""A client whose buffer stays full for so long is gone or broken."""

GREETING_S = 60.0
"""A client that has not said hello by then gives its place to others."""

STRANGER_S = 10.0
"""Over TCP anybody on the machine can connect: who has not shown the token by then gives its place to others."""

STRANGER_BYTES = 16_384
"""And until then no longer line is read: nobody without the token fills the memory."""

LINGER_S = 2.0
"""A client that is refused gets so long to read why."""

LAST_ANSWERS_S = 10.0
"""A client that has closed its sending half still gets the answers under way, for so long."""

READ_CHUNK = 65_536

_QUICK = frozenset(("hello", "status", "shutdown"))
"""Methods that wait for no model and no slow disk: they have threads of their own, so that they always answer."""

_HTTP = frozenset((b"GET", b"POST", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"CONNECT", b"PATCH", b"TRACE", b"PRI"))


@dataclass(frozen=True, slots=True)
class Host:
    """The state that all connections share. ``stop`` may be called from any thread."""

    service: Service
    stop: Callable[[], None]
    max_bytes: int
    token: str
    workers: Workers
    quick: Workers
    feeds: Feeds


class Connection(Client):
    """One client."""

    def __init__(self, host: Host, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._host = host
        self._reader = reader
        self._writer = writer
        self._session = methods.Session(host.service, host.stop, subscribe=self._subscribe)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stranger = bool(host.token)
        self._room = asyncio.Semaphore(MAX_CALLS)
        self._closing = False
        self.calls: dict[CallId, asyncio.Task[None]] = {}

    async def serve(self) -> None:
        """Until the client goes.

        Raises:
            VaultragError: The client must go; tell it with ``refuse``.
            TimeoutError: It does not read what it is sent, or never says hello (over TCP: shows the token).
        """
        self._loop = asyncio.get_running_loop()
        most = self._host.max_bytes
        lines = Lines(min(most, STRANGER_BYTES) if self._stranger else most)
        async with asyncio.timeout(STRANGER_S if self._stranger else GREETING_S) as greeting:
            while data := await self._reader.read(READ_CHUNK):
                for line in lines.feed(data):
                    await self._handle(line)
                    if not self._stranger:
                        lines.max_bytes = most
                    if self._session.greeted:
                        greeting.reschedule(None)
                await self._drain()
        if self.calls:
            await asyncio.wait(list(self.calls.values()), timeout=LAST_ANSWERS_S)

    async def refuse(self, error: VaultragError) -> None:
        """Send the reason and end the connection.

        What the client still sends is read and dropped: a socket closed over unread data may lose the answer as well.
        """
        self.send(protocol.encode_error(None, error))
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(LINGER_S):
                self._writer.write_eof()
                while await self._reader.read(READ_CHUNK):
                    pass

    async def close(self) -> None:
        """End the calls under way, each with an answer, and the connection."""
        self._closing = True
        self._host.feeds.drop(self)
        tasks = list(self.calls.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1)
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                await self._writer.drain()
        self._writer.close()

    def send(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)

    def _subscribe(self, wish: Wish) -> None:
        """Replace what the connection subscribes to. Runs in the thread of a method."""

        def want() -> None:
            if not self._closing:
                transport = self._writer.transport
                self._host.feeds.want(self, self.send, transport.get_write_buffer_size, wish)

        if self._loop is not None:
            self._loop.call_soon_threadsafe(want)

    # -- calls ---------------------------------------------------------------------------------------------------

    async def _handle(self, line: bytes) -> None:
        if not self._session.greeted and line.split(b" ", 1)[0] in _HTTP:
            raise InvalidRequest("this is not an HTTP server", hint="see the protocol's reference")
        if self._stranger:
            self._recognise(line)
        try:
            message = protocol.decode(line)
        except VaultragError as error:
            self.send(protocol.encode_error(None, error))
            await self._drain()
            return
        if not isinstance(message, Request):
            return  # the daemon asks clients nothing
        if message.method == protocol.CANCEL:
            self._cancel(message.params.get("id"))
            return
        if message.id is not None and message.id in self.calls:
            in_use = InvalidRequest(f"the id {str(message.id)[:100]!r} is in use by a call under way")
            self.send(protocol.encode_error(message.id, in_use, self._session.reader))
            await self._drain()
            return
        if self._room.locked():
            await self._drain()
        await self._room.acquire()
        task = self._begin(message)
        if message.method == "hello":
            await asyncio.wait([task])  # what was sent after it, without waiting, relies on it

    def _cancel(self, call_id: object) -> None:
        task = self.calls.get(call_id) if isinstance(call_id, int | str) else None
        if task is not None:
            task.cancel()

    def _begin(self, request: Request) -> asyncio.Task[None]:
        task = asyncio.create_task(self._call(request))
        key: CallId = request.id if request.id is not None else f"\0{id(task)}"
        self.calls[key] = task
        task.add_done_callback(functools.partial(self._finished, key, request))
        return task

    async def _call(self, request: Request) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()

        def notify(answer: Answer) -> None:
            if request.id is not None:
                data = protocol.encode_request(protocol.PARTIAL, {"id": request.id, "answer": answer})
                loop.call_soon_threadsafe(partial, data)

        def partial(data: bytes) -> None:
            # A call that was cancelled has had its answer, and its id may stand for another call by now.
            if request.id is not None and self.calls.get(request.id) is task:
                self.send(data)

        def run() -> bytes:
            result = methods.run(self._session, request.method, request.params, notify)
            return protocol.encode_result(request.id, result) if request.id is not None else b""

        if request.method == "hello":
            self._check_token(request.params)
        quick = request.method in _QUICK and not request.params.get("files")  # to walk a vault takes its time
        workers = self._host.quick if quick else self._host.workers
        data = await asyncio.wrap_future(workers.submit_for(self, run))
        if data:
            self.send(data)

    def _finished(self, key: CallId, request: Request, task: asyncio.Task[None]) -> None:
        """Answers a call that failed or was cancelled, even one cancelled before its first step."""
        self.calls.pop(key, None)
        self._room.release()
        error: VaultragError | None = None
        if task.cancelled():
            error = Cancelled("the call was cancelled")
        elif (fault := task.exception()) is not None:
            if isinstance(fault, VaultragError):
                error = fault
            else:
                log.error("%s failed", request.method[:100], exc_info=fault)
                error = methods.masked(fault if isinstance(fault, Exception) else Exception())
        if error is not None and request.id is not None:
            self.send(protocol.encode_error(request.id, error, self._session.reader))

    def _recognise(self, line: bytes) -> None:
        """Let in who shows the token with the first line.

        Raises:
            InvalidRequest: It is anything else; the connection ends.
        """
        try:
            message = protocol.decode(line)
        except VaultragError:
            message = None
        if not (isinstance(message, Request) and message.method == "hello"):
            raise InvalidRequest("over TCP the first message is hello, with the token from the token file")
        self._check_token(message.params)
        self._stranger = False

    def _check_token(self, params: dict[str, Any]) -> None:
        wanted = self._host.token
        given = params.get("token", "")
        shown = given.encode("utf-8", "replace") if isinstance(given, str) else b""
        if wanted and not hmac.compare_digest(shown, wanted.encode()):
            raise InvalidRequest("the token is wrong; read it from the token file again")

    async def _drain(self) -> None:
        async with asyncio.timeout(WRITE_TIMEOUT_S):
            await self._writer.drain()
