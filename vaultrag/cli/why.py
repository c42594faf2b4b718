"""``vaultrag why``: what has become of a note, and which rule, fault or delay keeps it from being found."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from vaultrag.cli.options import AsJson, VaultOption
from vaultrag.cli.output import write, write_json
from vaultrag.cli.search import NOTHING
from vaultrag.client.launch import served
from vaultrag.client.resolve import absolute, chosen_vault, cited_lines, near_vault, not_served, note_path, unclear
from vaultrag.config import Places, load, vault_id
from vaultrag.domain import Diagnosis, VaultStatus
from vaultrag.errors import ConnectionLost, DaemonNotRunning, StoreError
from vaultrag.rpc.client import Client


def why(
    path: Annotated[str, typer.Argument(help="A note's path in its vault, or a file; it need not be there.")],
    vault: VaultOption = "",
    as_json: AsJson = False,
) -> None:
    """Explain why a note is not found: excluded, skipped, not read or embedded yet, private, or not there.

    Of one that is found: since which version, and with which passages. Works without a daemon too. Exit code 0: it is
    found as it is on the disk, 1: it is not.
    """
    asked = cited_lines(path)[0]
    places = Places.find()
    try:
        with Client.connect(places) as client:
            chosen = served(client, places, vault)
            known = client.status().vaults
            found = _ask(asked, vault, known, chosen, lambda note, where: client.why(note, vault=where))
    except (DaemonNotRunning, ConnectionLost):
        found = _without_daemon(asked, vault, places)
    if as_json:
        write_json(found)
    else:
        from vaultrag.cli.render.diagnosis import diagnosis_lines

        write("".join(f"{line}\n" for line in diagnosis_lines(found)))
    if found.standing != "indexed":
        raise typer.Exit(NOTHING)


Look = Callable[[str, str], Diagnosis]
"""Asks for a note in a vault, by the vault's id."""


def _ask(asked: str, name: str, known: Sequence[VaultStatus], chosen: VaultStatus | None, look: Look) -> Diagnosis:
    """In the vault that is meant; where none is, in each until one knows the note."""
    if name and chosen is None:
        raise not_served(name, near_vault(known, name))
    note, found_in = note_path(asked, chosen, () if name else known)
    if not found_in and (outside := _outside(note)) is not None:
        return outside
    if found_in or chosen is not None:
        return look(note, found_in or (chosen.id if chosen is not None else ""))
    if not known:
        raise unclear(known)
    answers = [look(note, vault.id) for vault in known]
    return next((answer for answer in answers if answer.standing != "absent"), answers[0])


def _outside(path: str) -> Diagnosis | None:
    """Diagnose a file that is in no served vault; None for a path that may begin in a vault."""
    file = absolute(path)
    if not (Path(path).is_absolute() or path.startswith("~")) and not os.path.lexists(file):
        return None
    if not os.path.lexists(file):
        return Diagnosis(path, "", "absent", "there is no such file, and no vault that is served would hold it",
                           "vaultrag vaults")  # fmt: skip
    root = next((folder for folder in file.parents if (folder / ".obsidian").is_dir()), file.parent)
    return Diagnosis(path, "", "outside", "it lies in no vault that is served", f"vaultrag up '{root}'")


def _without_daemon(asked: str, name: str, places: Places) -> Diagnosis:
    from vaultrag.app.diagnosis import diagnose
    from vaultrag.doctor.known_vaults import known_roots
    from vaultrag.doctor.offline import sources  # brings in databases: nothing that others need

    settings = load(places.config_file)
    known = [VaultStatus(vault_id(root), root.name, str(root), "stopped") for root in known_roots(places)]
    roots = {vault.id: Path(vault.root) for vault in known}

    def look(note: str, vault: str) -> Diagnosis:
        try:
            with sources(roots[vault], places, settings) as asked_of:
                return diagnose(asked_of, note)
        except StoreError as error:
            return Diagnosis(note, vault, "waiting", error.message, error.hint)

    return _ask(asked, name, known, chosen_vault(known, name, Path.cwd().resolve()), look)
