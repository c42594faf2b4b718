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


_NEXT = "\f"
_SHOW = f"""
import sys
from vaultrag.cli.app import build
for name in sys.argv[1:]:
    print({_NEXT!r})
    build().main([*name.split(), "--help"], prog_name="vaultrag", standalone_mode=False)
"""


def page() -> str:
    (top,) = _help("")
    names = re.findall(r"^[│ ]*([a-z]+) {2,}\S", top.split("Commands", 1)[1], re.MULTILINE)
    parts = [HEAD, f"```\n{top}\n```\n"]
    parts += [f"## vaultrag {name}\n\n```\n{text}\n```\n" for name, text in zip(names, _help(*names), strict=True)]
    return "\n".join(parts)


def _help(*names: str) -> list[str]:
    """Return the help of each command, all from one process: loading the program is what takes the time."""
    environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "_TYPER_STANDARD_TRACEBACK": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _SHOW, *names], capture_output=True, text=True, check=True, env=environment
    )
    texts = done.stdout.split(_NEXT)[1:]
    return ["\n".join(line.rstrip() for line in text.strip("\n").splitlines()) for text in texts]
