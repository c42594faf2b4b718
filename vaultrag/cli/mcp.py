"""``vaultrag mcp``: the vault for agents."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from vaultrag.cli.options import VaultOption
from vaultrag.cli.output import remark, write
from vaultrag.client.resolve import absolute
from vaultrag.config import Places
from vaultrag.domain import Capacity
from vaultrag.errors import UsageError
from vaultrag.mcp.client_configs import WHERE, Host, Start, config_for

EXTRA = "pipx install --force '/path/to/clone[agents]', with the folder of your clone; or make run in it"
"""By a path: while vaultrag is on no index, a stranger could take its name there."""


def mcp(
    vault: VaultOption = "",
    capacity: Annotated[
        Capacity, typer.Option("--reader", help="How much the model can take; sets how much an answer holds.")
    ] = "large",
    no_start: Annotated[bool, typer.Option("--no-start", help="Do not start the daemon if it is not running.")] = False,
    print_config: Annotated[
        Host | None,
        typer.Option("--print-config", help="Print what to put into this program's settings, and end."),
    ] = None,
) -> None:
    """Serve the vault to an agent: MCP on stdin and stdout, until stdin ends. Private notes are kept from it.

    Programs that run agents start this themselves; --print-config says what to tell them.
    """
    if find_spec("mcp") is None:
        raise UsageError("the MCP server needs the extra 'agents', which is not installed", hint=EXTRA)
    if print_config is not None:
        write(config_for(print_config, _start(vault, capacity, no_start)))
        remark(f"put this into {WHERE[print_config]}")
        return
    from vaultrag.mcp.run import run
    from vaultrag.mcp.session import Target

    if sys.stdin.isatty():
        remark("waiting for an agent on stdin; the program that runs it is told: vaultrag mcp --print-config claude")
    run(Target(Places.find(), vault, start=not no_start), capacity)


def _start(vault: str, capacity: Capacity, no_start: bool) -> Start:
    script = Path(sys.executable).parent / ("vaultrag.exe" if os.name == "nt" else "vaultrag")
    # -P: what lies in the folder that a host happens to be in is not taken for a module.
    command = [str(script)] if script.exists() else [sys.executable, "-P", "-m", "vaultrag"]
    args = [*command[1:], "mcp"]
    if vault:
        folder = absolute(vault)
        args += ["--vault", str(folder) if folder.is_dir() else vault]
    if capacity != "large":
        args += ["--reader", capacity]
    if no_start:
        args.append("--no-start")
    home = os.environ.get("VAULTRAG_HOME")
    return Start(command[0], args, {"VAULTRAG_HOME": str(absolute(home))} if home else {})
