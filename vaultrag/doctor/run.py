"""Runs the checks. One that cannot even begin, for want of a library, is a finding like any other."""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from vaultrag.config import Places, Settings, load
from vaultrag.doctor.findings import Case, Finding
from vaultrag.domain import DaemonStatus
from vaultrag.errors import ConfigError, DaemonNotRunning, VaultragError
from vaultrag.rpc.client import Client

CHECKS = ("database", "environment", "process", "files", "model", "vaults")
"""Modules of this room with a function ``check``, in the order in which one fault explains another."""

ANSWER_S = 20.0


def examine(places: Places, environ: Mapping[str, str] | None = None, proc: Path = Path("/proc")) -> Iterator[Finding]:
    """Look at everything. Each finding comes as soon as it is made."""
    try:
        settings = load(places.config_file)
    except ConfigError as error:
        settings = Settings()
        yield Finding("settings", "fault", error.message, "the settings file cannot be used", error.hint)
    case = _case(places, settings, os.environ if environ is None else environ, proc)
    for name in CHECKS:
        yield from _checked(name, case)


def fixed(findings: list[Finding]) -> list[str]:
    """Repair what can be repaired without harm; what was done, or why not, a line each."""
    done = []
    for finding in findings:
        if finding.fix is not None:
            try:
                finding.fix()
                done.append(f"repaired: {finding.check}: {finding.text}")
            except OSError as error:
                done.append(f"not repaired: {finding.check}: {error.strerror or error}")
    return done


def _case(places: Places, settings: Settings, environ: Mapping[str, str], proc: Path) -> Case:
    status: DaemonStatus | None = None
    why = ""
    try:
        with Client.connect(places, timeout_s=ANSWER_S) as client:
            status = client.status(full=True)
    except DaemonNotRunning as error:
        why = error.message if "another user" in error.message else ""
    except VaultragError as error:
        why = error.message
    served = [Path(vault.root) for vault in status.vaults] if status is not None else []
    return Case(
        places, settings, environ, tuple(dict.fromkeys([*served, *roots_of(places)])), status, why, proc, time.time_ns()
    )


def roots_of(places: Places) -> list[Path]:
    """Return the vaults that a daemon would serve."""
    with contextlib.suppress(ImportError):
        from vaultrag.doctor.known_vaults import known_roots  # brings in the database, which may be what is missing

        return known_roots(places)
    return []


def _checked(name: str, case: Case) -> Iterator[Finding]:
    try:
        yield from importlib.import_module(f"vaultrag.doctor.{name}").check(case)
    except ImportError as error:
        library = error.name or "a library"
        text = f"{library} cannot be loaded: {error}"
        yield Finding(name, "fault", text, f"{library} cannot be loaded", _install(library))
    except VaultragError as error:
        yield Finding(name, "fault", error.message, f"the check ended with {type(error).__name__}", error.hint)
    except Exception as error:
        text = f"the check itself failed: {type(error).__name__}: {error}"
        yield Finding(name, "fault", text, f"the check itself failed: {type(error).__name__}", "report it")


def _install(library: str) -> str:
    package = {"sqlite_vec": "'sqlite-vec>=0.1.9,<0.1.10'", "frontmatter": "python-frontmatter"}
    return f"pip install --force-reinstall {package.get(library.split('.')[0], library.split('.')[0])}"
