"""``vaultrag init``: from an installation to the first answer, each step asked for, or told by an option.

Without a terminal nothing is asked: what no option answers is left undone. Into the vault only the plugin is written,
and only when it was asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import typer

from vaultrag.cli.config import write_new
from vaultrag.cli.output import draw, remark, width, write
from vaultrag.cli.progress import wait
from vaultrag.cli.service import install_service
from vaultrag.client.launch import reach_or_start
from vaultrag.client.resolve import absolute
from vaultrag.client.stages import vault_in
from vaultrag.config import EmbedderSettings, Places, load
from vaultrag.domain import VaultStatus
from vaultrag.errors import EmbedError, ServiceError, UsageError, VaultMissing
from vaultrag.install.obsidian import known_vaults
from vaultrag.install.plugin import ENABLED, put_into
from vaultrag.rpc.client import Client

Provider = Literal["auto", "ollama", "builtin", "off"]

SHOWN_HITS = 3


@dataclass
class _Answers:
    """The way questions are answered: by the person, with yes to all, or not at all."""

    yes: bool
    asked: bool = field(default_factory=lambda: sys.stdin.isatty() and sys.stderr.isatty())

    def confirm(self, question: str, told: bool | None, *, assumed: bool) -> bool:
        """Ask a question that is answered with yes or no."""
        if told is not None:
            return told
        if self.yes:
            return assumed
        return self.asked and typer.confirm(question, default=True, err=True)


def init(
    vault: Annotated[
        str,
        typer.Option(
            "--vault", metavar="DIR", help="The folder of notes; else one that Obsidian knows.", show_default=False
        ),
    ] = "",
    embedder: Annotated[
        Provider | None, typer.Option("--embedder", help="What makes vectors; auto: Ollama if it is there.")
    ] = None,
    pull: Annotated[
        bool | None, typer.Option("--pull/--no-pull", help="Have Ollama download the model if it lacks it.")
    ] = None,
    service: Annotated[
        bool | None, typer.Option("--service/--no-service", help="Start with your session (vaultrag service install).")
    ] = None,
    plugin: Annotated[
        bool | None, typer.Option("--plugin/--no-plugin", help="Put the Obsidian plugin into the vault.")
    ] = None,
    query: Annotated[str, typer.Option("--query", help="What to search for at the end.", show_default=False)] = "",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask nothing: yes to all, but for the plugin, which wants --plugin.")
    ] = False,
) -> None:
    """Set everything up: find your vault, choose the model, start, and search for the first time.

    Every question can be answered by an option; without a terminal, what is not answered is left undone. Nothing is
    written into the vault unless the plugin is asked for.
    """
    answers = _Answers(yes)
    root = _chosen(vault, answers)
    _embedder(embedder, pull, answers)
    problems: list[str] = []
    if answers.confirm("Start vaultrag with your session, as a service?", service, assumed=True):
        problems += _tried(install_service, "the service", service)
    with reach_or_start(Places.find()).client as client:
        served = client.add_vault(str(root))
        if answers.confirm("Put the Obsidian plugin into the vault?", plugin, assumed=False):
            problems += _tried(lambda: remark(f"the plugin is in {put_into(root)}; {ENABLED}"), "the plugin", plugin)
        status = wait(client, served.id, "words")
        from vaultrag.cli.render.status import summary

        write(summary(status, [vault_in(status, served.id)]))
        _first_search(client, served, query)
    write("\nGo on:  vaultrag              a search screen\n        vaultrag status       how far it is\n")
    write("        vaultrag doctor       if something seems wrong\n")
    if problems:
        raise ServiceError("; ".join(problems), hint="vaultrag doctor")


def _chosen(name: str, answers: _Answers) -> Path:
    """Return the vault: the one named, else one that Obsidian knows.

    Raises:
        VaultMissing: There is no such folder.
        UsageError: None is named, and it is not clear which is meant.
    """
    if name:
        root = absolute(name)
        if not root.is_dir():
            raise VaultMissing(f"there is no folder {name}", hint="check the spelling")
        return root
    known = [path for path in known_vaults(Path.home(), os.environ).values() if path.is_dir()]
    if not known:
        raise UsageError("Obsidian knows no vault on this machine", hint="vaultrag init --vault ~/Notes")
    if len(known) == 1 and answers.yes:
        return known[0]
    if not answers.asked or answers.yes:
        listed = ", ".join(map(str, known))
        raise UsageError(f"say which of Obsidian's vaults: {listed}", hint=f"vaultrag init --vault '{known[0]}'")
    for number, path in enumerate(known, start=1):
        remark(f"  {number}  {path}")
    while True:
        chosen: int = typer.prompt("Which vault", default=1, type=int, err=True)
        if 1 <= chosen <= len(known):
            return known[chosen - 1]


def _embedder(wanted: Provider | None, pull: bool | None, answers: _Answers) -> None:
    """Write down the provider if one is wished for, and offer the model where Ollama is there without it."""
    places = Places.find()
    if wanted not in (None, "auto"):
        if not places.config_file.exists():
            write_new(places.config_file, f'[embedder]\nprovider = "{wanted}"\n')
        elif load(places.config_file).embedder.provider != wanted:
            raise UsageError(
                f"{places.config_file} is there already, and names another embedder",
                hint=f'set provider = "{wanted}" under [embedder]: vaultrag config edit',
            )
    settings = load(places.config_file).embedder
    if settings.provider in ("auto", "ollama"):
        _offer_model(settings, pull, answers)


def _offer_model(settings: EmbedderSettings, pull: bool | None, answers: _Answers) -> None:
    from vaultrag.cli.pull import pull_model
    from vaultrag.embedding.registry import trouble_with_ollama  # asks the server; the client is loaded if one listens

    trouble = trouble_with_ollama(settings)
    builtin = "" if settings.provider == "ollama" else "; the builtin model is used"
    if trouble is None:
        remark(f"Ollama has {settings.model}")
    elif type(trouble).__name__ != "ModelMissing":
        remark(f"{trouble.message}{builtin}")
    elif answers.confirm(f"{trouble.message}. Have it download the model now?", pull, assumed=True):
        try:
            pull_model(settings)
        except EmbedError as error:
            remark(f"{error.message}{builtin}")
    else:
        remark(f"{trouble.message}{builtin}")


def _tried(step: Callable[[], object], what: str, told: bool | None) -> list[str]:
    """Carry a step out. One that fails does not keep the rest from being done; one that was asked for is told of."""
    try:
        step()
    except ServiceError as error:
        remark(f"{what} is left out: {error.message}\n  try: {error.hint}" if error.hint else error.message)
        return [f"{what}: {error.message}"] if told else []
    return []


def _first_search(client: Client, vault: VaultStatus, query: str) -> None:
    """Something that is surely there: the note written last, by its title."""
    if not query:
        newest = client.search("after:1970-01-02", limit=1, mode="words", vault=vault.id).hits
        if not newest:
            write("the vault has no notes yet: what you write there is found as soon as it is saved\n")
            return
        query = newest[0].title
    from vaultrag.cli.render.answers import answer_lines

    shown = query.replace('"', '\\"')
    write(f'\n$ vaultrag search "{shown}"\n')
    draw(*answer_lines(client.search(query, limit=SHOWN_HITS, vault=vault.id), width()))
