"""The socket: many clients, none of which can harm the others.

The event loop only moves lines; methods run in a few threads. A client that sends garbage gets an error, one that sends
a line too long is cut off, one that does not read its answers is dropped when its buffer has stood full for a while,
one that calls faster than it is answered is read no further until it has been. A cancelled call is always answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path

from vaultrag.app import Service
from vaultrag.errors import DaemonFailed, VaultragError
from vaultrag.rpc.connection import MAX_CALLS, READ_CHUNK, WRITE_TIMEOUT_S, Connection, Host
from vaultrag.rpc.sockets import check_peer, clear_stale, identity, private_folder
from vaultrag.rpc.subscriptions import Feeds
from vaultrag.rpc.thread_pool import Workers

__all__ = ["MAX_CALLS", "READ_CHUNK", "THREADS", "WRITE_TIMEOUT_S", "Server"]

log = logging.getLogger(__name__)

THREADS = 8
"""Calls at work at once; some of them may be waiting for a model."""

QUICK_THREADS = 4

LAST_CALLS_S = 1.0
"""Calls under way get so long when the daemon stops."""

STOP_DELAY_S = 0.05
"""Between a client's asking the daemon to stop and stopping, for the answer to be sent."""

BACKLOG = 1024
"""Clients that may be knocking at once; a Unix socket refuses the next one outright."""


class Server:
    """Serves the methods on a Unix socket or on loopback TCP."""

    def __init__(
        self,
        service: Service,
        *,
        stop: Callable[[], None],
        max_message_bytes: int,
        max_connections: int,
        token: str = "",
    ) -> None:
        self._stop = stop
        self._max_connections = max_connections
        self._workers = Workers(THREADS, "rpc")
        self._quick = Workers(QUICK_THREADS, "rpc-quick")
        self._feeds = Feeds(service, self._quick)
        self._host = Host(service, self._stop_soon, max_message_bytes, token, self._workers, self._quick, self._feeds)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: asyncio.Server | None = None
        self._socket: tuple[Path, tuple[int, int] | None] | None = None
        self._connections: dict[asyncio.Task[None], Connection] = {}

    async def listen_unix(self, path: Path) -> None:
        """Listen at ``path``, in a folder of the user's own. The caller holds the daemon's lock.

        Raises:
            DaemonAlreadyRunning: Something answers there.
            DaemonFailed: The socket cannot be made.
        """
        private_folder(path.parent)
        clear_stale(path)
        self._loop = asyncio.get_running_loop()
        old = os.umask(0o177)  # the socket is the user's own from its first moment
        try:
            self._server = await asyncio.start_unix_server(self._accept, str(path), limit=READ_CHUNK, backlog=BACKLOG)
        except OSError as error:
            raise DaemonFailed(f"no socket can be made at {path}: {error.strerror or error}") from error
        finally:
            os.umask(old)
        self._socket = (path, identity(path))

    async def listen_on(self, sock: socket.socket) -> None:
        """Serve a listening Unix socket that the service manager made. It stays the manager's, and its file stays."""
        self._loop = asyncio.get_running_loop()
        # Not start_unix_server: from Python 3.13 on that removes the file at the end.
        self._server = await asyncio.start_server(self._accept, sock=sock, limit=READ_CHUNK, backlog=BACKLOG)

    async def listen_tcp(self) -> int:
        """Listen on a free loopback port, and return it.

        Raises:
            DaemonFailed
        """
        self._loop = asyncio.get_running_loop()
        try:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=READ_CHUNK, backlog=BACKLOG)
        except OSError as error:
            raise DaemonFailed(f"no port of 127.0.0.1 can be used: {error.strerror or error}") from error
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        """Stop listening, give the calls under way a moment, end the connections."""
        if self._server is not None:
            self._server.close()
        self._feeds.close()
        if self._socket is not None:
            path, made = self._socket
            if made is not None and identity(path) == made:
                with contextlib.suppress(OSError):
                    path.unlink()
        calls = [task for connection in self._connections.values() for task in connection.calls.values()]
        if calls:
            await asyncio.wait(calls, timeout=LAST_CALLS_S)
        for task in list(self._connections):
            task.cancel()
        if self._connections:
            await asyncio.wait(list(self._connections), timeout=5)
        self._workers.shutdown(wait=False, cancel_futures=True)
        self._quick.shutdown(wait=False, cancel_futures=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connection = Connection(self._host, reader, writer)
        self._connections[task] = connection
        try:
            if len(self._connections) > self._max_connections:
                raise VaultragError("too many clients are connected", hint="close some and try again")
            check_peer(writer.get_extra_info("socket"))
            await connection.serve()
        except VaultragError as error:
            await connection.refuse(error)
        except (OSError, TimeoutError):
            pass  # the client went away, which is its right
        except asyncio.CancelledError:
            pass  # the daemon is stopping
        except Exception:
            log.exception("a connection failed in a way that was not foreseen")
        finally:
            await connection.close()
            self._connections.pop(task, None)

    def _stop_soon(self) -> None:
        """Stop once the answer to this call is on its way. Callable from any thread."""
        loop = self._loop
        if loop is not None:
            loop.call_soon_threadsafe(loop.call_later, STOP_DELAY_S, self._stop)
