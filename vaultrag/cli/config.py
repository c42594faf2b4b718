"""Commands about the settings: what they are, where they are, a file to begin with, and an editor on it."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from vaultrag.cli.options import AsJson
from vaultrag.cli.output import write, write_json
from vaultrag.config import Places, Settings, load
from vaultrag.errors import ConfigError


def config(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Print the settings in force, with what each is for, as TOML."""
    if ctx.invoked_subcommand is None:
        _print(as_json)


def _print(as_json: bool) -> None:
    file = Places.find().config_file
    settings = load(file)
    if as_json:
        write_json({"file": str(file), "exists": file.exists(), "settings": settings})
        return
    from vaultrag.client.settings_text import as_toml

    state = "" if file.exists() else " (not there: these are the defaults; vaultrag config init writes it)"
    write(f"# {file}{state}\n\n{as_toml(settings)}")


def show(as_json: AsJson = False) -> None:
    """Print the settings in force; the same as vaultrag config alone."""
    _print(as_json)


def edit() -> None:
    """Open the settings file in your editor, and check it afterwards. One that is not there is begun."""
    places = Places.find()
    file = places.config_file
    if not file.exists():
        write_new(file, _new())
    try:
        chosen = load(file).tui.editor
    except ConfigError:
        chosen = ""  # to repair the file is what one comes here for
    from vaultrag.client.editor import edit_file

    before = file.read_bytes()
    edit_file(file, chosen)
    load(file)
    if file.read_bytes() == before:
        write(f"{file} is as it was\n")
    elif places.discovery.exists():
        write(f"{file} can be read; the daemon takes it up when it starts: vaultrag stop && vaultrag up\n")
    else:
        write(f"{file} can be read\n")


def path(as_json: AsJson = False) -> None:
    """Print where the settings file is, or would be."""
    file = Places.find().config_file
    write_json({"file": str(file), "exists": file.exists()}) if as_json else write(f"{file}\n")


def init(as_json: AsJson = False) -> None:
    """Write a settings file in which every setting is explained and commented out."""
    file = Places.find().config_file
    write_new(file, _new())
    write_json({"file": str(file), "exists": True}) if as_json else write(f"{file}\n")


def _new() -> str:
    from vaultrag.client.settings_text import as_toml

    return as_toml(Settings(), commented=True)


def write_new(file: Path, text: str) -> None:
    """Begin the settings file.

    Raises:
        ConfigError: It is there already, or cannot be written.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise ConfigError(f"{file} is there already, and stays as it is") from error
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be written: {error.strerror or error}", hint="vaultrag config path"
        ) from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)
