"""Commands that look after what is served: status, reindex, vaults."""

from __future__ import annotations

from typing import Annotated

import typer

from vaultrag.cli.choosing import unclear
from vaultrag.cli.options import AsJson, VaultOption
from vaultrag.cli.output import draw, write, write_json
from vaultrag.cli.progress import vault_in, wait
from vaultrag.cli.starting import reach, served
from vaultrag.config import Places
from vaultrag.errors import VaultUnknown


def status(
    full: Annotated[
        bool, typer.Option("--full", help="List the notes that are skipped or odd, with the reason.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """How the daemon, its embedder and its vaults fare."""
    with reach(Places.find()) as client:
        fares = client.status(full=full)
    if as_json:
        write_json(fares)
        return
    from vaultrag.cli.render.status import status_blocks

    draw(*status_blocks(fares, full=full))


def reindex(
    vault: VaultOption = "",
    wait_for_it: Annotated[bool, typer.Option("--wait", help="Return when it is done.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare a vault with its index, believe what is missing, try again what failed."""
    places = Places.find()
    with reach(places) as client:
        chosen = served(client, places, vault)
        if chosen is None:
            raise (
                VaultUnknown(f"no vault {vault} is served", hint="vaultrag vaults")
                if vault
                else unclear(client.status().vaults)
            )
        before = chosen.counters.get("full_scans", 0)
        now = client.reindex(vault=chosen.id)
        if wait_for_it:
            now = vault_in(wait(client, chosen.id, "vectors", scans=before), chosen.id)
    if as_json:
        write_json(now)
        return
    from vaultrag.cli.render.status import vault_line

    write(f"{vault_line(now)}\n" if wait_for_it else f"{now.name} is being compared with the disk; vaultrag status\n")


def vaults(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the vaults that are served."""
    if ctx.invoked_subcommand is not None:
        return
    with reach(Places.find()) as client:
        known = client.status().vaults
    if as_json:
        write_json(known)
        return
    from vaultrag.cli.render.status import vault_lines

    draw(*vault_lines(known)) if known else write("no vault is served; add one: vaultrag up ~/Notes\n")


def remove(
    name: Annotated[str, typer.Argument(help="The vault's name, folder or id.")],
    as_json: AsJson = False,
) -> None:
    """Serve a vault no longer. Its notes are not touched, and its index is kept."""
    places = Places.find()
    with reach(places) as client:
        chosen = served(client, places, name)
        gone = chosen.id if chosen is not None else name
        client.remove_vault(gone)
    if as_json:
        write_json({"removed": gone})
        return
    shown = chosen.name if chosen is not None else name
    write(f"{shown} is not served any more; its index stays in {places.vault_folder(gone)}\n")
