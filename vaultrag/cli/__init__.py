"""The command ``vaultrag``: one thin function a command, drawing that is pure, one place where failures are told.

What a command prints goes to stdout, what it says about itself meanwhile to stderr. Exit codes: 0 found or done, 1
nothing found, 2 error, 130 interrupted. Nothing is imported here, so that ``import vaultrag.cli`` costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code.

    Args:
        args: Without the program's name; None for the process's own.
    """
    import sys

    given = list(sys.argv[1:] if args is None else args)
    if given[:1] == ["push"] and not {"-h", "--help"} & set(given):
        from vaultrag.cli.push import push

        sys.exit(push(given[1:]))

    from vaultrag.cli.errors import Invocation, guarded

    invocation = Invocation.of_environment()

    def run() -> object:
        if not given:
            from vaultrag.cli.version import possible, show

            if possible():
                return show()
        from vaultrag.cli.app import build

        return build(given).main(given, prog_name="vaultrag", standalone_mode=False, obj=invocation)

    sys.exit(guarded(run, invocation))
