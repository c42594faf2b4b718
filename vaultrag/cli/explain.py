"""``vaultrag explain``: why the answer is what it is, and why a note is missing from it."""

from __future__ import annotations

from typing import Annotated

import typer

from vaultrag.cli.options import AsJson, Limit, VaultOption
from vaultrag.cli.output import draw, write_json
from vaultrag.cli.search import searchable
from vaultrag.client.launch import reach
from vaultrag.config import Places
from vaultrag.domain import Mode


def explain(
    query: Annotated[str, typer.Argument(help="The query, in quotes if it is several words.")],
    path: Annotated[str, typer.Argument(help="A note to explain, also one that is missing from the answer.")] = "",
    vault: VaultOption = "",
    limit: Limit = None,
    mode: Annotated[Mode, typer.Option("--mode", help="Which ways of finding are used.")] = "hybrid",
    as_json: AsJson = False,
) -> None:
    """Explain how a query was read, and why each note ranks where it does or is missing."""
    places = Places.find()
    with reach(places) as client:
        chosen = searchable(client, places, vault, mode)
        explanation = client.explain(query, path=path, limit=limit or 5, mode=mode, vault=chosen.id)
    if as_json:
        write_json(explanation)
    else:
        from vaultrag.client.explanations import explanation_lines

        draw(*explanation_lines(explanation))
