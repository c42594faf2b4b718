"""The one place that tells a person, or a script, what went wrong.

A failure that vaultrag foresees is two lines: what and why, then what to try. With ``--json`` it is one object on
stdout. A traceback is for ``--debug`` (or ``VAULTRAG_DEBUG=1``) only. A reader that closed its pipe is no failure.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vaultrag.errors import VaultragError
from vaultrag.wording import safe

INTERRUPTED = 130
"""What shells give a command that Ctrl+C ended."""

_INTERNAL = -32603
_USAGE = -32602


@dataclass(slots=True)
class Invocation:
    """The state of a run of the command while its options are parsed."""

    json: bool = False
    debug: bool = False

    @classmethod
    def of_environment(cls) -> Invocation:
        return cls(debug=os.environ.get("VAULTRAG_DEBUG", "") not in ("", "0"))


@dataclass(frozen=True, slots=True)
class Complaint:
    """A failure in words."""

    kind: str
    code: int
    message: str
    hint: str
    exit_code: int = 2

    def as_json(self) -> str:
        shown = {"kind": self.kind, "code": self.code, "message": self.message, "hint": self.hint}
        return json.dumps({"error": shown}, ensure_ascii=False, indent=2)

    def as_text(self) -> str:
        if not self.hint:
            return f"vaultrag: {self.message}"
        return (
            f"vaultrag: {self.message}\n  {self.hint if self.hint.startswith('did you mean') else f'try: {self.hint}'}"
        )


def complaint_of(error: Exception) -> Complaint:
    """Return the message for a failure, expected or not."""
    if isinstance(error, VaultragError):
        return Complaint(type(error).__name__, error.code, error.message, error.hint, error.exit_code)
    if _of_the_parser(error):
        usage: Any = error
        path = usage.ctx.command_path if getattr(usage, "ctx", None) else "vaultrag"
        return Complaint("UsageError", _USAGE, usage.format_message(), f"{path} --help", usage.exit_code)
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return Complaint(
        "InternalError",
        _INTERNAL,
        f"an unforeseen fault ({what[:300]})",
        "the same with VAULTRAG_DEBUG=1, and report it",
    )


def guarded(run: Callable[[], object], invocation: Invocation) -> int:
    """Run a command line and return its exit code; whatever is raised ends here."""
    try:
        result = run()
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except BrokenPipeError:
        return _without_reader()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:
        # The parser and the drawing library answer a closed pipe with an exit of their own.
        if isinstance(end.__context__, BrokenPipeError):
            return _without_reader()
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 2
    except Exception as error:
        return _told(error, invocation)


def _told(error: Exception, invocation: Invocation) -> int:
    if type(error).__name__ == "Abort":  # a question was answered with Ctrl+C or Ctrl+D
        return INTERRUPTED
    complaint = complaint_of(error)
    with contextlib.suppress(OSError):
        if invocation.debug:
            traceback.print_exception(error, file=sys.stderr)
        if not invocation.json:
            print(_printable(complaint.as_text()), file=sys.stderr, flush=True)
    try:
        if invocation.json:
            print(_printable(complaint.as_json()), flush=True)
    except BrokenPipeError:
        _without_reader()
    return complaint.exit_code


def _of_the_parser(error: Exception) -> bool:
    # By shape: newer typer brings click along under a name of its own, older typer uses click's.
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def _printable(text: str) -> str:
    return safe(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _without_reader() -> int:
    """Nobody reads stdout any more: let what is still buffered go nowhere, or Python complains on its way out."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    return 0
