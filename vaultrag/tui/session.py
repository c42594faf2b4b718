"""The screen's connection with the daemon: made, kept, made again; and the questions that go over it.

A daemon that crashed is started again at once, one that somebody stopped only when there is a question for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from vaultrag.client.launch import ADOPT_S, reach_or_start
from vaultrag.client.resolve import absolute, chosen_vault
from vaultrag.client.threads import in_thread
from vaultrag.config import Places
from vaultrag.domain import Answer, DaemonStatus, Explanation, Mode, NoteView, TagCount
from vaultrag.domain.requests import Search
from vaultrag.errors import ConnectionLost, DaemonNotRunning, VaultragError
from vaultrag.rpc.async_client import AsyncClient, OnPartial
from vaultrag.rpc.discovery import alive, discover
from vaultrag.rpc.messages import StatusChanged
from vaultrag.tui.state import LinkState

MOST = 50
"""Hits that are asked for at most: more than anybody reads."""

PREVIEW_CHARS = 320

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 3.0
"""Between two tries to connect."""

RESTARTS, RESTARTS_S = 3, 60.0
"""A daemon that crashes more often than so, in so long, is started again by hand."""

OnLink = Callable[[LinkState], None]
OnStatus = Callable[[DaemonStatus, str], None]


class Source(Protocol):
    """The source of the screen's answers."""

    async def run(self, on_link: OnLink, on_status: OnStatus) -> None: ...
    def want(self) -> None: ...
    def pick(self, vault_id: str) -> None: ...
    async def search(self, query: str, mode: Mode, limit: int, on_partial: OnPartial | None) -> Answer: ...
    async def related(self, path: str) -> Answer: ...
    async def explain(self, query: str, path: str, mode: Mode) -> Explanation: ...
    async def note(self, path: str, first_line: int, last_line: int) -> NoteView: ...
    async def tags(self) -> tuple[TagCount, ...]: ...


class Session:
    """A ``Source`` that is the daemon."""

    def __init__(self, places: Places, *, vault: str = "", start: bool = True, here: Path | None = None) -> None:
        """Prepare a connection; ``run`` opens it.

        Args:
            places: Where the daemon is.
            vault: The vault's folder, name or id; empty: the only one, or the one around ``here``.
            start: Start a daemon that does not run.
            here: The working folder.
        """
        self._places = places
        self._name = vault
        self._start = start
        self._here = here or Path.cwd().resolve()
        self._client: AsyncClient | None = None
        self._vault_id = ""
        self._wanted = asyncio.Event()
        self._again = asyncio.Event()
        self._started_at: list[float] = []

    # -- the connection ------------------------------------------------------------------------------------------

    async def run(self, on_link: OnLink, on_status: OnStatus) -> None:
        """Keep a connection, until cancelled."""
        self._wanted.set()  # the screen was opened to search
        pause = FIRST_PAUSE_S
        while True:
            try:
                async with await AsyncClient.connect(self._places, searches=True) as client:
                    pause = FIRST_PAUSE_S
                    await self._follow(client, on_link, on_status)
                on_link(LinkState("gone", "it closed the connection"))
            except (DaemonNotRunning, ConnectionLost) as error:
                if not await self._bring_back(on_link, error):
                    await self._wait(pause)
                    pause = min(pause * 2, LONGEST_PAUSE_S)
            except VaultragError as error:
                on_link(LinkState("failed", error.message, error.hint))
                self._wanted.clear()
                await self._wait(LONGEST_PAUSE_S)
            finally:
                self._client = None

    def want(self) -> None:
        """There is a question: a daemon that was stopped is started for it."""
        self._wanted.set()

    def pick(self, vault_id: str) -> None:
        """Search in this vault from now on."""
        self._name = self._vault_id = vault_id
        self._again.set()

    async def _bring_back(self, on_link: OnLink, error: VaultragError) -> bool:
        """Start the daemon, if it is to be started; False where one must wait."""
        crashed = self._crashed()
        now = time.monotonic()
        self._started_at = [at for at in self._started_at if now - at < RESTARTS_S]
        due = self._wanted.is_set() or (crashed and len(self._started_at) < RESTARTS)
        if not self._start or not due:
            stopped = self._start and not self._places.discovery.exists()
            on_link(LinkState("stopped" if stopped else "gone", error.message, error.hint))
            return False
        self._wanted.clear()
        self._started_at.append(now)
        on_link(LinkState("starting"))
        try:
            await in_thread(lambda: reach_or_start(self._places).client.close())
        except VaultragError as failure:
            on_link(LinkState("failed", failure.message, failure.hint))
            await self._wanted.wait()
        return True

    def _crashed(self) -> bool:
        """Return True if the daemon crashed: then its files name a process that is gone."""
        try:
            pid = discover(self._places).pid
        except DaemonNotRunning:
            return False
        return pid > 0 and not alive(pid)

    async def _follow(self, client: AsyncClient, on_link: OnLink, on_status: OnStatus) -> None:
        """Report the daemon's status whenever it or a note changes, until the connection ends."""
        self._wanted.clear()
        status = (await client.subscribe()).status
        changes = client.notifications()
        change = asyncio.ensure_future(anext(changes))
        picked = asyncio.ensure_future(self._again.wait())
        try:
            while True:
                vault_id = await self._choose(client, status)
                if vault_id is not None:
                    self._vault_id, self._client = vault_id, client
                    on_link(LinkState("ready"))
                    on_status(status, vault_id)
                # A daemon that starts is given some time to open its vaults; no change says that it has none.
                timeout_s = ADOPT_S if vault_id is None else None
                await asyncio.wait([change, picked], timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
                if picked.done():
                    self._again.clear()
                    picked = asyncio.ensure_future(self._again.wait())
                if not change.done():
                    status = await client.status() if vault_id is None else status
                    continue
                notification = change.result()  # raises where the connection was lost
                change = asyncio.ensure_future(anext(changes))
                if isinstance(notification, StatusChanged):
                    status = notification.status
        finally:
            change.cancel()
            picked.cancel()
            self._client = None
            self._wanted.clear()  # those questions were answered, or are asked for again

    async def _choose(self, client: AsyncClient, status: DaemonStatus) -> str | None:
        """Return the vault's id; empty where the person has to choose; None while the daemon opens its vaults."""
        if any(vault.id == self._vault_id for vault in status.vaults):
            return self._vault_id
        chosen = chosen_vault(status.vaults, self._name, self._here)
        known = len(discover(self._places).vaults)
        complete = len(status.vaults) >= known or status.uptime_s > ADOPT_S
        if chosen is not None and (complete or self._name):
            return chosen.id
        if not complete:
            return None
        if self._name:
            return (await client.add_vault(str(absolute(self._name)))).id
        return ""

    async def _wait(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wanted.wait(), seconds)

    # -- questions -----------------------------------------------------------------------------------------------

    def _ready(self) -> AsyncClient:
        if self._client is None:
            raise DaemonNotRunning("there is no connection with the daemon")
        return self._client

    async def search(self, query: str, mode: Mode, limit: int, on_partial: OnPartial | None) -> Answer:
        """Return the notes that fit what has been typed so far."""
        request = Search(
            query,
            limit=limit,
            mode=mode,
            typing=not query.endswith(" "),
            preview_chars=PREVIEW_CHARS,
            partial=on_partial is not None,
            vault=self._vault_id,
        )
        return await self._ready().ask(request, on_partial)

    async def related(self, path: str) -> Answer:
        return await self._ready().related(path, limit=MOST, vault=self._vault_id)

    async def explain(self, query: str, path: str, mode: Mode) -> Explanation:
        return await self._ready().explain(query, path=path, limit=1, mode=mode, vault=self._vault_id)

    async def note(self, path: str, first_line: int, last_line: int) -> NoteView:
        """Return some lines of a note."""
        return await self._ready().get(path, first_line=first_line, last_line=last_line, vault=self._vault_id)

    async def tags(self) -> tuple[TagCount, ...]:
        return await self._ready().tags(vault=self._vault_id)
