"""Having Ollama download its model, with a bar on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable

from vaultrag.cli.output import console, remark
from vaultrag.config import EmbedderSettings


def pull_model(settings: EmbedderSettings) -> None:
    """Download the model of these settings.

    Raises:
        EmbedderUnavailable, ModelMissing
    """
    from vaultrag.embedding import OllamaEmbedder  # the client's libraries are for this one command only

    embedder = OllamaEmbedder(settings)
    try:
        if sys.stderr.isatty():
            _with_bar(embedder.pull)
        else:
            remark(f"Ollama downloads {settings.model} …")
            embedder.pull(lambda step, done, total: None)
    finally:
        embedder.close()


def _with_bar(pull: Callable[[Callable[[str, int, int], None]], None]) -> None:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console(sys.stderr),
        transient=True,
    ) as progress:
        task = progress.add_task("pulling", total=None)

        def show(step: str, done: int, total: int) -> None:
            progress.update(task, description=step[:40], completed=done, total=total or None)

        pull(show)
