"""Commands that look after what is served: status, tags, reindex, vaults."""

from __future__ import annotations

from typing import Annotated

import typer

from vaultrag.cli.options import AsJson, VaultOption
from vaultrag.cli.output import draw, remark, write, write_json
from vaultrag.cli.progress import wait
from vaultrag.cli.search import NOTHING, UNSURE, searchable
from vaultrag.client.launch import reach, reach_or_start, served
from vaultrag.client.resolve import near_vault, not_served, unclear
from vaultrag.client.stages import vault_in
from vaultrag.config import Places
from vaultrag.errors import InvalidParams
from vaultrag.wording import one_line


def status(
    full: Annotated[bool, typer.Option("--full", help="List what is not in the index, with the reason.")] = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on, and show every change; Ctrl+C ends it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the state of the daemon, its embedder and its vaults."""
    if watch:
        from vaultrag.cli.log import watch_status

        watch_status(Places.find(), full=full, as_json=as_json)
        return
    with reach(Places.find()) as client:
        try:
            fares = client.status(full=full, files=True)
        except InvalidParams:  # an older daemon, which does not count files
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
            vaults = client.status().vaults
            raise not_served(vault, near_vault(vaults, vault)) if vault else unclear(vaults)
        before = chosen.counters.get("full_scans", 0)
        now = client.reindex(vault=chosen.id)
        if wait_for_it:
            now = vault_in(wait(client, chosen.id, "vectors", scans=before), chosen.id)
    if as_json:
        write_json(now)
        return
    from vaultrag.cli.render.status import vault_line

    write(f"{vault_line(now)}\n" if wait_for_it else f"{now.name} is being compared with the disk; vaultrag status\n")


def tags(
    part: Annotated[str, typer.Argument(help="Only tags with this in them.", show_default=False)] = "",
    vault: VaultOption = "",
    as_json: AsJson = False,
) -> None:
    """Every tag with the number of its notes, the commonest first. Exit code 1 where there is none."""
    places = Places.find()
    with reach_or_start(places).client as client:
        chosen = searchable(client, places, vault, "words")
        wanted = part.removeprefix("#").casefold()
        known = [tag for tag in client.tags(vault=chosen.id) if wanted in tag.tag.casefold()]
    known.sort(key=lambda tag: (-tag.notes, tag.tag))
    if as_json:
        write_json(known)
    else:
        wide = max((len(f"{tag.notes:,}") for tag in known), default=0)
        write("".join(f"{tag.notes:>{wide},}  #{one_line(tag.tag)}\n" for tag in known))
    if not known:
        if not as_json:
            remark(f"no tag has {part} in it" if part else "no note has a tag")
        raise typer.Exit(UNSURE if chosen.state in ("starting", "indexing", "away", "broken") else NOTHING)


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
        if chosen is None and (near := near_vault(client.status().vaults, name)):
            raise not_served(name, near)
        gone = chosen.id if chosen is not None else name
        client.remove_vault(gone)
    if as_json:
        write_json({"removed": gone})
        return
    shown = chosen.name if chosen is not None else name
    write(f"{shown} is not served any more; its index stays in {places.vault_folder(gone)}\n")
