"""``vaultrag timeline``: what the vault says about a thing, in order of time."""

from __future__ import annotations

from typing import Annotated

import typer

from vaultrag.cli.options import AsJson, MaxTokens, VaultOption, invocation
from vaultrag.cli.output import remark, write, write_json
from vaultrag.cli.search import nothing_listed, searchable
from vaultrag.client.launch import reach_or_start
from vaultrag.config import Places
from vaultrag.domain.timeline import Timeline, TimelineEntry
from vaultrag.wording import count, one_line, validity


def timeline(
    ctx: typer.Context,
    query: Annotated[list[str] | None, typer.Argument(metavar="QUERY", help="As for search; none: all notes.")] = None,
    folder: Annotated[str, typer.Option("--folder", metavar="DIR", help="Only notes in this folder.")] = "",
    tag: Annotated[str, typer.Option("--tag", metavar="TAG", help="Only notes with this tag.")] = "",
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="N", min=0, help="Lines at most; 0 for 50.")] = 0,
    vault: VaultOption = "",
    max_tokens: MaxTokens = 0,
    as_json: AsJson = False,
) -> None:
    """Print what the notes say about a thing in order of time: date, where it was read, what, and where it stands."""
    if as_json:
        invocation(ctx).json = True
    places = Places.find()
    with reach_or_start(places, searches=True).client as client:
        chosen = searchable(client, places, vault, "hybrid").id
        found = client.timeline(
            " ".join(query or ()), folder=folder, tag=tag, limit=limit, max_tokens=max_tokens, vault=chosen
        )
    if as_json:
        write_json(found)
    else:
        write("".join(f"{line}\n" for line in timeline_lines(found)))
    if not found.total:
        raise typer.Exit(nothing_listed(found.reasons))
    if not as_json:
        for reason in found.reasons:
            remark(reason.why)
        if found.cut:
            remark(f"{count(found.cut, 'more line')} left out (try: --limit)")


def timeline_lines(found: Timeline) -> list[str]:
    """Return the lines, one an entry."""
    return [
        f"{entry.date} ({entry.date.source})  {one_line(entry.line)}{_holds(entry)}  {one_line(entry.citation)}"
        for entry in found.entries
    ]


def _holds(entry: TimelineEntry) -> str:
    return f" [{one_line(validity(entry.standing))}]" if entry.standing is not None else ""
