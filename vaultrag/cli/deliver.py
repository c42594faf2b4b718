"""Commands whose output a model reads: rules, catalogue, push."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from vaultrag.cli.options import AsJson, MaxTokens, VaultOption
from vaultrag.cli.output import remark, write, write_json
from vaultrag.cli.render.delivered import catalogue_text, joined, rules_text
from vaultrag.cli.search import nothing_listed, searchable
from vaultrag.client.launch import reach_or_start
from vaultrag.config import Places
from vaultrag.domain import Catalogue, Rules
from vaultrag.rpc.client import Client

ForAgents = Annotated[
    bool, typer.Option("--agent", help="As an agent gets it: without private notes, with keys and tokens masked.")
]


def rules(
    vault: VaultOption = "",
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", min=0, help="What they may cost together; more is an error. 0: no bound."),
    ] = None,
    agent: ForAgents = False,
    as_json: AsJson = False,
) -> None:
    """Print the notes that are always to be read, whole, in the order in which they were made.

    Those with "always: true" in their properties, and those that the settings name under \\[rules] by tag or folder.
    """
    client, chosen = _client(vault, agent)
    with client:
        found: Rules = client.rules(max_tokens=max_tokens, vault=chosen)
    if as_json:
        write_json(found)
    else:
        write(joined(rules_text(found)))
    if not found.rules:
        if not as_json:
            remark('no note is a rule; put "always: true" into its properties')
        raise typer.Exit(nothing_listed(found.reasons))


def catalogue(
    folder: Annotated[str, typer.Option("--folder", metavar="DIR", help="Only notes in this folder.")] = "",
    tag: Annotated[str, typer.Option("--tag", metavar="TAG", help="Only notes with this tag.")] = "",
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=0, help="Notes at most; 0 for 2000.")] = 0,
    vault: VaultOption = "",
    max_tokens: MaxTokens = 0,
    agent: ForAgents = False,
    as_json: AsJson = False,
) -> None:
    """Print one line a note, by type. Editing a note moves no line, so that a prompt's cache keeps."""
    client, chosen = _client(vault, agent)
    with client:
        found: Catalogue = client.catalogue(folder=folder, tag=tag, limit=limit, max_tokens=max_tokens, vault=chosen)
    if as_json:
        write_json(found)
    else:
        write(joined(catalogue_text(found)))
    if not found.total:
        raise typer.Exit(nothing_listed(found.reasons))


def push(
    event: Annotated[str, typer.Option("--event-json", metavar="FILE", help="The event; - for stdin.")] = "-",
    form: Annotated[
        Literal["text", "hook"], typer.Option("--format", help="hook: as JSON, in the shape that hooks hand on.")
    ] = "text",
    max_tokens: Annotated[str, typer.Option("--max-tokens", help="Budget of all notes; 0 for none.")] = "2000",
    vault: VaultOption = "",
) -> None:
    """Print the notes whose property "when" fits what a program is about to do; for the hooks of acting agents.

    Silent, with exit code 0, whatever goes wrong. No note comes twice in a session. It starts no daemon.
    """
    from vaultrag.cli.push import push as run

    run(["--event-json", event, "--format", form, "--max-tokens", max_tokens, "--vault", vault])


def _client(name: str, agent: bool) -> tuple[Client, str]:
    """Connect as the wanted kind of reader; return the connection and the vault to ask."""
    places = Places.find()
    client = reach_or_start(places).client
    try:
        chosen = searchable(client, places, name, "words").id
    except BaseException:
        client.close()
        raise
    if agent:
        client.close()
        client = Client.connect(places, reader="agent")
    return client, chosen
