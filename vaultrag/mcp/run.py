"""``vaultrag mcp`` from its start to the end of stdin."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TextIO

from vaultrag.domain import Capacity
from vaultrag.errors import VaultragError
from vaultrag.mcp.instructions import instructions, without_rules
from vaultrag.mcp.session import Session, Target
from vaultrag.mcp.stdio_transport import take_stdout
from vaultrag.mcp.tools import TOOLS, Desk

PATIENCE_S = 8.0
"""A host waits for the first answer, some of them ten seconds. A slower daemon goes on starting meanwhile."""


def run(wish: Target, capacity: Capacity = "large") -> None:
    """Serve until stdin ends."""
    wire = take_stdout()  # before the SDK is loaded: that could print, too
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # an orderly end would wait for the next line of stdin
    asyncio.run(_serve(Desk(Session(wish), capacity), wire))


async def _serve(desk: Desk, wire: TextIO) -> None:
    import anyio  # these are the extra's, and take half a second to load
    from mcp.server.stdio import stdio_server

    from vaultrag.mcp.server import server

    try:
        served = server(desk, await guidance(desk))
        async with stdio_server(stdout=anyio.wrap_file(wire)) as (incoming, outgoing):
            await served.run(incoming, outgoing, served.create_initialization_options())
    except* (BrokenPipeError, ConnectionResetError):  # the host has gone, and reads no answer any more
        os.dup2(1, wire.fileno())
    finally:
        await desk.link.close()


async def guidance(desk: Desk) -> str:
    """Return the instructions, with the rules as they are now. Without a daemon they say so, and serving goes on."""
    tool = TOOLS["vault_rules"]
    try:
        async with asyncio.timeout(PATIENCE_S):
            return instructions(await tool.run(desk, tool.arguments()))
    except TimeoutError:
        return without_rules("the daemon is still starting", "")
    except VaultragError as error:
        return without_rules(error.message, error.agent_hint)
