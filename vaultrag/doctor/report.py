"""The findings as a text for a bug report: what was found, and no name of anything or anybody.

Each finding brings a wording without names; what is left to do is to make sure of it.
"""

from __future__ import annotations

import contextlib
import getpass
import platform
import socket
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from vaultrag.doctor.findings import Finding, worst

_SHORT = 3
"""A name with fewer letters is in every text by chance."""


def report(findings: Sequence[Finding], names: Iterable[str]) -> str:
    """Return the text.

    Args:
        names: What must not be in it, whatever a finding says.
    """
    lines = [
        f"system: {platform.system()} {platform.release()} {platform.machine()}",
        f"worst: {worst(findings)}",
        *(f"{finding.grade}: {finding.check}: {finding.plain}" for finding in findings),
    ]
    text = "\n".join(lines) + "\n"
    for name in sorted({name for name in names if len(name) >= _SHORT}, key=len, reverse=True):
        text = text.replace(name, "…")
    return text


def names_here(roots: Sequence[Path], environ: Mapping[str, str]) -> list[str]:
    """Names of the person, the machine and the vaults."""
    names = [str(Path.home()), socket.gethostname(), environ.get("USER", ""), environ.get("VAULTRAG_HOME", "")]
    with contextlib.suppress(OSError, KeyError, ImportError):
        names.append(getpass.getuser())
    for root in roots:
        names += [str(root), root.name]
    # "root" and "user" are words of every such text, and tell nobody anything.
    return [name for name in names if name not in ("root", "user", "localhost", "/root")]
