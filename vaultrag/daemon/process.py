"""The process: lock, socket, discovery file, vaults, signals; and everything closed again in the other order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import queue
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from vaultrag import __version__
from vaultrag.app import Service, VaultService
from vaultrag.config import Places, Settings
from vaultrag.daemon.agent_privacy import private_rules
from vaultrag.daemon.lock import DaemonLock
from vaultrag.daemon.service_manager import inherited_socket, keep_telling, tell_manager, watchdog_s
from vaultrag.daemon.vaults import EmbedderPool, Registry, check_root, open_vault, write_atomically
from vaultrag.errors import DaemonFailed, StoreFull, VaultragError
from vaultrag.home import remove_left_behind
from vaultrag.rpc.protocol import PROTOCOL_MAX
from vaultrag.rpc.server import Server

log = logging.getLogger(__name__)

AGAIN_S = 15.0
"""The pause before a vault that could not be taken up is tried again."""


class Daemon:
    """One daemon. ``run`` returns when it was told to stop."""

    def __init__(self, places: Places, settings: Settings, embedders: EmbedderPool | None = None) -> None:
        self._places = places
        self._settings = settings
        self._registry = Registry(places.registry)
        self._embedders = embedders or EmbedderPool(settings)
        self._service = Service(self._open, self._forget)
        self._damaged: queue.SimpleQueue[Path | None] = queue.SimpleQueue()  # None: it is time to end
        self._port = 0
        self._socket = places.socket
        self._ending = False

    def run(self, vaults: Sequence[Path] = ()) -> None:
        """Serve these vaults and those added before, until a signal or a client says stop.

        Raises:
            DaemonAlreadyRunning, DaemonFailed, VaultError, ConfigError
        """
        private_rules(self._settings.privacy)  # better no daemon than one that shows what it was told to hide
        roots = [check_root(path, self._places) for path in vaults]
        with DaemonLock(self._places.lock):
            if remove_left_behind():
                log.info("removed what the model runtime's telemetry wrote under an earlier version")
            asyncio.run(self._serve([*self._registry.roots(), *roots]))
        _leave_what_hangs()

    async def _serve(self, roots: list[Path]) -> None:
        loop = asyncio.get_running_loop()
        stopping = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            if signal.getsignal(number) == signal.SIG_IGN:
                continue  # a shell's background job: Ctrl+C is for what runs in the foreground
            with contextlib.suppress(NotImplementedError):  # Windows' loop has no handlers: Ctrl+C still ends it
                loop.add_signal_handler(number, stopping.set)
        server_settings = self._settings.server
        handed = inherited_socket(os.environ)  # whatever the settings say: it is what clients will knock at
        unix = (
            handed is not None
            or server_settings.transport == "unix"
            or (server_settings.transport == "auto" and hasattr(socket, "AF_UNIX"))
        )
        token = "" if unix else secrets.token_hex(32)
        server = Server(
            self._service,
            stop=stopping.set,
            max_message_bytes=server_settings.max_message_bytes,
            max_connections=server_settings.max_connections,
            token=token,
        )
        opening: asyncio.Future[None] | None = None
        telling: asyncio.Future[None] | None = None
        self._service.settled.clear()
        try:
            if handed is not None:
                self._socket = Path(handed.getsockname())
                await server.listen_on(handed)
            elif unix:
                await server.listen_unix(self._places.socket)
            else:
                self._port = await server.listen_tcp()
            self._announce(token)
            tell_manager("READY=1")
            if (every_s := watchdog_s(os.environ)) > 0:
                telling = asyncio.ensure_future(keep_telling(every_s))
            log.info("vaultrag %s serves (process %d)", __version__, os.getpid())
            opening = asyncio.ensure_future(asyncio.to_thread(self._keep, roots))
            await stopping.wait()
        finally:
            self._ending = True
            self._damaged.put(None)
            tell_manager("STOPPING=1")
            self._withdraw()
            await server.close()
            if opening is not None:
                await opening
            await asyncio.to_thread(self._service.close)
            self._embedders.close()
            if telling is not None:  # the end, too, is to be seen to go on
                telling.cancel()
            log.info("stopped")

    def _keep(self, roots: list[Path]) -> None:
        """Take up the vaults; then, until the end, mend those that prove damaged, and try again those that failed."""
        try:
            failed = {root for root in dict.fromkeys(roots) if not self._ending and not self._done(root, self._adopt)}
        finally:
            self._service.settled.set()
        while not self._ending:
            try:
                root = self._damaged.get(timeout=AGAIN_S if failed else None)
            except queue.Empty:
                failed = {root for root in failed if not self._done(root, self._adopt)}
                continue
            if root is not None and not self._done(root, self._service.renew):
                failed.add(root)

    def _adopt(self, root: Path) -> None:
        self._service.adopt(root)

    def _done(self, root: Path, act: Callable[[Path], None]) -> bool:
        """Return True if the vault is served now; the log says why not."""
        try:
            act(root)
        except VaultragError as fault:
            log.error("%s is not served: %s", root, fault.message)
            self._service.refuse(root, fault)
            return False
        except Exception:
            log.exception("%s is not served, for a reason that was not foreseen", root)
            self._service.refuse(root, VaultragError("an unforeseen fault; the log has it", hint="vaultrag doctor"))
            return False
        return True

    def _open(self, path: Path, known: bool) -> VaultService:
        root = path if known else check_root(path, self._places)
        vault = open_vault(
            root,
            self._places,
            self._settings,
            self._embedders,
            damaged=lambda: self._damaged.put(root),
            tell=self._service.news.tell,
            beside=self._service.refusals,
        )
        try:
            self._registry.add(root)
        except OSError as error:
            vault.close()
            raise StoreFull(
                f"the list of vaults cannot be written: {error.strerror or error}",
                hint="make room, or make it writable",
            ) from error
        try:
            self._announce_vaults()
        except OSError as error:  # clients still find the daemon by the file as it was, or by the socket's place
            log.warning("the discovery file cannot be written: %s", error.strerror or error)
        return vault

    def _forget(self, root: Path) -> None:
        self._registry.remove(root)
        self._announce_vaults()

    @property
    def _token_file(self) -> Path:
        return self._places.data / "token"

    def _announce(self, token: str) -> None:
        try:
            if token:
                write_atomically(self._token_file, token)
            self._announce_vaults()
        except OSError as error:
            if not token:  # clients look for the socket where it is by default
                log.warning("the discovery file cannot be written: %s", error.strerror or error)
                return
            raise DaemonFailed(
                f"the data folder {self._places.data} cannot be written: {error.strerror or error}",
                hint="make room there, or make it writable",
            ) from error

    def _announce_vaults(self) -> None:
        """Write the discovery file: where the daemon answers, for clients that know nothing but the home folder."""
        if self._ending:
            return
        table = {
            "pid": os.getpid(),
            "version": __version__,
            "protocol": PROTOCOL_MAX,
            "sockets": [] if self._port else [str(self._socket)],
            "tcp_port": self._port,
            "token_file": str(self._token_file) if self._port else "",
            "vaults": [str(root) for root in self._registry.roots()],
        }
        write_atomically(self._places.discovery, json.dumps(table, indent=1))

    def _withdraw(self) -> None:
        """Remove what points at this process, and only that. The server removes its own socket."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if json.loads(self._places.discovery.read_text("utf-8")).get("pid") == os.getpid():
                self._places.discovery.unlink()
        if self._port:
            with contextlib.suppress(OSError):
                self._token_file.unlink()


_AT_WORK = ("embed-", "index-", "look-", "rpc")
"""How the names of threads begin that may still be inside a model, or wait for one, when everything is closed."""


def _leave_what_hangs() -> None:
    """End the process here and now if a thread has not come back in time.

    All files are closed and the lock is free. Python's own way out would take the model's library apart under a thread
    that is still in it, and the process would end by an abort.
    """
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith(_AT_WORK)]
    if left:
        log.info("ended without waiting for %s", ", ".join(left))
        logging.shutdown()
        os._exit(0)
