"""Commands that ask the index: search, related, get."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import typer
import typer.core

from vaultrag.cli.options import AsJson, Limit, MaxTokens, VaultOption, invocation, line_range, options_first
from vaultrag.cli.output import draw, remark, width, write, write_json, write_paths
from vaultrag.cli.progress import wait
from vaultrag.cli.render.delivered import answer_text, joined
from vaultrag.client.launch import meant, reach, reach_or_start
from vaultrag.client.lines import hit_as_line
from vaultrag.client.resolve import chosen_vault, cited_lines, near_vault, not_served, note_path
from vaultrag.config import Places, load
from vaultrag.domain import Answer, Capacity, DateUse, Hit, Mode, Reason, Shape, State, VaultStatus
from vaultrag.domain.requests import Search
from vaultrag.errors import UsageError, VaultError
from vaultrag.rpc.client import Client, discover
from vaultrag.wording import because

Format = Literal["human", "json", "jsonl", "tsv", "vimgrep", "links", "paths"]

NOTHING = 1
"""Exit code of a search that found nothing strong or partial."""

UNSURE = 3
"""Exit code of a search that found nothing, but could not look everywhere: the index lacks changes, or time was up."""


class QueryCommand(typer.core.TyperCommand):
    """A command whose arguments may begin with a dash: ``-word`` in a query leaves notes out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        valued: list[str] = []
        flags = list(ctx.help_option_names)
        for param in self.params:
            if getattr(param, "param_type_name", "") == "option":
                (flags if getattr(param, "is_flag", False) else valued).extend(param.opts)
        return super().parse_args(ctx, options_first(args, valued, flags))


def search(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help='Words, "a phrase", -not, tag:#x, path:dir …')],
    vault: VaultOption = "",
    limit: Limit = None,
    mode: Annotated[Mode, typer.Option("--mode", help="Which ways of finding are used.")] = "hybrid",
    no_start: Annotated[bool, typer.Option("--no-start", help="Do not start the daemon if it is not running.")] = False,
    shape: Annotated[
        Shape | None, typer.Option("--shape", help="For a model: whole notes, passages, or a line a note.")
    ] = None,
    reader: Annotated[
        Capacity | None, typer.Option("--reader", help="Who reads: sets shape and limit. small: 5 lines.")
    ] = None,
    max_tokens: MaxTokens = 0,
    every: Annotated[bool, typer.Option("--all", help="Weak hits too, among the others.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Strong and partial hits only: no nearest notes.")] = False,
    dates: Annotated[
        DateUse,
        typer.Option("--dates", help='What "last week" does: raise notes of that time, leave out others, nothing.'),
    ] = "raise",
    as_json: AsJson = False,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="A note a line: jsonl; tsv (file, line, score, title, passage); vimgrep (file:line:column:text); "
            "links (to paste into a note); paths.",
        ),
    ] = "human",
    null: Annotated[
        bool,
        typer.Option("-0", "--null", help="Paths as they are, each ended by NUL, for xargs -0. Sets --format paths."),
    ] = False,
) -> None:
    """Find notes by words and by meaning.

    Exit code 0: found, 1: only weak hits or none, 2: error, 3: not all was searched.

    A word finds its forms, a "quoted phrase" stands as it is, -word leaves notes out. tag:#x, path:folder, file:name,
    \\[property:value], during:2026-01, after:2026-01-31, before: and is:orphan search in some notes only, and
    sort:created orders by time. A phrase such as last week raises the notes of that time.
    """
    if as_json or form == "json":
        form = "json"
        invocation(ctx).json = True
    if null:
        if form not in ("human", "paths"):
            raise UsageError("--null goes with --format paths only", hint="vaultrag search --null WORDS")
        form = "paths"
    if every and strict:
        raise UsageError("--all and --strict exclude each other", hint="vaultrag search --strict WORDS")
    request = Search(
        " ".join(query),
        limit=limit or 0,
        mode=mode,
        shape=shape,
        reader=reader,
        max_tokens=max_tokens,
        include_weak=every,
        dates=dates,
    )
    with _connect(Places.find(), start=not no_start) as client:
        answer, root = _ask(client, request, vault)
        if strict:
            answer = replace(answer, nearest=())
        if form == "human" and (shape or reader or max_tokens):
            write(joined(answer_text(answer)))
        elif null:
            write_paths(root / hit.path for hit in answer.hits)
        else:
            _show(answer, form, root, lambda hit: _lines_of(client, hit, str(root)))
    if answer.tier == "weak":
        raise typer.Exit(nothing_found(answer))


def _ask(client: Client, request: Search, name: str) -> tuple[Answer, Path]:
    """Return the answer, and the folder of the vault it is from.

    Where one vault is served and its notes are indexed, this is one call. Otherwise the vault is looked up, and waited
    for until its notes can be found.

    Raises:
        VaultUnknown, VaultError
    """
    places = Places.find()
    root, only = client.welcome.get("root", ""), client.welcome["vault"]
    opened = len(client.welcome["vaults"]) >= len(
        discover(places).vaults
    )  # a daemon that starts has not all of them yet
    if root and opened and name in ("", root, only, Path(root).name):
        answer = client.ask(request)
        if answer.state is not State.INDEXING and answer.index.current:
            return answer, Path(root)
    chosen = searchable(client, places, name, request.mode)
    return client.ask(msgspec.structs.replace(request, vault=chosen.id)), Path(chosen.root)


def nothing_listed(reasons: Sequence[Reason]) -> int:
    """Say why a list may lack something, and return the exit code of an empty one."""
    doubts = [reason for reason in reasons if reason.state is not State.FULL]
    for reason in reasons:
        remark(because(reason.why, reason.hint))
    return UNSURE if doubts else NOTHING


def related(
    path: Annotated[str, typer.Argument(help="A note's path in its vault, or a file.")],
    vault: VaultOption = "",
    limit: Limit = None,
    unlinked: Annotated[bool, typer.Option("--unlinked", help="Leave out notes that are linked already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find notes that are near a note in meaning, or linked with it."""
    with reach(Places.find()) as client:
        note, chosen = _note(client, cited_lines(path)[0], vault)
        answer = client.related(note, limit=limit or 0, linked=not unlinked, vault=chosen)
    _show(answer, "json" if as_json else "human", Path(), advice=_related_advice(unlinked))
    if not answer.hits:
        raise typer.Exit(nothing_found(answer))


def get(
    path: Annotated[str, typer.Argument(help="A note's path in its vault, a file, or a citation: path#L3-L9.")],
    heading: Annotated[str, typer.Option("--heading", help="Only the section under this heading.")] = "",
    lines: Annotated[str, typer.Option("--lines", metavar="A-B", help="Only these lines.")] = "",
    vault: VaultOption = "",
    as_json: AsJson = False,
) -> None:
    """Print a note as it is on the disk."""
    bare, first, last = cited_lines(path)
    if lines:
        first, last = line_range(lines)
    with reach(Places.find()) as client:
        note, chosen = _note(client, bare, vault)
        view = client.get(note, first_line=first, last_line=last, heading=heading, vault=chosen)
    if as_json:
        write_json(view)
    elif view.text:
        write(view.text if view.text.endswith("\n") else f"{view.text}\n")


def _related_advice(unlinked: bool) -> str:
    return "without --unlinked" if unlinked else "vaultrag search, with words of the note"


def _show(
    answer: Answer, form: Format, root: Path, text: Callable[[Hit], str] = lambda hit: "", *, advice: str | None = None
) -> None:
    if form == "json":
        write_json(answer)
    elif form == "human":
        from vaultrag.cli.render.answers import answer_lines

        draw(*answer_lines(answer, width(), advice))
    else:
        for hit in answer.hits:
            write(f"{hit_as_line(hit, form, root, text(hit) if form == 'vimgrep' else '')}\n")


def _lines_of(client: Client, hit: Hit, vault: str) -> str:
    """Return the note from its passage on; empty where it cannot be read."""
    try:
        return client.get(hit.path, first_line=hit.start_line, vault=vault).text if hit.start_line else ""
    except VaultError:
        return ""


def _connect(places: Places, *, start: bool) -> Client:
    return reach_or_start(places, searches=True).client if start else reach(places, searches=True)


def nothing_found(answer: Answer) -> int:
    """Return the exit code of an answer in which nothing matches closely: only a current index proves that."""
    return NOTHING if answer.index.current and answer.state is not State.PARTIAL else UNSURE


def searchable(client: Client, places: Places, name: str, mode: Mode) -> VaultStatus:
    """Return the vault to search, once its notes can be found.

    Raises:
        VaultUnknown, VaultError
    """
    chosen = meant(client, places, name)
    # Only what starts is waited for, and for a model no longer than an answer waits for it. A vault in the midst of
    # embedding answers now, and says that it is not done.
    if mode == "meaning":
        status = wait(client, chosen.id, "vectors")
    else:
        wait(client, chosen.id, "words")
        most_s = load(places.config_file).search.deadline_s or math.inf
        status = wait(client, chosen.id, "words" if mode == "words" else "loaded", most_s=most_s)
    return next((vault for vault in status.vaults if vault.id == chosen.id), chosen)


def _note(client: Client, path: str, vault: str) -> tuple[str, str]:
    """Return the note's path and its vault's id, as the daemon knows them."""
    vaults = client.status().vaults
    chosen = chosen_vault(vaults, vault, Path.cwd().resolve())
    if chosen is None and vault:
        raise not_served(vault, near_vault(vaults, vault))
    note, found_in = note_path(path, chosen, () if vault else vaults)
    return note, found_in or (chosen.id if chosen is not None else vault)
