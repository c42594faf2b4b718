"""The page of the errors, from the exception tree."""

from __future__ import annotations

import inspect

from vaultrag import errors

HEAD = """# Errors

Every failure that a person or a client is told about. On the socket it is a JSON-RPC error with this code, its name as
`data.kind`, and in `data.hint` the command that helps; from a command it is the sentence on the standard error stream,
and the exit code.

| kind | code | exit | |
|---|---|---|---|
"""


def page() -> str:
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.VaultragError) and kind.__module__ == errors.__name__
    ]
    kinds.sort(key=lambda kind: (-kind.code, kind.__name__))
    lines = [
        f"| `{kind.__name__}` | {kind.code} | {kind.exit_code} | {(kind.__doc__ or '').strip().splitlines()[0]} |"
        for kind in kinds
    ]
    return HEAD + "\n".join(lines) + "\n"
