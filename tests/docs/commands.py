"""The page of the commands, from the commands' own help."""

from __future__ import annotations

import os
import re
import subprocess
import sys

HEAD = """# Commands

What `vaultrag --help` and `vaultrag COMMAND --help` say. Exit codes: 0 found or done, 1 nothing found, 2 an error,
3 nothing found where not all could be searched: the index is not current, or time was up.
"""


def page() -> str:
    top = _help()
    names = re.findall(r"^[│ ]*([a-z]+) {2,}\S", top.split("Commands", 1)[1], re.MULTILINE)
    parts = [HEAD, f"```\n{top}\n```\n"]
    parts += [f"## vaultrag {name}\n\n```\n{_help(name)}\n```\n" for name in names]
    return "\n".join(parts)


def _help(*command: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "_TYPER_STANDARD_TRACEBACK": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "vaultrag", *command, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())
