"""Opening a file in the person's editor, on the terminal that the command has."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from vaultrag.errors import ConfigError

_FALLBACKS = ("sensible-editor", "nano", "vim", "vi")

# Editors that want a line in another way than +LINE.
_GOTO = {"code", "code-insiders", "codium", "cursor", "windsurf"}
_COLON = {"subl", "zed", "hx", "helix", "micro", "atom"}
_VIM = {"vim", "nvim", "gvim", "nvim-qt"}  # "vi" may be another program
_WITH_COLUMN = {"nano": ",", "emacs": ":", "emacsclient": ":", "kak": ":"}


def editor_command(
    chosen: str, environ: Mapping[str, str], files: Sequence[Path], line: int, column: int = 0
) -> list[str]:
    """Return the command that opens files, the first one at a line.

    Args:
        chosen: As in the settings; empty for VISUAL, else EDITOR, else what is usual.
        environ: The environment.
        files: At least one.
        line: From 1; 0 for none.
        column: In characters, from 1; 0 for none.

    Raises:
        ConfigError: There is no such editor.
    """
    told = chosen or environ.get("VISUAL", "") or environ.get("EDITOR", "")
    if not told.strip():
        told = next((name for name in _FALLBACKS if shutil.which(name, path=environ.get("PATH"))), "")
    try:
        command = shlex.split(told)
    except ValueError as error:
        raise ConfigError(f"the editor {told!r} cannot be read: {error}", hint="export EDITOR=nano") from error
    if not command:
        raise ConfigError("no editor is known", hint="export EDITOR=nano")
    command[0] = os.path.expanduser(command[0])  # noqa: PTH111 - Path.expanduser() raises where there is no such user
    if shutil.which(command[0], path=environ.get("PATH")) is None:
        raise ConfigError(f"the editor {command[0]} is not there", hint="export EDITOR=nano")
    return [*command, *_at(Path(command[0]).name, files, line, column)]


def _at(editor: str, files: Sequence[Path], line: int, column: int) -> list[str]:
    names = [str(file) for file in files]
    if not line:
        return names
    at = f"{line}:{column}" if column else str(line)
    if editor in _VIM and column > 1:
        return [f"+normal! {line}G0{column - 1}l", *names]
    if editor in _WITH_COLUMN and column:
        return [f"+{line}{_WITH_COLUMN[editor]}{column}", *names]
    if editor in _GOTO:
        return ["--goto", f"{names[0]}:{at}", *names[1:]]
    if editor in _COLON:
        return [f"{names[0]}:{at}", *names[1:]]
    return [f"+{line}", *names]


def in_foreground(command: Sequence[str]) -> str:
    """Run a program on the terminal; why it could not be run, or empty."""
    # Ctrl+C in the program is the program's. A handler, unlike SIG_IGN, is not handed down to it.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        return f"{command[0]} cannot be run: {error.strerror or error}"
    finally:
        signal.signal(signal.SIGINT, before)
    return f"{command[0]} ended with {code}" if code else ""


def edit_file(file: Path, chosen: str) -> None:
    """Open one file, and wait until the editor has ended.

    Args:
        file: Which.
        chosen: The editor of the settings; empty for that of the environment.

    Raises:
        ConfigError: There is no such editor, or it failed.
    """
    failure = in_foreground(editor_command(chosen, os.environ, [file], 0))
    if failure:
        raise ConfigError(failure, hint="export EDITOR=nano")
