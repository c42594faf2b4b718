"""The agent's connection with the daemon: made when it is needed, made again when it was lost.

There are two kinds of connection. The first is the person's who put the command into a host's settings: it starts the
daemon, finds the vault, and is closed at once. All that a model reads comes over the second, which is an agent's for
good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from vaultrag.client.launch import meant, reach, reach_or_start
from vaultrag.client.stages import wait_for
from vaultrag.client.threads import in_thread
from vaultrag.config import Places
from vaultrag.domain import DaemonStatus, VaultStatus
from vaultrag.errors import ConnectionLost
from vaultrag.rpc.async_client import AsyncClient

T = TypeVar("T")

SETTLE_S = 5.0
"""A vault that has just been opened gets so long to read its notes; after that, answers say that it still does."""

LOADING_S = 1.0
"""And its model so long to be there; the answer itself waits for it again."""

_CONNECT_S = 15.0


@dataclass(frozen=True, slots=True)
class Target:
    """The daemon and the vault to ask (folder, name or id; empty: the only one, or the one around here)."""

    places: Places
    vault: str = ""
    start: bool = True


class Session:
    """One connection, shared by all calls."""

    def __init__(self, wish: Target) -> None:
        self._wish = wish
        self._client: AsyncClient | None = None
        self._connecting = asyncio.Lock()
        self.vault = ""
        """The vault's id, once there is a connection."""

    async def ask(self, question: Callable[[AsyncClient], Awaitable[T]]) -> T:
        """Ask the daemon. Questions only read, so one that was lost with the connection is asked once more.

        Raises:
            What the question raises; DaemonError, VaultError
        """
        try:
            return await self._ask(question)
        except ConnectionLost:
            return await self._ask(question)

    async def close(self) -> None:
        await self._drop()

    async def _ask(self, question: Callable[[AsyncClient], Awaitable[T]]) -> T:
        client = await self._connected()
        try:
            return await question(client)
        except ConnectionLost:
            if self._client is client:
                await self._drop()
            raise

    async def _connected(self) -> AsyncClient:
        async with self._connecting:
            if self._client is None:
                self.vault = await in_thread(self._prepare)
                self._client = await AsyncClient.connect(
                    self._wish.places, vault=self.vault, timeout_s=_CONNECT_S, reader="agent", searches=True
                )
            return self._client

    def _prepare(self) -> str:
        """Have a daemon that serves the vault; the vault's id. Blocks."""
        places = self._wish.places
        with reach_or_start(places).client if self._wish.start else reach(places) as client:
            vault_id = meant(client, places, self._wish.vault).id
            wait_for(client, vault_id, "words", most_s=SETTLE_S)
            wait_for(client, vault_id, "loaded", most_s=LOADING_S)
            return vault_id

    async def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def vault_of(status: DaemonStatus, vault_id: str) -> VaultStatus:
    """Return the vault with this id; where it is served no longer, one that says so."""
    gone = VaultStatus(vault_id, "", "", "away", why="the vault is not served any more")
    return next((vault for vault in status.vaults if vault.id == vault_id), gone)
