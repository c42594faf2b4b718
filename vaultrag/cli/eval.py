"""``vaultrag eval``: judged queries through the real pipeline, to a table of figures."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vaultrag.cli.options import AsJson
from vaultrag.cli.output import draw, remark, write_json
from vaultrag.config import Places, Settings, load
from vaultrag.domain import Mode
from vaultrag.errors import ConfigError
from vaultrag.retrieval.params import DEFAULT, Params, read_params


def evaluate(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder in the form of BEIR: corpus.jsonl, queries.jsonl, qrels/.")
    ] = None,
    split: Annotated[list[str] | None, typer.Option("--split", help="qrels/SPLIT.tsv; may be said twice.")] = None,
    prefix: Annotated[str, typer.Option("--prefix", help="Only documents whose id begins so.")] = "",
    vault: Annotated[Path | None, typer.Option("--vault", help="A vault, with --queries.")] = None,
    queries: Annotated[Path | None, typer.Option("--queries", help="Judged queries, a JSON object a line.")] = None,
    mode: Annotated[Mode, typer.Option("--mode", help="Which ways of finding are used.")] = "hybrid",
    params_file: Annotated[
        Path | None, typer.Option("--params", help="Parameters of the ranking, in TOML, in place of the usual ones.")
    ] = None,
    provider: Annotated[
        Literal["auto", "ollama", "builtin", "off"] | None, typer.Option("--provider", help="Which embedder.")
    ] = None,
    twins: Annotated[
        bool, typer.Option("--twins", help="Ask every query once more with its right notes taken away.")
    ] = False,
    foreign: Annotated[
        Path | None, typer.Option("--foreign", help="Queries of another set, to which this vault has no answer.")
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Also without each part, with the intervals of the differences.")
    ] = False,
    against: Annotated[
        Path | None, typer.Option("--against", help="An earlier run's --json, to compare with query by query.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option("--cache", help="Where notes and vectors are kept from run to run.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run judged queries and print how well they were answered."""
    from vaultrag.evaluate import datasets
    from vaultrag.evaluate.report import ablations, difference, per_query, report
    from vaultrag.evaluate.run import Pipeline
    from vaultrag.evaluate.run import evaluate as run

    places = Places.find()
    home = (cache or places.data / "evaluation").absolute()
    settings = _settings(load(places.config_file), provider)
    params = _params(params_file)
    if folder is not None:
        place = home / f"{folder.resolve().name}{'-' + prefix.strip('-') if prefix else ''}"
        notes = place / "vault"
        judged = [one for name in split or ["test"] for one in datasets.read_beir(folder, name, prefix=prefix)]
        datasets.lay_out(folder, notes, prefix=prefix)
    elif vault is not None and queries is not None:
        judged, notes = datasets.read_queries(queries), vault
        place = home / f"vault-{vault.resolve().name}"
    else:
        raise ConfigError("say what to run", hint="vaultrag eval FOLDER, or --vault DIR --queries FILE.jsonl")
    if not notes.is_dir():
        raise ConfigError(f"there is no folder {notes}")
    earlier = _per_query(against) if against is not None else None
    asked = [*judged, *(datasets.twins(judged) if twins else ()), *(datasets.read_foreign(foreign) if foreign else ())]
    with Pipeline(notes, place, settings) as pipeline:
        pipeline.wait(_said_once())
        outcomes = run(pipeline, asked, mode, params)
        figures = report(outcomes, pipeline, mode, params)
        figures |= {"set": str(folder or vault), "per_query": per_query(outcomes), "compared": {}}
        if earlier is not None:
            figures["compared"][str(against)] = difference(figures["per_query"], earlier)
        for variant in ablations(mode, params) if ablate else ():
            others = per_query(run(pipeline, judged, variant.mode, variant.params))
            figures["compared"][variant.name] = difference(figures["per_query"], others)
    if as_json:
        write_json(figures)
    else:
        from vaultrag.cli.render.figures import figure_tables

        draw(*figure_tables(figures))


def _per_query(path: Path) -> dict[str, float]:
    """Return the nDCG@10 of each query in an earlier run."""
    try:
        found = json.loads(path.read_text("utf-8"))["per_query"]
        return {str(name): float(figure) for name, figure in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is no run to compare with: {error}", hint="vaultrag eval … --json > FILE") from error


def _params(path: Path | None) -> Params:
    """Read the parameters of the ranking."""
    if path is None:
        return DEFAULT
    try:
        return read_params(path.read_text("utf-8"), str(path))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def _settings(base: Settings, provider: Any) -> Settings:
    return base if provider is None else replace(base, embedder=replace(base.embedder, provider=provider))


def _said_once() -> Any:
    """Progress on stderr: a line at every tenth."""
    told = -1

    def progress(done: int, total: int) -> None:
        nonlocal told
        tenth = 10 * done // total if total else 0
        if tenth > told and not os.environ.get("CI"):
            told = tenth
            remark(f"making vectors: {done} of {total}")

    return progress
